// Claims in the table idem_claims: of locks, ticks, things sent, records elsewhere and cursors. They differ by scope, by what stands in
// `note` and `outcome`, and by how long they are remembered; what becomes of them does not.
//
// The fence is at least the time at which a claim was taken, so it never goes back, also where the row was deleted meanwhile; the same goes
// for the generation.
import type { Adapter } from "../sql/adapter.ts";
import { numberOf, numberOrNull, type Operation, type Row, type Sql, sqlOf } from "../sql/operation.ts";
import { type Columns, fromNow, matching, type Part, plain, sqlPart, statementOf } from "../sql/parts.ts";
import { readyTables } from "../sql/ready-tables.ts";
import {
  type ClaimTable,
  claimRow,
  type Holder,
  holdRow,
  type Move,
  notLeft,
  reapRows,
  seeRow,
  updateRows,
  writeHeld,
} from "./claim-operations.ts";
import { decideClaim, type Held, type InFlight } from "./decide-claim.ts";
import { cutReason } from "./work-under-claim.ts";

const columns = `
  scope, key, state, owner, fence, attempts, generation, lease_until, taken_at, unknown_at, settled_at, ends_at, note, outcome, reason`;

const table: ClaimTable = { name: "idem_claims", key: ["scope", "key"], fence: "fence", held: "in-flight", columns };

export interface ClaimKey {
  readonly scope: string;
  readonly key: string;
}

export interface ClaimHolder extends ClaimKey {
  readonly owner: string;
  readonly fence: number;
}

export interface ClaimRow extends ClaimHolder {
  readonly state: "in-flight" | "settled" | "parked" | "released";
  readonly attempts: number;
  /** The name of its window: another one once that ended by itself. */
  readonly generation: number;
  /** By the database's clock, when it was read. */
  readonly leaseLeftMs: number;
  /** When its window was opened. */
  readonly takenAt: number;
  /** Since it became unknown whether it happened; null when that is known. */
  readonly unknownForMs: number | null;
  readonly settledAt: number | null;
  /** JSON. */
  readonly note: string | null;
  /** JSON. */
  readonly outcome: string | null;
  readonly reason: string | null;
}

export interface ClaimAsk extends ClaimKey {
  /** Random, made before the first try: asking again with the same owner is the same asking. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Remembered for this long once it is settled or released; null: for ever. */
  readonly windowMs: number | null;
  readonly onCrash: "resume" | "park";
  /** The note of a new claim; one that is taken over keeps its own. */
  readonly note?: string;
  /** Written beside when the holder died. */
  readonly died?: Columns;
  /** Of what nobody has to know again when its holder dies. */
  readonly forgetMs?: number;
}

export type ClaimAnswer =
  | { readonly kind: "fresh"; readonly row: ClaimRow }
  | { readonly kind: "duplicate"; readonly row: ClaimRow }
  | InFlight
  /** `isNew`: by this asking. */
  | { readonly kind: "parked"; readonly row: ClaimRow; readonly isNew: boolean };

const rowOf = (row: Row, now: number = numberOf(row.now)): ClaimRow => ({
  scope: row.scope as string,
  key: row.key as string,
  state: row.state as ClaimRow["state"],
  owner: row.owner as string,
  fence: numberOf(row.fence),
  attempts: numberOf(row.attempts),
  generation: numberOf(row.generation),
  leaseLeftMs: Math.max(0, numberOf(row.lease_until) - now),
  takenAt: numberOf(row.taken_at),
  unknownForMs: row.unknown_at === null ? null : Math.max(0, now - numberOf(row.unknown_at)),
  settledAt: numberOrNull(row.settled_at),
  note: row.note as string | null,
  outcome: row.outcome as string | null,
  reason: row.reason as string | null,
});

const atOf = ({ scope, key }: ClaimKey) => ({ scope, key });
const holderOf = (holder: ClaimHolder): Holder => ({ ...holder, at: atOf(holder) });

