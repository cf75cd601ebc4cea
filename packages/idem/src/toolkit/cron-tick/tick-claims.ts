// The claims of a schedule: one per instant, in the order of their texts.
import { type ClaimKey, type ClaimRow, listOpen, reap } from "../claim/claims.ts";
import { numberOf, type Operation, type Sql } from "../sql/operation.ts";
import { plain } from "../sql/parts.ts";

export const tickAt = (schedule: string, instant: number): ClaimKey => ({
  scope: `tick:${schedule}`,
  key: new Date(instant).toISOString(),
});

export const keptMs = 90 * 86_400_000;

export function* readNow({ now }: Sql): Operation<number> {
  return numberOf((yield { text: `select ${now} as now`, params: [] }).rows[0]!.now);
}

export interface UnfinishedTick {
  readonly at: number;
  readonly state: Exclude<ClaimRow["state"], "settled">;
  readonly attempts: number;
  readonly reason: string | null;
}

/** Parked, released, or in flight without a lease; oldest first. */
export function* listUnfinished(sql: Sql, schedule: string): Operation<UnfinishedTick[]> {
  const rows = yield* listOpen(sql, tickAt(schedule, 0).scope, plain(`lease_until <= ${sql.now}`), 100);
  return rows.map(({ key, state, attempts, reason }) => ({
    at: Date.parse(key),
    state: state as UnfinishedTick["state"],
    attempts,
    reason,
  }));
}

/** The newest tick before this one that anybody ran. */
export function* previousTick(schedule: string, instant: number): Operation<Date | null> {
  const { scope, key } = tickAt(schedule, instant);
  const { rows } = yield {
    text: "select max(key) as key from idem_claims where scope = $1 and key < $2",
    params: [scope, key],
    isRead: true,
  };
  const before = rows[0]?.key ?? null;
  return before === null ? null : new Date(before as string);
}

/** The newest stays, whatever its age: a yearly schedule must know its last tick again. */
export const reapTicks = (sql: Sql, schedule: string): Operation<number> =>
  reap(
    sql,
    tickAt(schedule, 0).scope,
    1_000,
    plain(`state = 'settled' and key < (
      select max(newest.key) from idem_claims newest where newest.scope = idem_claims.scope)`),
  );
