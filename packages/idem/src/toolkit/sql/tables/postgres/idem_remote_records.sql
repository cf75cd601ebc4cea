-- What stands in another system under a name of ours, so that nobody has to search there twice. Times are milliseconds since 1970, by this
-- database's clock. record is null while nobody knows whether the creation that began at tried_at happened.
create table if not exists idem_remote_records (
  kind     text not null,
  key      text not null,
  record   text, -- JSON
  tried_at bigint,
  known_at bigint,
  primary key (kind, key)
);
