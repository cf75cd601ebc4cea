// One claim, whatever it is for and whichever table its row is in: the primary key decides who is first, the fence who may write, the
// database's clock how long. A table says where its rows are (`ClaimTable`); what a claim makes of a row it finds is for the caller's `decide`.
//
// One statement inserts if nobody did, and reads who did. When it found neither (the other row was committed after the statement began to
// look), it looks once more, and then starts over: never does "neither" mean go. A takeover is one conditional update that
// repeats what it decided by, and only the one it hits has won. Repeat: the row knows its own owner.
//
// Not an upsert whose update is always false, to read the row that is there: it locks and dirties it, 96 bytes of log for each replay.
import type { Platform } from "../../platform/platform.ts";
import { numberOf, type Operation, type Row, type Sql } from "../sql/operation.ts";
import {
  type Columns,
  inserting,
  matching,
  type Part,
  paramsOf,
  plain,
  setting,
  sqlPart,
  statementOf,
} from "../sql/parts.ts";
import type { Held } from "./decide-claim.ts";

export interface ClaimTable {
  readonly name: string;
  readonly key: readonly string[];
  /** The column that grows with every change of hands. */
  readonly fence: string;
  /** The state of a claim that has a holder. */
  readonly held: string;
  /** The columns a claim reads; the key's columns, fence and state among them. */
  readonly columns: string;
}

/** The primary key: column by column. */
export type Key = Columns;

/** The claimant, as the claim answered. */
export interface Holder {
  readonly at: Key;
  readonly owner: string;
  readonly fence: number;
}

/** A name that nobody else makes. */
export const newOwner = (platform: Pick<Platform, "randomBytes">): string =>
  Buffer.from(platform.randomBytes(16)).toString("hex");

export type Move<A> =
  | { readonly answer: A }
  /** Taken over: what is written, what must still be so beside fence and state, and what the row then answers. */
  | { readonly set: Columns; readonly guard: Part; readonly taken: (row: Row) => A };

export interface Asked<A> {
  readonly at: Key;
  /** Of a row that is not there yet, without its key. One place per table writes it, for the text of a claim is made once from it. */
  readonly insert: () => Columns;
  readonly fresh: (fence: number, now: number) => A;
  readonly decide: (row: Row, now: number) => Move<A>;
  readonly crowded: (now: number) => A;
}

/** Each further round means that somebody else won one; after three lost in a row the caller is a duplicate of something in flight. */
const roundsMax = 3;

export function* claimRow<A>(sql: Sql, table: ClaimTable, asked: Asked<A>): Operation<A> {
  let now = 0;
  for (let round = 0; round < roundsMax; round++) {
    let seen = yield* sql.dialect === "postgres" ? insertOrSee(sql, table, asked) : seeThenInsert(sql, table, asked);
    if (seen.inserted !== null) return asked.fresh(numberOf(seen.inserted), seen.now);
    if (seen.row === null) seen = yield* seeRow(sql, table, asked.at, true);
    now = seen.now;
    if (seen.row === null) continue;
    const move = asked.decide(seen.row, now);
    if ("answer" in move) return move.answer;
    const taken = yield* takeOver(sql, table, asked, seen.row, move);
    if (taken !== null) return taken;
  }
  return asked.crowded(now);
}

interface Seen {
  readonly now: number;
  readonly row: Row | null;
  /** The fence of a row that this asking made. */
  readonly inserted: unknown;
}

const seenOf = ({ key }: ClaimTable, row: Row, inserted: unknown = null): Seen => ({
  now: numberOf(row.now),
  row: row[key[0]!] === null ? null : row,
  inserted,
});

const texts = new WeakMap<ClaimTable, Map<string, string>>();

/** A replay is one statement, and putting its text together took as long as running it on SQLite; a driver finds what it prepared by the same text. */
function textOf(table: ClaimTable, { dialect }: Sql, which: string, write: () => Part) {
  const name = `${dialect} ${which}`;
  const known = texts.get(table) ?? new Map<string, string>();
  if (known.size === 0) texts.set(table, known);
  let text = known.get(name);
  if (text === undefined) {
    ({ text } = statementOf(write()));
    known.set(name, text);
  }
  return text;
}

