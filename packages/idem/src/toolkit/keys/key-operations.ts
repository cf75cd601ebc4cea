// Keys in a user's database: the one claim (claim/claim-operations.ts) over the table idempotency_keys.
//
// A first execution is two round trips, a replay one, and a replay writes nothing. Inside a transaction of the user's the row is inserted
// first, so that duplicates queue on the index before they do any work, and filled by the last statement before the commit; what is undone leaves
// no row, so there is neither lease nor fence to speak of.
import {
  type ClaimTable,
  claimRow,
  type Holder,
  insertRow,
  notLeft,
  reapRows,
  seeRow,
  settleHeld,
  takeDue,
  updateRows,
  wasWritten,
  writeHeld,
} from "../claim/claim-operations.ts";
import type { Held } from "../claim/decide-claim.ts";
import { numberOf, type Operation, type Row, type Sql } from "../sql/operation.ts";
import { type Columns, fromNow, type Part, plain, sqlPart, statementOf } from "../sql/parts.ts";
import { decideKey, diedReason, freshOf, type KeyMove, runningWindowMs } from "./decide-key.ts";
import { keyColumns as columns, type KeyRow, keyRowOf, outcomeColumns, recordOf } from "./key-row.ts";
import type {
  KeyAnswer,
  KeyAsk,
  KeyHolder,
  KeyOutcome,
  KeyRecord,
  KeyStore,
  Point,
  Resolution,
  Resolved,
} from "./key-store.ts";

const table: ClaimTable = { name: "idempotency_keys", key: ["id"], fence: "fence", held: "running", columns };
const heldBy = ({ id, owner, fence }: KeyHolder): Holder => ({ at: { id }, owner, fence });

const leased = (sql: Sql, ask: KeyAsk): Columns => ({
  owner: ask.owner,
  on_crash: ask.onCrash,
  lease_until: fromNow(sql, ask.leaseMs),
  due_at: fromNow(sql, ask.leaseMs),
  ends_at: fromNow(sql, runningWindowMs(ask)),
});

const workOf = ({ work }: KeyAsk): Columns => ({ work: work?.name ?? null, work_input: work?.input ?? null });

/** Written out: an object of that many columns is slow to put together from others, and this one is made for each request. */
const begun = (sql: Sql, { about, fingerprints, work, ...ask }: KeyAsk, fence: Part | 1) => ({
  namespace: about.namespace,
  tenant: about.tenant,
  principal: about.principal,
  method: about.method,
  path: about.path,
  hint: about.hint,
  fingerprint: fingerprints[0].value,
  fingerprint_version: fingerprints[0].version,
  state: "running",
  owner: ask.owner,
  fence,
  attempts: 1,
  on_crash: ask.onCrash,
  work: work?.name ?? null,
  work_input: work?.input ?? null,
  lease_until: fromNow(sql, ask.leaseMs),
  due_at: fromNow(sql, ask.leaseMs),
  created_at: plain(sql.now),
  ends_at: fromNow(sql, runningWindowMs(ask)),
});

const more: Columns = { fence: plain("fence + 1"), attempts: plain("attempts + 1") };

const pointless: Columns = { point: null, point_data: null };

/** A key that means a new operation now: of the old one only the fence stays, and grows. */
const renewed = (sql: Sql, ask: KeyAsk): Columns => ({
  ...begun(sql, ask, plain("fence + 1")),
  ...pointless,
  ...outcomeColumns(null),
  parked_reason: null,
  completed_at: null,
});

export const claimKey = (sql: Sql, ask: KeyAsk): Operation<KeyAnswer> =>
  claimRow<KeyAnswer>(sql, table, {
    at: { id: ask.id },
    insert: () => begun(sql, ask, 1),
    fresh: (fence) => freshOf({ fence, attempts: 1, point: null }),
    crowded: (now) => ({ kind: "in-flight", since: now, leaseLeftMs: 0, ageMs: 0 }),
    decide: (found, now) => {
      const row = keyRowOf(found);
      const move = decideKey(ask, row, now);
      return move.kind === "answer" ? move : { ...taking(sql, ask, row, move.kind), taken: answerOf };
    },
  });

