// What stores lack whose first migration was edited after they had run it. Each text was on main for a while; nothing is edited any more.
// The indexes are built anew under a lock that writers wait for: stores of those hours are small.
import type { Mend } from "../schema-history.ts";

export const mends: readonly Mend[] = [
  {
    thing: "table outbox",
    found: null,
    sql: `
      create table outbox (
        env         text collate "C" not null,
        id          text collate "C" not null,
        entry       text not null,
        created_at  bigint not null,
        taken_until bigint not null default 0,
        tries       integer not null default 0,
        parked      text,
        primary key (env, id)
      ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
              autovacuum_vacuum_cost_delay = 0)`,
  },
  {
    thing: "index claims_by_end",
    found: "on claims using brin (ends_at) WITH (pages_per_range='32', autosummarize='on')",
    sql: `
      drop index claims_by_end;
      create index claims_by_end on claims (ends_at) where held = 0;
      alter table runs set (fillfactor = 65)`,
  },
  {
    thing: "index runs_by_function",
    found: "on runs using btree (env, fn, id)",
    sql: `
      drop index runs_by_function;
      create index runs_by_function on runs (env, fn, id) where fn is not null`,
  },
  ...["on buffers using btree (env, due_at)", "on buffers using btree (env, due_at) WHERE (due_at IS NOT NULL)"].map(
    (found): Mend => ({
      thing: "index buffers_by_due",
      found,
      sql: `
      drop index buffers_by_due;
      create index buffers_by_due on buffers (env, due_at) where due_at > 0`,
    }),
  ),
  {
    thing: "index cancels_by_event",
    found: "on cancels using btree (env, event_name, path, value)",
    sql: `
      drop index cancels_by_event;
      create index cancels_by_event on cancels (env, event_name, path, value) where event_name is not null`,
  },
];
