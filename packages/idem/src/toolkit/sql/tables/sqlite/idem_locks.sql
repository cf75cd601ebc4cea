-- Leases on names. Times are milliseconds since 1970, by this database's clock. fence only grows, also after a row was deleted, because
-- it is never less than the time at which the name was taken. Free rows are deleted after a day.
create table if not exists idem_locks (
  name        text primary key,
  owner       text not null,
  fence       integer not null,
  lease_until integer not null
);
create index if not exists idem_locks_until on idem_locks (lease_until);