/** The `ends_at` of a claim that is forgotten some day. */
const ending = ({ now }: Sql): Part => plain(`${now} + window_ms`);
/** The time, unless that was used up. */
const next = ({ now }: Sql, column: "fence" | "generation"): Part =>
  plain(`case when ${column} < ${now} then ${now} else ${column} + 1 end`);

export function claim(sql: Sql, ask: ClaimAsk): Operation<ClaimAnswer> {
  const { owner, leaseMs, windowMs, forgetMs = null, note = null } = ask;
  const now = plain(sql.now);
  const leased = {
    owner,
    lease_until: fromNow(sql, leaseMs),
    window_ms: windowMs,
    ends_at: fromNow(sql, forgetMs),
  };
  const opened = { state: "in-flight", attempts: 1, taken_at: now, note, ...leased };
  return claimRow<ClaimAnswer>(sql, table, {
    at: atOf(ask),
    insert: () => ({ ...opened, fence: now, generation: now }),
    fresh: (fence, takenAt) => ({
      kind: "fresh",
      row: { ...firstRow, ...atOf(ask), owner, fence, generation: fence, takenAt, note },
    }),
    crowded: () => ({ kind: "in-flight", leaseLeftMs: leaseMs }),
    decide: (found, at): Move<ClaimAnswer> => {
      const row = rowOf(found, at);
      const leaseUntil = numberOf(found.lease_until);
      const step = decideClaim(ask, { ...row, leaseUntil, endsAt: numberOrNull(found.ends_at) }, at);
      const diedOf = row.state === "in-flight" && leaseUntil > 0 ? ask.died : {};
      const dead = plain(`lease_until <= ${sql.now}`);
      const fresh = (mine: Row): ClaimAnswer => ({ kind: "fresh", row: rowOf(mine) });
      switch (step) {
        case "duplicate":
          return { answer: { kind: step, row } };
        case "parked":
          return { answer: { kind: step, row, isNew: false } };
        case "again":
          return { answer: { kind: "fresh", row } };
        case "in-flight":
        case "mismatch":
          return { answer: { kind: "in-flight", leaseLeftMs: row.leaseLeftMs } };
        case "overwrite": {
          const anew = { ...opened, ...emptied, fence: next(sql, "fence"), generation: next(sql, "generation") };
          return { set: anew, guard: plain(`ends_at <= ${sql.now}`), taken: fresh };
        }
        case "resume": {
          const more = { state: "in-flight", fence: next(sql, "fence"), attempts: plain("attempts + 1") };
          return { set: { ...diedOf, ...leased, ...more }, guard: dead, taken: fresh };
        }
        case "park":
          return {
            set: { ...diedOf, state: "parked", owner, lease_until: 0, ends_at: null },
            guard: dead,
            taken: (mine) => ({ kind: "parked", row: rowOf(mine), isNew: true }),
          };
      }
    },
  });
}

const emptied = { unknown_at: null, settled_at: null, outcome: null, reason: null };

const firstRow = {
  state: "in-flight",
  attempts: 1,
  leaseLeftMs: 0,
  unknownForMs: null,
  settledAt: null,
  outcome: null,
  reason: null,
} as const;

/** A holder's write beside its lease: what it noted, or came to doubt. */
export const note = (holder: ClaimHolder, set: Columns): Operation<Held> =>
  writeHeld(table, holderOf(holder), set, notLeft);

export const extend = (sql: Sql, holder: ClaimHolder, leaseMs: number, set: Columns = {}): Operation<Held> =>
  note(holder, { ...set, lease_until: fromNow(sql, leaseMs) });

const settled = (sql: Sql, outcome: string): Columns => ({
  ...emptied,
  state: "settled",
  outcome,
  settled_at: plain(sql.now),
  ends_at: ending(sql),
  lease_until: 0,
});

