-- Idem's facts. Every key and unique index leads with env; ids are ULIDs, so all B-trees but the claims' grow at their right edge.
-- Times are integer milliseconds of the store's clock; payloads are JSON text as received.

create table meta (
  name  text primary key,
  value text not null
) without rowid;

create table functions (
  env         text not null,
  fn          text not null,
  app         text not null,
  id          text not null,
  config      text not null,
  paused_at   integer,
  archived_at integer,
  primary key (env, fn)
) without rowid;

create table events (
  env            text not null,
  id             text not null,
  caller_id      text,
  name           text not null,
  data           text not null,
  ts             integer not null,
  extra          text,
  received_at    integer not null,
  stamp          integer not null,
  first_event_id text,
  source_run_id  text,
  primary key (env, id)
) without rowid;

-- Only duplicates pay for it: "what came again for this event?"
create index events_by_first on events (env, first_event_id, id) where first_event_id is not null;

create table decisions (
  env            text not null,
  event_id       text not null,
  fn             text not null,
  kind           text not null,
  reason         text,
  run_id         text,
  key            text,
  window_ends_at integer,
  first_event_id text,
  decided_at     integer not null,
  primary key (env, event_id, fn)
) without rowid;

-- What a run spared. Starts are found through the run itself.
create index decisions_by_run on decisions (env, run_id, event_id) where kind <> 'started';

create table claims (
  env           text not null,
  scope         text not null,
  key           text not null,
  holder        text not null,
  fence         integer not null,
  generation    text not null,
  state         text not null check (state in ('in-flight', 'settled', 'released')),
  fingerprint   text,
  taken_at      integer not null,
  lease_until   integer,
  ends_at       integer not null,
  held          integer not null check (held in (0, 1)),
  asked         integer not null,
  last_asked_at integer not null,
  outcome       text,
  primary key (env, scope, key)
) without rowid;

create index claims_by_end on claims (ends_at);

create table runs (
  env             text not null,
  id              text not null,
  fn              text not null,
  event_id        text not null,
  key             text,
  subject         text not null,
  generation      text not null,
  previous_run_id text,
  rerun_of        text,
  root_run_id     text not null,
  newest_run_id   text,
  ended_state     text check (ended_state in ('completed', 'failed', 'cancelled')),
  result          text,
  created_at      integer not null,
  started_at      integer,
  ended_at        integer,
  ended_fence     integer,
  -- Its key stays taken past the window while it is open; then its end must let go of the claim.
  holds_key       integer not null default 0,
  primary key (env, id)
) without rowid;

create index runs_by_function on runs (env, fn, id);

-- Only reruns pay for it.
create index runs_by_root on runs (env, root_run_id, id) where rerun_of is not null;

create table steps (
  env        text not null,
  run_id     text not null,
  step_id    text not null,
  name       text not null,
  repeat     integer not null,
  kind       text not null,
  outcome    text not null check (outcome in ('value', 'error')),
  json       text not null,
  attempt    integer not null,
  started_at integer not null,
  ended_at   integer not null,
  stamp      integer not null,
  worker     text,
  primary key (env, run_id, step_id)
) without rowid;

create table attempts (
  env        text not null,
  run_id     text not null,
  step_id    text not null,
  attempt    integer not null,
  name       text not null,
  error      text not null,
  started_at integer not null,
  ended_at   integer not null,
  retry_at   integer not null,
  stamp      integer not null,
  worker     text,
  primary key (env, run_id, step_id, attempt)
) without rowid;

-- The hot table: only open work, narrow, no payload. rank orders, due_at permits: one column for both would let a priority
-- wake a sleeper early. A run's job has the run's id.
create table jobs (
  env          text not null,
  id           text not null,
  kind         text not null check (kind in ('run', 'deliver')),
  run_id       text,
  event_id     text,
  fn           text,
  rank         integer not null,
  due_at       integer,
  fence        integer not null,
  leased_by    text,
  lost_workers integer not null default 0,
  had_waits    integer not null default 0,
  primary key (env, id)
) without rowid;

create index jobs_ready on jobs (env, rank) where leased_by is null and due_at is null;
create index jobs_timers on jobs (env, due_at) where leased_by is null and due_at is not null;

create table waits (
  env        text not null,
  run_id     text not null,
  step_id    text not null,
  kind       text not null check (kind in ('time', 'event', 'signal', 'run')),
  step_kind  text not null,
  name       text not null,
  repeat     integer not null,
  timeout_at integer,
  on_timeout text not null check (on_timeout in ('value', 'error')),
  on_timeout_json text not null,
  event_name text,
  path       text,
  value      text,
  rest       text,
  signal     text,
  child_run_id text,
  stamp      integer not null,
  started_at integer not null,
  primary key (env, run_id, step_id)
) without rowid;

create index waits_by_event on waits (env, event_name, path, value) where event_name is not null;
create unique index waits_by_signal on waits (env, signal) where signal is not null;
create index waits_by_child on waits (env, child_run_id) where child_run_id is not null;

-- One row per process start. A heartbeat writes this row and none of the jobs it covers.
create table workers (
  id         text primary key,
  started_at integer not null,
  until      integer not null,
  dead_at    integer
) without rowid;

-- What people did by hand, and why.
create table audit (
  env     text not null,
  id      integer not null,
  at      integer not null,
  action  text not null,
  subject text not null,
  reason  text not null,
  primary key (env, id)
) without rowid;
