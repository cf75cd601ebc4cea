// Rows as things: what a database holds at a world's end, compared with what stood there before. A row is a thing, a table its collection. Pure.
import type { Json, Thing } from "../../thing.ts";
import { type Caller, stepOf } from "../caller.ts";
import type { Notes } from "../notes.ts";

export type Row = { readonly [column: string]: Json };

export interface TableShape {
  readonly name: string;
  /** Columns that say which row it is; none where any number of equal ones may stand there. */
  readonly key: readonly string[];
  /** Columns the database itself numbers. */
  readonly numbered: readonly string[];
  /** Columns that refer to one that is numbered. */
  readonly referring: readonly string[];
}

/** Differences from before: rows that were not there, in the order in which they came, and rows that are no longer. */
export interface TableChange {
  readonly table: TableShape;
  readonly added: readonly Row[];
  readonly removed: readonly Row[];
}

/** A statement that wrote. */
export interface Write {
  readonly database: string;
  /** Null where its text does not say. */
  readonly table: string | null;
  readonly fn: string | null;
  readonly effect: number;
}

/** Tables of a database that the code wrote to. */
export const writtenTables = (writes: Notes<Write>, database: string): Set<string> =>
  new Set(writes.all().flatMap((each) => (each.database !== database || each.table === null ? [] : [each.table])));

/** The toolkit's own notes in the user's database, for doing things once; what came of it is compared instead. */
const ownTables =
  /^(idempotency_keys|processed_webhook_events|idem_(outbox|inbox|claims|steps|locks|ticks|webhook_cursors|remote_records|sent_log|toolkit|toolkit_history))$/;

export const isOwnTable = (name: string): boolean => ownTables.test(name);

/** The toolkit's own rounds, beside any work: processes die around what they hand on, and not around each look for it. */
export function isHousekeeping(caller: Pick<Caller, "run" | "step">, table: string | null): boolean {
  const isBeside = caller.run === null || caller.run.isOver || stepOf(caller)?.isOver === true;
  return isBeside && table !== null && isOwnTable(table);
}

/** Of one of the toolkit's tables: what some process has still to hand on, and what is left to a person. */
export const waitingSql = (table: string): string | null =>
  table === "idem_outbox" ? "select 1 from idem_outbox where state = 'pending' limit 1" : null;
export function parkedSql(table: string): string | null {
  if (table === "idem_outbox") return "select id from idem_outbox where state = 'dead'";
  return table === "idem_claims" ? "select key as id from idem_claims where state = 'parked'" : null;
}

const madeMark = "‹made›";
const idLike = /(^|_)id$|Id$|ID$/;

/** Ids the world was given: no number of the database's, even where it is the same. An amount that happens to be a row's number is none. */
function idsIn(value: Json, field = "", into = new Set<Json>()): Set<Json> {
  if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) idsIn(each as Json, Array.isArray(value) ? field : key, into);
  } else if (value !== null && idLike.test(field)) into.add(value).add(String(value));
  return into;
}

export function rowThings(
  destination: string,
  changes: readonly TableChange[],
  writes: readonly Write[],
  events: readonly Json[],
): Thing[] {
  const own = changes.filter(({ table }) => !isOwnTable(table.name));
  const written = writes.filter(({ database }) => database === destination);
  const given = idsIn(events as Json);
  const made = new Set<Json>();
  for (const { table, added } of own) {
    for (const column of table.numbered) {
      for (const row of added) {
        const value = row[column] ?? null;
        if (value !== null && !given.has(value)) made.add(value);
      }
    }
  }
  return own.flatMap(({ table, added, removed }) => {
    const by = written.findLast((write) => write.table === table.name) ?? written.at(-1);
    const thing = (
      path: readonly string[],
      isAddressed: boolean,
      state: Json,
      madeFields: readonly string[],
    ): Thing => ({
      watcher: "sql",
      destination,
      path: [table.name, ...path],
      isAddressed,
      state,
      by: by?.fn ?? null,
      effect: by?.effect ?? 0,
      made: madeFields,
    });
    const keyOf = (row: Row): string | null =>
      table.key.length === 0 ? null : table.key.map((column) => textOf(row[column] ?? null)).join(",");
    const before = new Map(removed.map((row) => [keyOf(row), row]));
    const changed: Thing[] = [];
    const fresh: Thing[] = [];
    for (const row of added) {
      const key = keyOf(row);
      const was = key === null ? undefined : before.get(key);
      if (was !== undefined) {
        before.delete(key);
        changed.push(thing([key!], true, changeOf(was, row), []));
        continue;
      }
      // A number given by the database is another one after a rollback, and says nothing.
      const isNumbered = table.key.some((column) => table.numbered.includes(column) && made.has(row[column] ?? null));
      const state = Object.fromEntries(
        Object.entries(row).map(([column, value]) => {
          const refers = table.referring.includes(column) || (idLike.test(column) && !table.numbered.includes(column));
          return [column, refers && made.has(value) ? madeMark : value];
        }),
      );
      const madeFields = table.numbered.filter((column) => made.has(row[column] ?? null));
      const isAddressed = key !== null && !isNumbered && table.key.every((column) => state[column] !== madeMark);
      fresh.push(thing(isAddressed ? [key] : [], isAddressed, state, madeFields));
    }
    const gone = removed.flatMap((row) => {
      const key = keyOf(row);
      if (key === null) return [thing([], false, { "‹deleted›": row }, [])];
      return before.get(key) === row ? [thing([key], true, "‹deleted›", [])] : [];
    });
    return [...changed.sort((a, b) => (a.path[1]! < b.path[1]! ? -1 : 1)), ...gone, ...fresh];
  });
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** For a number, how far it was moved, so that two pieces of work may both have moved it; for anything else, its new value. */
function changeOf(before: Row, after: Row): Json {
  const moved: Record<string, Json> = {};
  for (const [column, value] of Object.entries(after)) {
    const was = before[column] ?? null;
    if (JSON.stringify(was) === JSON.stringify(value)) continue;
    moved[column] = typeof was === "number" && typeof value === "number" ? { moved: round(value - was) } : value;
  }
  return moved;
}

/** Cents that were added and subtracted as binary fractions. */
const round = (value: number): number => Number(value.toPrecision(12));
