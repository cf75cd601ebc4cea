-- That an event started a run is told by the run itself (docs/decisions/0055): the event names the runs it was to start at once, and those
-- that are there were started. Every other decision, and every start that has more to say, is kept as a row.
alter table decisions rename to kept_decisions;

-- A JSON list of ids.
alter table events add column starts text;

alter table runs add column window_ends_at integer;

-- The types are named so that the planner takes both for one table.
create view decisions (env, event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at) as
select env, event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
  from kept_decisions
union all
select e.env, e.id, r.fn, cast('started' as text), cast(null as text), r.id, r.key, r.window_ends_at, cast(null as text), r.created_at
  from events e cross join json_each(e.starts) s cross join runs r on r.env = e.env and r.id = s.value and r.event_id = e.id
 where not exists (select 1 from kept_decisions k where k.env = e.env and k.event_id = e.id and k.fn = r.fn);
