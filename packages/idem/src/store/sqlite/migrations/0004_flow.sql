-- How runs may begin beside their key: lanes and throttles, rate limits, buffers, one at a time, cancelling events, crons.
-- Jobs are rebuilt for their new kinds: the table holds open work only.

create table jobs_rebuilt (
  env          text not null,
  id           text not null,
  kind         text not null check (kind in ('run', 'deliver', 'announce')),
  run_id       text,
  event_id     text,
  fn           text,
  rank         integer not null,
  due_at       integer,
  fence        integer not null,
  leased_by    text,
  lost_workers integer not null default 0,
  had_waits    integer not null default 0,
  -- Where it stands in line (model/lane.ts); null for a function without limits.
  lane         text,
  -- From then on it is leased past its lane, to be ended; null once it has begun.
  start_by     integer,
  -- Leased as it was created: as long as its fence is 1, whoever asks for it again is told again. One that was leased later is not
  -- to be taken for it: its worker knows.
  born_leased  integer not null default 0,
  primary key (env, id)
) without rowid;

insert into jobs_rebuilt (env, id, kind, run_id, event_id, fn, rank, due_at, fence, leased_by, lost_workers, had_waits)
select env, id, kind, run_id, event_id, fn, rank, due_at, fence, leased_by, lost_workers, had_waits from jobs;

drop table jobs;
alter table jobs_rebuilt rename to jobs;

create index jobs_ready on jobs (env, rank) where leased_by is null and due_at is null and lane is null;
create index jobs_timers on jobs (env, due_at) where leased_by is null and due_at is not null;
create index jobs_lanes on jobs (env, lane, rank) where leased_by is null and due_at is null and lane is not null;
create index jobs_start_by on jobs (env, start_by) where leased_by is null and start_by is not null;
-- What holds slots, counted when a file is opened.
create index jobs_held on jobs (lane) where leased_by is not null and lane is not null;

-- When the next start is due if all had come evenly.
create table throttles (
  env text not null,
  id  text not null,
  tat real not null,
  primary key (env, id)
) without rowid;

-- The starts a rate limit still counts.
create table rate_starts (
  env   text not null,
  id    text not null,
  stamp integer not null,
  at    integer not null,
  primary key (env, id, stamp)
) without rowid;

-- Events kept until one run is started for them. Each filling has an id of its own.
create table buffers (
  env      text not null,
  fn       text not null,
  kind     text not null check (kind in ('debounce', 'batch')),
  key      text not null,
  id       text not null,
  deadline integer,
  due_at   integer not null,
  count    integer not null,
  bytes    integer not null,
  -- Of a debounce: the newest event by its sender's word.
  event_id text,
  ts       integer,
  pair     text,
  primary key (env, fn, kind, key)
) without rowid;

create index buffers_by_due on buffers (env, due_at);

create table buffer_items (
  env       text not null,
  buffer_id text not null,
  n         integer not null,
  event_id  text not null,
  pair      text,
  primary key (env, buffer_id, n)
) without rowid;

-- The events of a batch, in order, with the key each was let in for.
create table run_events (
  env      text not null,
  run_id   text not null,
  n        integer not null,
  event_id text not null,
  key      text,
  primary key (env, run_id, n)
) without rowid;

-- Null for all but a few runs, so no row is rewritten.
alter table runs add column singleton text;
alter table runs add column carried integer;

create table cancels (
  env        text not null,
  run_id     text not null,
  n          integer not null,
  event_name text not null,
  path       text not null,
  value      text not null,
  rest       text,
  ends_at    integer,
  stamp      integer not null,
  primary key (env, run_id, n)
) without rowid;

create index cancels_by_event on cancels (env, event_name, path, value);

create table crons (
  env          text not null,
  fn           text not null,
  cron         text not null,
  last_tick_at integer not null,
  primary key (env, fn, cron)
) without rowid;

create index decisions_pending on decisions (env, event_id, fn)
 where run_id is null and kind in ('held', 'paused', 'debounced', 'batched');

-- What no limit counts any more is reaped by these.
create index rate_starts_by_time on rate_starts (at);
create index throttles_by_time on throttles (tat);
