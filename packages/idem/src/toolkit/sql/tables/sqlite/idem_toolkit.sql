-- Which tables of the toolkit this database has, and in which version: the code looks here before it uses one.
create table if not exists idem_toolkit (
  name    text primary key,
  version integer not null
);
