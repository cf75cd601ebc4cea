-- Headlines and charts: what was decided, by hour and function, and how far the counting got. New tables; nothing existing is touched.
create table hour_counts (
  env        text not null,
  hour       integer not null,
  fn         text not null,
  started    integer not null,
  suppressed integer not null,
  primary key (env, hour, fn)
) without rowid;

create table hour_cursors (
  env      text not null primary key,
  event_id text not null,
  fn       text not null
) without rowid;

-- Runs that took a key inside a window another run had opened. Found while counting, so that no run pays for an index.
create table slips (
  env        text not null,
  run_id     text not null,
  generation text not null,
  fn         text not null,
  at         integer not null,
  primary key (env, run_id)
) without rowid;

create index slips_by_window on slips (env, generation);
