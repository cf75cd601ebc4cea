// How full each limit is, for people: counted from the jobs, which is what limits are.
import { limitsOfLane, readLane } from "../../flow/lane.ts";
import type { LimitUse } from "../flow.ts";
import type { Connection } from "./connection.ts";

// A slot may be shared by all environments, so what holds it is counted in all of them. Both halves are read from the indexes
// that limits themselves are counted with.
const heldSql = `
  select id, sum(1 + beside) as used, count(*) filter (where env = ?) as "usedHere"
    from (select slot_1 as id, env, beside_1 as beside from jobs where leased_by is not null and slot_1 is not null
          union all
          select slot_2 as id, env, beside_2 as beside from jobs where leased_by is not null and slot_2 is not null) held
   group by id`;
const lanesSql = `
  select lane, count(*) as waiting from jobs
   where env = ? and leased_by is null and due_at is null and lane is not null group by lane`;

export async function limitUses(connection: Connection, env: string, limit: number): Promise<LimitUse[]> {
  const held = await connection.all<{ id: string; used: number; usedHere: number }>(heldSql, env);
  const used = new Map(held.map(({ id, used }) => [id, used]));
  const waiting = new Map(held.filter(({ usedHere }) => usedHere > 0).map(({ id }) => [id, 0]));
  for (const row of await connection.all<{ lane: string; waiting: number }>(lanesSql, env)) {
    for (const id of limitsOfLane(readLane(row.lane))) {
      waiting.set(id, (waiting.get(id) ?? 0) + row.waiting);
    }
  }
  return [...waiting]
    .map(([id, count]) => ({ id, used: used.get(id) ?? 0, waiting: count }))
    .sort((a, b) => b.waiting - a.waiting || b.used - a.used || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}
