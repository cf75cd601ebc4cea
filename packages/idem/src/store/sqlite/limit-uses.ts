// How full each limit is, for people: counted from the jobs, which is what limits are.
import { readLane } from "../../model/lane.ts";
import type { LimitUse } from "../flow.ts";
import type { Connection } from "./connection.ts";

const lanesSql = `
  select lane, sum(leased_by is not null) as used, sum(leased_by is null and due_at is null) as waiting
    from jobs where env = ? and lane is not null group by lane`;

export function limitUses(connection: Connection, env: string, limit: number): LimitUse[] {
  const uses = new Map<string, { used: number; waiting: number }>();
  for (const row of connection.all<{ lane: string; used: number; waiting: number }>(lanesSql, env)) {
    const { slots, throttle } = readLane(row.lane);
    for (const id of throttle === null ? slots : [...slots, throttle]) {
      const use = uses.get(id) ?? { used: 0, waiting: 0 };
      uses.set(id, { used: use.used + row.used, waiting: use.waiting + row.waiting });
    }
  }
  return [...uses]
    .map(([id, use]) => ({ id, ...use }))
    .filter(({ used, waiting }) => used + waiting > 0)
    .sort((a, b) => b.waiting - a.waiting || b.used - a.used || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}
