-- Ticks of schedules that somebody else calls: one row per schedule and scheduled instant (the 'daily-digest' row). Times are milliseconds
-- since 1970, by this database's clock. Rows of ticks that are done are deleted after 90 days.
create table if not exists idem_ticks (
  schedule    text not null,
  instant     bigint not null, -- the scheduled instant, never the time of the call
  state       text not null check (state in ('running', 'done', 'parked', 'released')),
  owner       text not null,
  fence       integer not null,
  attempts    integer not null,
  lease_until bigint not null,
  outcome     text, -- JSON of what the handler returned
  reason      text,
  started_at  bigint not null,
  ended_at    bigint,
  primary key (schedule, instant)
) with (fillfactor = 70);