/** Nothing is handed out that only this server knows: an answer from a row is as durable as the row should be (docs/failover.md#asynchronous-and-synchronous-replication). */
const stood = ({ stand }: Sql, { key }: ClaimTable): string =>
  `case when ${key[0]!} is null then null else ${stand} end as stood`;

type Inserting = Pick<Asked<unknown>, "at" | "insert">;

function insertPart({ name, key, fence }: ClaimTable, { dialect, now }: Sql, { at, insert }: Inserting): Part {
  const columns = insert();
  const isKnown = dialect === "sqlite" && typeof columns[fence] === "number";
  const told = isKnown ? "" : `returning ${fence} as inserted, ${now} as now`;
  return sqlPart`insert into ${plain(name)} ${inserting(at, columns)}
    on conflict (${plain(key.join(", "))}) do nothing ${plain(told)}`;
}

/** Inside a transaction of the user's. False: somebody's row is there. */
export function* insertRow(sql: Sql, table: ClaimTable, asked: Inserting): Operation<boolean> {
  const { rows, count } = yield statementOf(insertPart(table, sql, asked));
  return rows.length === 1 || count === 1;
}

/** The select sees the table as it was before the insert: a row in its answer is somebody else's, or of an earlier try. */
function* insertOrSee(sql: Sql, table: ClaimTable, asked: Inserting): Operation<Seen> {
  const at = paramsOf(asked.at);
  const text = textOf(
    table,
    sql,
    "claim",
    () => sqlPart`
      with inserted as (${insertPart(table, sql, asked)})
      select ${plain(sql.now)} as now, (select inserted from inserted) as inserted, ${plain(table.columns)},
             ${plain(stood(sql, table))}
        from (select 1) as one left join ${plain(table.name)} on ${matching(asked.at)}`,
  );
  const { rows } = yield { text, params: [...at, ...paramsOf(asked.insert()), ...at] };
  return seenOf(table, rows[0]!, rows[0]!.inserted);
}

/**
 * SQLite has no insert inside a select, and no round trips to spare: it looks first, so that a replay never asks for the one writer. A row
 * whose fence is known beforehand is not read back, which is half of what inserting it takes.
 */
function* seeThenInsert(sql: Sql, table: ClaimTable, asked: Inserting): Operation<Seen> {
  const seen = yield* seeRow(sql, table, asked.at);
  if (seen.row !== null) return seen;
  const insert = asked.insert();
  const text = textOf(table, sql, "insert", () => insertPart(table, sql, asked));
  const { rows, count } = yield { text, params: [...paramsOf(asked.at), ...paramsOf(insert)] };
  const fence = insert[table.fence];
  if (typeof fence === "number") return count === 1 ? { ...seen, inserted: fence } : seen;
  return rows[0] === undefined ? seen : { row: null, now: numberOf(rows[0].now), inserted: rows[0].inserted };
}

/** One row, by its primary key alone, with the database's time also when there is none. Writes nothing and waits for nobody. */
export function* seeRow(sql: Sql, table: ClaimTable, at: Key, isAnswer = false): Operation<Seen> {
  const text = textOf(
    table,
    sql,
    isAnswer ? "answer" : "see",
    () => sqlPart`
      select ${plain(sql.now)} as now, ${plain(table.columns)}, ${plain(isAnswer ? stood(sql, table) : "null as stood")}
        from (select 1) as one left join ${plain(table.name)} on ${matching(at)}`,
  );
  const { rows } = yield { text, params: paramsOf(at), isRead: true };
  return seenOf(table, rows[0]!);
}

/** Null: somebody was faster, or the claimant is alive after all; the claim looks again. */
function* takeOver<A>(
  { now }: Sql,
  { name, fence, columns }: ClaimTable,
  { at }: Asked<A>,
  row: Row,
  { set, guard, taken }: Exclude<Move<A>, { answer: A }>,
): Operation<A | null> {
  const found = { ...at, [fence]: numberOf(row[fence]), state: row.state as string };
  const { rows } = yield statementOf(sqlPart`
    update ${plain(name)} set ${setting(set)} where ${matching(found)} and ${guard}
    returning ${plain(now)} as now, ${plain(columns)}`);
  return rows[0] === undefined ? null : taken(rows[0]);
}

