// The workers as people see them. A scan of open work counts what they hold: nobody asks for it more than a few times a second.
import type { NodeRole, WorkerRow } from "../sharing.ts";
import type { Connection } from "./connection.ts";

const workersSql = `
  select w.id, w.node, w.version, w.role, w.started_at as startedAt, w.beat_at as beatAt, w.until,
         w.dead_at as deadAt, coalesce(held.count, 0) as leased
    from workers w
    left join (select leased_by, count(*) as count from jobs where leased_by is not null group by leased_by) held
      on held.leased_by = w.id
   order by w.id`;

interface Row {
  readonly id: string;
  readonly node: string | null;
  readonly version: string | null;
  readonly role: NodeRole | null;
  readonly startedAt: number;
  readonly beatAt: number | null;
  readonly until: number;
  readonly deadAt: number | null;
  readonly leased: number;
}

export const listWorkers = (connection: Connection): WorkerRow[] =>
  connection.all<Row>(workersSql).map(({ deadAt, ...row }) => ({ ...row, isDead: deadAt !== null }));
