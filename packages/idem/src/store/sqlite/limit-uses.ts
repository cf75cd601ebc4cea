// The use of each limit, for people: counted from the jobs, which is what limits are.
import { limitsOfLane, readLane } from "../../flow/lane.ts";
import type { LimitUse } from "../flow.ts";
import type { Connection } from "./connection.ts";
import type { HeldRow } from "./lane-book.ts";

// A slot may be shared by all environments, so what holds it is counted in all of them.
const heldSql = `
  select lane, count(*) as count, sum(beside_1) as beside_1, sum(beside_2) as beside_2 from jobs indexed by jobs_held
   where leased_by is not null and lane is not null group by lane`;
const lanesSql = `
  select lane, sum(leased_by is null and due_at is null) as waiting
    from jobs where env = ? and lane is not null and (leased_by is not null or due_at is null) group by lane`;

export function limitUses(connection: Connection, env: string, limit: number): LimitUse[] {
  const used = new Map<string, number>();
  for (const { lane, count, beside_1, beside_2 } of connection.all<HeldRow>(heldSql)) {
    for (const [i, slot] of readLane(lane).slots.entries()) {
      used.set(slot, (used.get(slot) ?? 0) + count + (i === 0 ? beside_1 : beside_2));
    }
  }
  const waiting = new Map<string, number>();
  for (const row of connection.all<{ lane: string; waiting: number }>(lanesSql, env)) {
    for (const id of limitsOfLane(readLane(row.lane))) {
      waiting.set(id, (waiting.get(id) ?? 0) + row.waiting);
    }
  }
  return [...waiting]
    .map(([id, count]) => ({ id, used: used.get(id) ?? 0, waiting: count }))
    .sort((a, b) => b.waiting - a.waiting || b.used - a.used || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}
