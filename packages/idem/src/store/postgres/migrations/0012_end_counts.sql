-- How runs ended, by function, minute and hour. Each commit that ends runs adds a note, so that nodes do not wait for each other on a row;
-- sweeps add notes to the counts.
create table end_notes (
  n         bigint generated always as identity primary key,
  env       text collate "C" not null,
  fn        text collate "C" not null,
  -- The minute in which they ended.
  at        bigint not null,
  completed bigint not null,
  failed    bigint not null,
  cancelled bigint not null,
  -- When the oldest of them was created.
  oldest    bigint not null,
  -- How long each took that had begun: milliseconds between spaces.
  took      text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create table end_counts (
  env       text collate "C" not null,
  -- Length of the stretch in milliseconds.
  step      bigint not null,
  at        bigint not null,
  fn        text collate "C" not null,
  completed bigint not null,
  failed    bigint not null,
  cancelled bigint not null,
  oldest    bigint not null,
  sketch    text not null,
  primary key (env, step, at, fn)
) with (fillfactor = 70);

-- Runs that ended before count as well, at the beginning of their hour. All runs are read once.
insert into end_notes (env, fn, at, completed, failed, cancelled, oldest, took)
select env, fn, ended_at / 3600000 * 3600000, count(*) filter (where ended_state = 'completed'),
       count(*) filter (where ended_state = 'failed'), count(*) filter (where ended_state = 'cancelled'), min(created_at),
       coalesce(string_agg(cast(greatest(0, ended_at - started_at) as text), ' ') filter (where started_at is not null), '')
  from runs where ended_state is not null
 group by 1, 2, 3;
