-- What apps say about their runs and steps, for people: scores, what models cost, notes. No row is written anew.
create table metadata (
  env        text collate "C" not null,
  run_id     text collate "C" not null,
  step_id    text collate "C" not null,
  kind       text collate "C" not null,
  value      text not null,
  changed_at bigint not null,
  primary key (env, run_id, step_id, kind)
);
