// What waits to be decided, for people: one buffer, and how many events wait of each kind.
import type { DecisionKind } from "../../model/decision.ts";
import type { BufferUse, DecidedCounts } from "../flow.ts";
import { pendingCountedMax } from "../reads.ts";
import type { Connection } from "./connection.ts";

const bufferSql = `
  select kind, count, due_at as "dueAt", event_id as "newestEventId"
    from buffers where env = ? and fn = ? and kind = ? and key = ?`;

const pendingSql = `
  select kind, count(*) as count
    from (select kind from decisions
           where env = ? and run_id is null and kind in ('held', 'paused', 'debounced', 'batched')
           limit ${pendingCountedMax}) pending
   group by kind`;

export const findBuffer = async (
  connection: Connection,
  env: string,
  fn: string,
  kind: BufferUse["kind"],
  key: string,
): Promise<BufferUse | null> => (await connection.one<BufferUse>(bufferSql, env, fn, kind, key)) ?? null;

export const countPending = async (connection: Connection, env: string): Promise<DecidedCounts> =>
  Object.fromEntries(
    (await connection.all<{ kind: DecisionKind; count: number }>(pendingSql, env)).map(({ kind, count }) => [
      kind,
      count,
    ]),
  );