function taking(
  sql: Sql,
  ask: KeyAsk,
  { fingerprint }: KeyRow,
  move: Exclude<KeyMove["kind"], "answer">,
): { readonly set: Columns; readonly guard: Part } {
  // A row that was deleted and made again may have the same fence.
  const guard = sqlPart`lease_until <= ${plain(sql.now)} and fingerprint = ${fingerprint.value}`;
  switch (move) {
    case "resume":
      return { set: { ...more, ...leased(sql, ask) }, guard };
    case "rerun":
      return { set: { ...more, ...leased(sql, ask), ...workOf(ask), ...pointless }, guard };
    case "overwrite":
      // Whatever the fingerprint: past the window it is another operation.
      return { set: renewed(sql, ask), guard: plain(`ends_at <= ${sql.now} and ${mayGo(sql)}`) };
    case "park":
      // The fence stays: nobody executes. The owner does not, so that a claimant which was only slow learns that it lost.
      return { set: { state: "parked", owner: ask.owner, parked_reason: diedReason }, guard };
  }
}

function answerOf(found: Row): KeyAnswer {
  const row = keyRowOf(found);
  if (row.state !== "parked") return freshOf(row);
  return { kind: "parked", reason: diedReason, ageMs: Math.max(0, numberOf(found.now) - row.createdAt) };
}

/** Past its window: what is completed, and a dead claim that its author lets run again. */
const mayGo = ({ now }: Sql): string =>
  `(state = 'completed' or (state = 'running' and on_crash = 'rerun' and work is null and lease_until <= ${now}))`;

export const heartbeatKey = (sql: Sql, holder: KeyHolder, leaseMs: number): Operation<Held> =>
  writeHeld(table, heldBy(holder), { lease_until: fromNow(sql, leaseMs) }, notLeft);

const completed = (sql: Sql, outcome: KeyOutcome, windowMs: number): Columns => {
  const { status, headers, body, reference, gone_reason } = outcomeColumns(outcome);
  const at = { completed_at: plain(sql.now), ends_at: fromNow(sql, windowMs) };
  return { state: "completed", status, headers, body, reference, gone_reason, ...at };
};

/** Repeat: the outcome and its window stay as they were recorded first. */
export function* completeKey(sql: Sql, holder: KeyHolder, outcome: KeyOutcome, windowMs: number): Operation<Held> {
  if ((yield* settleHeld(sql, table, heldBy(holder), completed(sql, outcome, windowMs))) === "held") return "held";
  return (yield* wasWritten(sql, table, heldBy(holder), "completed")) ? "held" : "lost";
}

/**
 * A recovery point. In a transaction of the user's it makes their writes and the point one commit, and holds the row until then: a
 * takeover waits, and finds the point. `lost`: undo, for somebody else has the key.
 */
export const reachPoint = (sql: Sql, holder: KeyHolder, point: Point, leaseMs: number): Operation<Held> =>
  writeHeld(
    table,
    heldBy(holder),
    { point: point.name, point_data: point.data, lease_until: fromNow(sql, leaseMs) },
    notLeft,
  );

/** A lease of 0 tells this from a claimant that died, whose end is for the author's `onCrash` to judge. */
export const leaveKey = (sql: Sql, holder: KeyHolder, delayMs: number): Operation<Held> =>
  writeHeld(table, heldBy(holder), { lease_until: 0, due_at: fromNow(sql, delayMs) });

export function* parkKey(sql: Sql, holder: KeyHolder, reason: string): Operation<Held> {
  const parked = { state: "parked", parked_reason: reason };
  if ((yield* writeHeld(table, heldBy(holder), parked)) === "held") return "held";
  return (yield* wasWritten(sql, table, heldBy(holder), "parked")) ? "held" : "lost";
}

/** Nothing happened, so nothing is remembered. Repeat: a key that is free already was released; one that somebody else has is theirs. */
export function* releaseKey({ id, owner, fence }: KeyHolder): Operation<Held> {
  const { count } = yield statementOf(sqlPart`
    delete from idempotency_keys
     where id = ${id} and owner = ${owner} and fence = cast(${fence} as bigint) and state = 'running'`);
  return count === 1 || !(yield* isKnown(id)) ? "held" : "lost";
}

function* isKnown(id: string): Operation<boolean> {
  const { rows } = yield { text: "select 1 from idempotency_keys where id = $1", params: [id], isRead: true };
  return rows.length === 1;
}

/** With the database's time, also when there is no row. */
export function* seeKey(sql: Sql, id: string): Operation<{ readonly now: number; readonly row: KeyRow | null }> {
  const { now, row } = yield* seeRow(sql, table, { id });
  return { now, row: row === null ? null : keyRowOf(row) };
}

