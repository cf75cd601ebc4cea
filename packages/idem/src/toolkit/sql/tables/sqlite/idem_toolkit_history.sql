-- By which file each table of the toolkit was made: the code compares it with its own before it uses one.
create table if not exists idem_toolkit_history (
  name     text not null,
  version  integer not null,
  checksum text not null,
  primary key (name, version)
);