/**
 * The state stands in the text: as a parameter SQLite would compile the statement anew for each call, to see whether a partial index serves the
 * value that was bound.
 */
const holding = ({ fence, held }: ClaimTable, holder: Holder, state: string = held): Part =>
  sqlPart`${matching(holder.at)} and owner = ${holder.owner} and ${plain(fence)} = ${holder.fence} and ${plain(`state = '${state}'`)}`;

const always = plain("true");

/** A write of nobody's in particular: how many rows it was. */
export function* updateRows({ name }: ClaimTable, set: Columns, where: Part): Operation<number> {
  return (yield statementOf(sqlPart`update ${plain(name)} set ${setting(set)} where ${where}`)).count;
}

/** A holder's write: its own, or it does not happen. A dead lease does not matter as long as nobody took over: the fence decides. */
export function* writeHeld(table: ClaimTable, holder: Holder, set: Columns, guard: Part = always): Operation<Held> {
  const count = yield* updateRows(table, set, sqlPart`${holding(table, holder)} and ${guard}`);
  return count === 1 ? "held" : "lost";
}

/** The same where it is written with every request: its text is made once, so `set` is always made of the same columns. */
export function* settleHeld(sql: Sql, table: ClaimTable, { at, owner, fence }: Holder, set: Columns): Operation<Held> {
  const holder = { at, owner, fence };
  const text = textOf(
    table,
    sql,
    "settle",
    () => sqlPart`update ${plain(table.name)} set ${setting(set)} where ${holding(table, holder)}`,
  );
  const params = [...paramsOf(set), ...paramsOf(at), owner, fence];
  return (yield { text, params }).count === 1 ? "held" : "lost";
}

/** A lease that was given back is not extended: a heartbeat that overtook its own claimant's leaving would hold it for nobody. */
export const notLeft = plain("lease_until > 0");

/** A write that hit nothing was either made before, by this very claimant whose answer was lost, or is somebody else's to make. */
export function* wasWritten({ stand }: Sql, table: ClaimTable, holder: Holder, state: string): Operation<boolean> {
  const { rows } = yield {
    ...statementOf(
      sqlPart`select ${plain(stand)} as stood from ${plain(table.name)} where ${holding(table, holder, state)}`,
    ),
    isRead: true,
  };
  return rows.length === 1;
}

/** Inside a transaction: until it ends, nobody can take it over. */
export function* holdRow({ dialect }: Sql, table: ClaimTable, holder: Holder): Operation<Held> {
  const lock = plain(dialect === "postgres" ? "for update" : "");
  const { rows } = yield statementOf(
    sqlPart`select 1 as held from ${plain(table.name)} where ${holding(table, holder)} ${lock}`,
  );
  return rows.length === 1 ? "held" : "lost";
}

interface Due {
  readonly due: Part;
  readonly order: string;
  readonly limit: number;
}

/** Several at once, in the order given. Many may ask: a row one of them is about to take is skipped by the others. */
export function* takeDue(
  sql: Sql,
  table: ClaimTable,
  asked: Due & { readonly set: Columns; readonly columns: Part },
): Operation<readonly Row[]> {
  const { name, key } = table;
  const { rows } = yield statementOf(sqlPart`
    with due as materialized (${chosen(sql, table, asked)})
    update ${plain(name)} set ${setting(asked.set)}
     where (${plain(key.join(", "))}) in (select ${plain(key.join(", "))} from due)
    returning ${asked.columns}`);
  return rows;
}

/** Frees space; correctness never waits for it. A row somebody writes at this moment is skipped; one they wrote since is looked at again. */
export function* reapRows(sql: Sql, table: ClaimTable, ended: Part, order: string, limit: number): Operation<number> {
  const { name, key } = table;
  const { count } = yield statementOf(sqlPart`
    with ended as (${chosen(sql, table, { due: ended, order, limit })})
    delete from ${plain(name)} where (${plain(key.join(", "))}) in (select ${plain(key.join(", "))} from ended)`);
  return count;
}

const chosen = ({ skipLocked }: Sql, { name, key }: ClaimTable, { due, order, limit }: Due): Part => sqlPart`
  select ${plain(key.join(", "))} from ${plain(name)} where ${due} order by ${plain(order)}
   limit cast(${limit} as bigint) ${plain(skipLocked)}`;
