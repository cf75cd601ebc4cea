-- Steps that wrote to this database: one row per step, written by the same commit as what the step wrote. Whoever comes to the step again,
-- after a crash or in a rerun, finds the row and takes its value. to_timestamp(created_at / 1000.0) reads the time.
-- Rows older than anything you would rerun may be deleted; a step whose row is gone is done again when it is rerun.
create table if not exists idem_steps (
  key        text primary key, -- the step's destination key
  run_id     text not null,    -- the run that wrote it
  step       text not null,
  value      text,             -- JSON; only null until the commit
  created_at bigint not null default cast(extract(epoch from clock_timestamp()) * 1000 as bigint)
);
create index if not exists idem_steps_created on idem_steps (created_at);
