-- Headlines and charts: what was decided, by hour and function, and how far the counting got. New tables; nothing existing is touched.
create table hour_counts (
  env        text collate "C" not null,
  hour       bigint not null,
  fn         text collate "C" not null,
  started    bigint not null,
  suppressed bigint not null,
  primary key (env, hour, fn)
) with (fillfactor = 70);

create table hour_cursors (
  env      text collate "C" primary key,
  event_id text collate "C" not null,
  fn       text collate "C" not null
) with (fillfactor = 50);

-- Runs that took a key inside a window another run had opened. Found while counting, so that no run pays for an index.
create table slips (
  env        text collate "C" not null,
  run_id     text collate "C" not null,
  generation text collate "C" not null,
  fn         text collate "C" not null,
  at         bigint not null,
  primary key (env, run_id)
);

create index slips_by_window on slips (env, generation);
