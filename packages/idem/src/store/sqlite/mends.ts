// Things missing in stores whose migrations were edited after they had run them. Each was on main for a while; nothing is edited any more.
import type { Mend } from "../schema-history.ts";

export const mends: readonly Mend[] = [
  {
    // 0001 of the first hour. A job whose run waits must say so, or the run's end would leave its waits behind.
    thing: "column jobs.had_waits",
    found: null,
    sql: `
      alter table jobs add column had_waits integer not null default 0;
      update jobs set had_waits = 1 where (env, run_id) in (select env, run_id from waits)`,
  },
  {
    // 0001 of the first two hours. Whether a run's end must let go of its key stood in the claim alone.
    thing: "column runs.holds_key",
    found: null,
    sql: `
      alter table runs add column holds_key integer not null default 0;
      update runs set holds_key = 1
       where ended_state is null and key is not null and (env, id) in (select env, holder from claims where held = 1)`,
  },
  {
    // 0004 of its first hour. A worker that was handed a job with its creation is gone: a file's next owner has no leases.
    thing: "column jobs.born_leased",
    found: null,
    sql: "alter table jobs add column born_leased integer not null default 0",
  },
];