/** The one answer to everybody who asks again, until the window, which begins now, has ended. */
export const settle = (sql: Sql, holder: ClaimHolder, outcome: string): Operation<Held> =>
  writeHeld(table, holderOf(holder), settled(sql, outcome));

/**
 * The same by who may have lost it: a receipt in the hand is a fact, and `open` says what it may end. False: another window, or what it
 * may not end.
 */
export function* settleLate(
  sql: Sql,
  { generation, ...holder }: ClaimHolder & { readonly generation: number },
  outcome: string,
  open: Part,
): Operation<boolean> {
  if ((yield* settle(sql, holder, outcome)) === "held") return true;
  const same = sqlPart`${matching({ ...atOf(holder), generation })} and ${open}`;
  return (yield* updateRows(table, settled(sql, outcome), same)) === 1;
}

/** Given back unfinished: the next asker goes on, whatever is chosen for those that die. */
export const leave = (holder: ClaimHolder, reason: string | null, set: Columns = {}): Operation<Held> =>
  writeHeld(table, holderOf(holder), { ...set, lease_until: 0, reason: cutReason(reason) });

/** It did not happen, or is over: free for anybody. */
export const release = (sql: Sql, holder: ClaimHolder, reason: string | null = null): Operation<Held> =>
  writeHeld(table, holderOf(holder), {
    state: "released",
    lease_until: 0,
    ends_at: ending(sql),
    unknown_at: null,
    reason: cutReason(reason),
  });

/** A person has to decide. */
export const park = (holder: ClaimHolder, reason: string, set: Columns = {}): Operation<Held> =>
  writeHeld(table, holderOf(holder), {
    ...set,
    state: "parked",
    lease_until: 0,
    ends_at: null,
    reason: cutReason(reason),
  });

/** A person decided about what is parked: it happened, with this outcome, or (null) it is free. False: it is not parked. */
export function* resolve(sql: Sql, at: ClaimKey, outcome: string | null): Operation<boolean> {
  const free = { state: "released", fence: next(sql, "fence"), lease_until: 0, ends_at: ending(sql), unknown_at: null };
  const set = outcome === null ? free : settled(sql, outcome);
  return (yield* updateRows(table, set, matching({ ...atOf(at), state: "parked" }))) === 1;
}

export function* read(sql: Sql, at: ClaimKey): Operation<ClaimRow | null> {
  const { row, now } = yield* seeRow(sql, table, atOf(at));
  return row === null ? null : rowOf(row, now);
}

/** Those of a scope that nobody settled and `which` fits, in the order of their keys. */
export function* listOpen(sql: Sql, scope: string, which: Part, limit: number): Operation<ClaimRow[]> {
  const { rows } = yield {
    ...statementOf(sqlPart`
      select ${plain(sql.now)} as now, ${plain(columns)} from idem_claims
       where scope = ${scope} and state <> 'settled' and ${which} order by key limit ${limit}`),
    isRead: true,
  };
  return rows.map((row) => rowOf(row));
}

/** Inside a transaction: until it ends, nobody can take it over. */
export const hold = (sql: Sql, holder: ClaimHolder): Operation<Held> => holdRow(sql, table, holderOf(holder));

/** Deletes at most `limit` claims of a scope that nobody has to know again; none that is held, in doubt or parked. */
export const reap = (sql: Sql, scope: string, limit: number, which: Part = plain("true")): Operation<number> =>
  reapRows(
    sql,
    table,
    sqlPart`scope = ${scope} and ends_at <= ${plain(sql.now)} and lease_until <= ${plain(sql.now)} and ${which}`,
    "ends_at",
    limit,
  );

/** Performs operations on claims, once it is known that the database has their table. */
export const claimsIn =
  (adapter: Adapter<unknown>) =>
  async <T>(operation: (sql: Sql) => Operation<T>): Promise<T> => {
    await readyTables(adapter, ["idem_claims"]);
    return adapter.perform(operation(sqlOf(adapter.dialect)));
  };
