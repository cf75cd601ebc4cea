-- What apps say about their runs and steps, for people: scores, what models cost, notes. No row is written anew.
create table metadata (
  env        text not null,
  run_id     text not null,
  step_id    text not null,
  kind       text not null,
  value      text not null,
  changed_at integer not null,
  primary key (env, run_id, step_id, kind)
) without rowid;
