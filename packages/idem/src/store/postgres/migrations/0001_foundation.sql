-- Idem's facts on PostgreSQL: the tables of the SQLite store with the same names and columns. Every key leads with env; ids are
-- ULIDs compared byte by byte, so all B-trees but the claims' grow at their right edge. Times are milliseconds of the store's
-- clock; payloads are text as received, never jsonb, which would change them.
-- Tables that rows come and go in are vacuumed by count, not by share: a share of a small table that had a hundred million rows
-- pass through it is never reached in time.

create table meta (
  name  text collate "C" primary key,
  value text not null
) with (fillfactor = 50);

create table functions (
  env         text collate "C" not null,
  fn          text collate "C" not null,
  app         text collate "C" not null,
  id          text not null,
  config      text not null,
  paused_at   bigint,
  archived_at bigint,
  primary key (env, fn)
);

create table events (
  env            text collate "C" not null,
  id             text collate "C" not null,
  caller_id      text,
  name           text collate "C" not null,
  data           text not null,
  ts             bigint not null,
  extra          text,
  received_at    bigint not null,
  stamp          bigint not null,
  first_event_id text collate "C",
  source_run_id  text collate "C",
  primary key (env, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Only duplicates pay for it: "what came again for this event?"
create index events_by_first on events (env, first_event_id, id) where first_event_id is not null;

create table decisions (
  env            text collate "C" not null,
  event_id       text collate "C" not null,
  fn             text collate "C" not null,
  kind           text collate "C" not null,
  reason         text,
  run_id         text collate "C",
  key            text collate "C",
  window_ends_at bigint,
  first_event_id text collate "C",
  decided_at     bigint not null,
  primary key (env, event_id, fn)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- What a run spared. Starts are found through the run itself.
create index decisions_by_run on decisions (env, run_id, event_id) where kind <> 'started';
create index decisions_pending on decisions (env, event_id, fn)
 where run_id is null and kind in ('held', 'paused', 'debounced', 'batched');

-- asked = 0 is a row that only keeps others waiting until its transaction ends; to everyone else it does not exist.
create table claims (
  env           text collate "C" not null,
  scope         text collate "C" not null,
  key           text collate "C" not null,
  holder        text collate "C" not null,
  fence         bigint not null,
  generation    text collate "C" not null,
  state         text collate "C" not null check (state in ('in-flight', 'settled', 'released')),
  fingerprint   text,
  taken_at      bigint not null,
  lease_until   bigint,
  ends_at       bigint not null,
  held          smallint not null check (held in (0, 1)),
  asked         bigint not null,
  last_asked_at bigint not null,
  outcome       text,
  primary key (env, scope, key)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);

-- Windows end nearly in the order they were opened, so this grows at its right edge. A BRIN index would be smaller, but once reaped space is
-- used again its ranges never shrink, and every look for ended windows reads the whole table (400,000 claims: 86 ms against 0.07).
create index claims_by_end on claims (ends_at) where held = 0;

create table runs (
  env             text collate "C" not null,
  id              text collate "C" not null,
  fn              text collate "C" not null,
  event_id        text collate "C" not null,
  key             text collate "C",
  subject         text not null,
  generation      text not null,
  previous_run_id text,
  rerun_of        text,
  root_run_id     text collate "C" not null,
  newest_run_id   text collate "C",
  ended_state     text collate "C" check (ended_state in ('completed', 'failed', 'cancelled')),
  result          text,
  created_at      bigint not null,
  started_at      bigint,
  ended_at        bigint,
  ended_fence     bigint,
  -- Its key stays taken past the window while it is open; then its end must let go of the claim.
  holds_key       smallint not null default 0,
  rerun_from      text,
  inputs          text,
  singleton       text collate "C",
  carried         integer,
  -- Somebody waits for its end: whoever ends it must look for them. Written under the run's lock.
  awaited         smallint not null default 0,
  primary key (env, id)
) with (fillfactor = 65, autovacuum_vacuum_scale_factor = 0.02);

-- Always true where a function is asked for, and where none is the index cannot be chosen: on a small table it looks as good to the planner
-- as the primary key, and a plan made then is kept when the table has grown.
create index runs_by_function on runs (env, fn, id) where fn is not null;
-- Only reruns pay for it.
create index runs_by_root on runs (env, root_run_id, id) where rerun_of is not null;

create table steps (
  env        text collate "C" not null,
  run_id     text collate "C" not null,
  step_id    text collate "C" not null,
  name       text not null,
  repeat     integer not null,
  kind       text collate "C" not null,
  outcome    text collate "C" not null check (outcome in ('value', 'error')),
  json       text not null,
  attempt    integer not null,
  started_at bigint not null,
  ended_at   bigint not null,
  stamp      bigint not null,
  worker     text collate "C",
  primary key (env, run_id, step_id)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create table attempts (
  env        text collate "C" not null,
  run_id     text collate "C" not null,
  step_id    text collate "C" not null,
  attempt    integer not null,
  name       text not null,
  error      text not null,
  started_at bigint not null,
  ended_at   bigint not null,
  retry_at   bigint not null,
  stamp      bigint not null,
  worker     text collate "C",
  primary key (env, run_id, step_id, attempt)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- The hot table: only open work, narrow, no payload. rank orders, due_at permits: one column for both would let a priority
-- wake a sleeper early. A run's job has the run's id, and its row is the run's lock.
create table jobs (
  env          text collate "C" not null,
  id           text collate "C" not null,
  kind         text collate "C" not null check (kind in ('run', 'deliver', 'announce')),
  run_id       text collate "C",
  event_id     text collate "C",
  fn           text collate "C",
  rank         bigint not null,
  due_at       bigint,
  fence        bigint not null,
  leased_by    text collate "C",
  lost_workers integer not null default 0,
  had_waits    smallint not null default 0,
  -- Where it stands in line (model/lane.ts); null for a function without limits. Its slots are counted while it is leased.
  lane         text collate "C",
  slot_1       text collate "C",
  slot_2       text collate "C",
  -- From then on it is leased past its lane, to be ended; null once it has begun.
  start_by     bigint,
  born_leased  smallint not null default 0,
  primary key (env, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);

create index jobs_ready on jobs (env, rank) where leased_by is null and due_at is null and lane is null;
create index jobs_timers on jobs (env, due_at) where leased_by is null and due_at is not null;
create index jobs_lanes on jobs (env, lane, rank) where leased_by is null and due_at is null and lane is not null;
create index jobs_start_by on jobs (env, start_by) where leased_by is null and start_by is not null;
-- What a worker holds: for rescue, for handing back, and for people.
create index jobs_held on jobs (leased_by) where leased_by is not null;
create index jobs_slot_1 on jobs (slot_1) where leased_by is not null and slot_1 is not null;
create index jobs_slot_2 on jobs (slot_2) where leased_by is not null and slot_2 is not null;

create table waits (
  env        text collate "C" not null,
  run_id     text collate "C" not null,
  step_id    text collate "C" not null,
  kind       text collate "C" not null check (kind in ('time', 'event', 'signal', 'run')),
  step_kind  text not null,
  name       text not null,
  repeat     integer not null,
  timeout_at bigint,
  on_timeout text collate "C" not null check (on_timeout in ('value', 'error')),
  on_timeout_json text not null,
  event_name text collate "C",
  path       text collate "C",
  value      text collate "C",
  rest       text,
  signal     text collate "C",
  child_run_id text collate "C",
  stamp      bigint not null,
  started_at bigint not null,
  primary key (env, run_id, step_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index waits_by_event on waits (env, event_name, path, value) where event_name is not null;
create unique index waits_by_signal on waits (env, signal) where signal is not null;
create index waits_by_child on waits (env, child_run_id) where child_run_id is not null;

-- One row per process start. A heartbeat writes this row and none of the jobs it covers.
create table workers (
  id         text collate "C" primary key,
  started_at bigint not null,
  until      bigint not null,
  dead_at    bigint,
  node       text,
  version    text,
  role       text,
  beat_at    bigint
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- What people did by hand, and why.
create table audit (
  env     text collate "C" not null,
  id      text collate "C" not null,
  at      bigint not null,
  action  text not null,
  subject text not null,
  reason  text not null,
  primary key (env, id)
);

-- When the next start is due if all had come evenly.
create table throttles (
  env text collate "C" not null,
  id  text collate "C" not null,
  tat double precision not null,
  primary key (env, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- The starts a rate limit still counts.
create table rate_starts (
  env   text collate "C" not null,
  id    text collate "C" not null,
  stamp bigint not null,
  run_id text collate "C" not null,
  at    bigint not null,
  primary key (env, id, stamp, run_id)
);

-- What is counted or decided together takes turns on a row: a slot, a rate limit, the registration of an environment.
create table locks (
  name text collate "C" primary key,
  at   bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Events kept until one run is started for them. Each filling has an id of its own.
create table buffers (
  env      text collate "C" not null,
  fn       text collate "C" not null,
  kind     text collate "C" not null check (kind in ('debounce', 'batch')),
  key      text collate "C" not null,
  id       text collate "C" not null,
  deadline bigint,
  due_at   bigint not null,
  count    integer not null,
  bytes    bigint not null,
  -- Of a debounce: the newest event by its sender's word.
  event_id text collate "C",
  ts       bigint,
  pair     text,
  primary key (env, fn, kind, key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Always true, and only for who says so: not for a buffer that is looked up by its name.
create index buffers_by_due on buffers (env, due_at) where due_at > 0;

create table buffer_items (
  env       text collate "C" not null,
  buffer_id text collate "C" not null,
  n         integer not null,
  event_id  text collate "C" not null,
  pair      text,
  primary key (env, buffer_id, n)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The events of a batch, in order, with the key each was let in for.
create table run_events (
  env      text collate "C" not null,
  run_id   text collate "C" not null,
  n        integer not null,
  event_id text collate "C" not null,
  key      text collate "C",
  primary key (env, run_id, n)
);

create table cancels (
  env        text collate "C" not null,
  run_id     text collate "C" not null,
  n          integer not null,
  event_name text collate "C" not null,
  path       text collate "C" not null,
  value      text collate "C" not null,
  rest       text,
  ends_at    bigint,
  stamp      bigint not null,
  primary key (env, run_id, n)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create index cancels_by_event on cancels (env, event_name, path, value) where event_name is not null;

create table crons (
  env          text collate "C" not null,
  fn           text collate "C" not null,
  cron         text collate "C" not null,
  last_tick_at bigint not null,
  primary key (env, fn, cron)
) with (fillfactor = 50);

-- Events sent inside transactions of the user's, until they are ingested: there exactly if that transaction was committed.
create table outbox (
  env         text collate "C" not null,
  id          text collate "C" not null,
  entry       text not null,
  created_at  bigint not null,
  -- A node has it at hand; others leave it alone so long. Milliseconds of the server's own clock.
  taken_until bigint not null default 0,
  tries       integer not null default 0,
  -- Why it can never be ingested; a person has to look.
  parked      text,
  primary key (env, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

create index rate_starts_by_time on rate_starts (at);
create index throttles_by_time on throttles (tat);
