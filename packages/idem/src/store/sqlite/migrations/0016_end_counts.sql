-- How runs ended, by function, minute and hour. Each commit that ends runs adds a note; sweeps add notes to the counts.
create table end_notes (
  n         integer primary key,
  env       text not null,
  fn        text not null,
  -- The minute in which they ended.
  at        integer not null,
  completed integer not null,
  failed    integer not null,
  cancelled integer not null,
  -- When the oldest of them was created.
  oldest    integer not null,
  -- How long each took that had begun: milliseconds between spaces.
  took      text not null
);

create table end_counts (
  env       text not null,
  -- Length of the stretch in milliseconds.
  step      integer not null,
  at        integer not null,
  fn        text not null,
  completed integer not null,
  failed    integer not null,
  cancelled integer not null,
  oldest    integer not null,
  sketch    text not null,
  primary key (env, step, at, fn)
) without rowid;

-- Runs that ended before count as well, at the beginning of their hour. All runs are read once: a million of them in about a second.
insert into end_notes (env, fn, at, completed, failed, cancelled, oldest, took)
select env, fn, ended_at / 3600000 * 3600000, sum(ended_state = 'completed'), sum(ended_state = 'failed'),
       sum(ended_state = 'cancelled'), min(created_at),
       coalesce(group_concat(case when started_at is not null then max(0, ended_at - started_at) end, ' '), '')
  from runs where ended_state is not null
 group by 1, 2, 3;
