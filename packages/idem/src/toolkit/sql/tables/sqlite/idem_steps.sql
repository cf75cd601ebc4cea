-- Steps that wrote to this database: one row per step, written by the same commit as what the step wrote. Whoever comes to the step again,
-- after a crash or in a rerun, finds the row and takes its value. datetime(created_at / 1000, 'unixepoch') reads the time.
-- Rows older than anything you would rerun may be deleted; a step whose row is gone is done again when it is rerun.
create table if not exists idem_steps (
  key        text primary key, -- the step's destination key
  run_id     text not null,    -- the run that wrote it
  step       text not null,
  value      text,             -- JSON; only null until the commit
  created_at integer not null default (cast((julianday('now') - 2440587.5) * 86400000 as integer))
);
create index if not exists idem_steps_created on idem_steps (created_at);