export function* readKey(sql: Sql, id: string): Operation<KeyRecord | null> {
  const { now, row } = yield* seeKey(sql, id);
  return row === null ? null : recordOf(row, now);
}

/** People resolve what they page through. When the last one of the page before is gone, the pages begin anew, now without it. */
export function* listParked(
  sql: Sql,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Operation<readonly KeyRecord[]> {
  const last = after === null ? null : (yield* seeKey(sql, after)).row;
  const { rows } = yield {
    ...statementOf(sqlPart`
      select ${plain(sql.now)} as now, ${plain(columns)} from idempotency_keys
       where state = 'parked'
         and (created_at, id) > (cast(${last?.createdAt ?? -1} as bigint), cast(${last?.id ?? ""} as text))
       order by created_at, id
       limit cast(${limit} as bigint)`),
    isRead: true,
  };
  return rows.map((row) => recordOf(keyRowOf(row), numberOf(row.now)));
}

/** Work nobody asks for any more, for a completer: those due longest first, each with fence + 1. */
export function* takeUnfinished(
  sql: Sql,
  { work, owner, leaseMs, limit }: Parameters<KeyStore["takeUnfinished"]>[0],
): Operation<Awaited<ReturnType<KeyStore["takeUnfinished"]>>> {
  const now = plain(sql.now);
  const rows = yield* takeDue(sql, table, {
    due: sqlPart`work = ${work} and state = 'running' and due_at <= ${now} and lease_until <= ${now}`,
    order: "due_at",
    limit,
    set: { ...more, owner, lease_until: fromNow(sql, leaseMs), due_at: fromNow(sql, leaseMs) },
    columns: plain(`${sql.now} as now, ${columns}`),
  });
  return rows.map((row) => {
    const record = recordOf(keyRowOf(row), numberOf(row.now));
    return { record, fence: record.fence, attempt: record.attempts };
  });
}

/** A person's decision. Work with a point goes on there, given back to the next asker: to start it over would repeat what was done. */
export function* resolveKey(sql: Sql, id: string, resolution: Resolution): Operation<Resolved> {
  const parked = sqlPart`id = ${id} and state = 'parked'`;
  let count = 0;
  if (resolution.kind === "response") {
    const outcome = { kind: "response", ...resolution.response } as const;
    count = yield* updateRows(table, { ...completed(sql, outcome, resolution.windowMs), parked_reason: null }, parked);
  } else if (resolution.kind === "retry") {
    const left = { state: "running", parked_reason: null, attempts: 1, lease_until: 0, due_at: plain(sql.now) };
    count = yield* updateRows(table, left, sqlPart`${parked} and (work is not null or point is not null)`);
  }
  if (count === 0 && resolution.kind !== "response") {
    ({ count } = yield statementOf(sqlPart`delete from idempotency_keys where ${parked}`));
  }
  if (count === 1) return "resolved";
  return (yield* isKnown(id)) ? "not-parked" : "unknown";
}

/** Stays: live leases, parked records, unfinished work. */
export const reapKeys = (sql: Sql, limit: number): Operation<number> =>
  reapRows(
    sql,
    table,
    plain(`ends_at <= ${sql.now} and (state = 'completed' or on_crash = 'rerun') and ${mayGo(sql)}`),
    "ends_at",
    limit,
  );

/** `taken` after a commit of somebody else's: their row can be read. Waits for one that is still open, as long as the transaction allows. */
export function* insertKey(sql: Sql, ask: KeyAsk): Operation<"inserted" | "taken"> {
  if (yield* insertRow(sql, table, { at: { id: ask.id }, insert: () => begun(sql, ask, 1) })) return "inserted";
  const ended = sqlPart`id = ${ask.id} and state = 'completed' and ends_at <= ${plain(sql.now)}`;
  return (yield* updateRows(table, renewed(sql, ask), ended)) === 1 ? "inserted" : "taken";
}

/** The transaction's last statement: in one that failed already it throws, instead of a commit that silently undoes. `lost`: undo. */
export function* fillKey(
  sql: Sql,
  { id, owner }: Pick<KeyHolder, "id" | "owner">,
  outcome: KeyOutcome,
  windowMs: number,
): Operation<Held> {
  const ours = sqlPart`id = ${id} and owner = ${owner} and state = 'running'`;
  return (yield* updateRows(table, completed(sql, outcome, windowMs), ours)) === 1 ? "held" : "lost";
}
