-- A wait and its event may be committed at the same time; wait-checks.ts says how one of the two finds the other.

-- Event names that runs wait for or are cancelled by, in groups; events of a watched group are listed in event_arrivals.
create table watched_names (
  env     text collate "C" not null,
  bucket  text collate "C" not null,
  -- Set once every transaction that could not see the row has ended.
  ready   smallint not null,
  used_at bigint not null,
  primary key (env, bucket)
);

create table event_arrivals (
  stamp    bigint not null,
  env      text collate "C" not null,
  event_id text collate "C" not null,
  name     text collate "C" not null,
  -- What the transaction that stored the event could see when it looked for waits.
  snapshot text not null,
  primary key (stamp, env, event_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

create table wait_checks (
  id    bigint generated always as identity primary key,
  env   text collate "C" not null,
  name  text collate "C" not null,
  stamp bigint not null,
  -- The transaction that began the wait.
  xid   text not null,
  node  text collate "C" not null,
  at    bigint not null,
  ready smallint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
