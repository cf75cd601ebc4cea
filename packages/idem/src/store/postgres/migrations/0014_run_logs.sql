-- Lines that a run's code wrote, for people: a row for each commit that brought some. How much a run has of them stands with it, so that the
-- bound costs no look at the rows. No row is written anew.
create table run_logs (
  env text collate "C" not null,
  run_id text collate "C" not null,
  part text collate "C" not null,
  lines text not null,
  primary key (env, run_id, part)
);
alter table runs add column log_bytes bigint not null default 0;
