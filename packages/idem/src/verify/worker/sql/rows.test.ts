// Reading statements, and comparing the rows of a table.
import { describe, expect, test } from "vitest";
import { compareThings, learnVolatile } from "../../compare-things.ts";
import { type Row, rowThings, type TableShape } from "./row-things.ts";
import { readStatement } from "./sql-text.ts";

describe("a statement is known by its text", () => {
  test.each([
    ["insert into invoices (a) values ('delete from x')", "write", "INSERT", "invoices"],
    ['INSERT OR IGNORE INTO "shop"."Order Lines" VALUES (1)', "write", "INSERT", "Order Lines"],
    ["/* update x set */ select 1 -- insert into y", "read", "SELECT", null],
    ["with moved as (delete from queue returning *) select * from moved", "write", "DELETE", "queue"],
    ["update only accounts a set n = n + 1", "write", "UPDATE", "accounts"],
    ["select * from accounts for update", "read", "SELECT", null],
    ["begin; insert into t values (1); commit", "write", "INSERT", "t"],
    ["START TRANSACTION ISOLATION LEVEL SERIALIZABLE", "begin", "START", null],
    ["commit;", "commit", "COMMIT", null],
    ["rollback to savepoint a", "session", "ROLLBACK", null],
    ["rollback", "rollback", "ROLLBACK", null],
    ["pragma journal_mode = wal", "session", "PRAGMA", null],
    ["create table if not exists t (a)", "write", "CREATE", null],
    ["select setval('s', 1)", "write", "SELECT", null],
  ])("%s", (sql, kind, verb, table) => {
    expect(readStatement(sql)).toEqual({ kind, verb, table });
  });
});

const table = (name: string, shape: Partial<TableShape> = {}): TableShape => ({
  name,
  key: [],
  numbered: [],
  referring: [],
  ...shape,
});
const invoices = table("invoices", { key: ["id"], numbered: ["id"] });
const accounts = table("accounts", { key: ["client"] });
const outside = (shape: TableShape, added: readonly Row[], removed: readonly Row[] = []) => ({
  things: rowThings("shop", [{ table: shape, added, removed }], [], [{ placementId: "7", amount: 1 }]),
  madeIds: [],
});
const compared = (world: ReturnType<typeof outside>, ...expected: ReturnType<typeof outside>[]) => {
  const { more, other, less } = compareThings(world, expected, learnVolatile(expected[0]!, expected[0]!)!);
  return { more: more.length, other: other.length, less: less.length };
};

test("a row that the database numbered is the same under another number, and twice is more", () => {
  const one = outside(invoices, [{ id: 1, placement: "7" }]);
  expect(compared(outside(invoices, [{ id: 4, placement: "7" }]), one)).toEqual({ more: 0, other: 0, less: 0 });
  const two = outside(invoices, [
    { id: 1, placement: "7" },
    { id: 2, placement: "7" },
  ]);
  expect(compared(two, one)).toEqual({ more: 1, other: 0, less: 0 });
});

test("what refers to a number of the database's is not compared by it, declared or only named so", () => {
  const lines = (invoice: number) => ({
    things: rowThings(
      "shop",
      [
        { table: invoices, added: [{ id: invoice, placement: "7" }], removed: [] },
        { table: table("lines", { key: [] }), added: [{ invoice_id: invoice, text: "fee" }], removed: [] },
      ],
      [],
      [],
    ),
    madeIds: [],
  });
  expect(compared(lines(9), lines(1))).toEqual({ more: 0, other: 0, less: 0 });
});

test("a number that was moved twice is another state, and two pieces of work move it twice", () => {
  const moved = (balance: number) => outside(accounts, [{ client: "c3", balance }], [{ client: "c3", balance: 500 }]);
  expect(compared(moved(480), moved(490))).toEqual({ more: 0, other: 1, less: 0 });
  expect(compared(moved(480), moved(490), moved(490))).toEqual({ more: 0, other: 0, less: 0 });
  expect(compared(moved(470), moved(490), moved(490))).toEqual({ more: 0, other: 1, less: 0 });
});

test("a row that is gone is a thing, and so is one of a table without a key", () => {
  const gone = outside(accounts, [], [{ client: "c3", balance: 500 }]);
  expect(gone.things.map(({ path, state }) => ({ path, state }))).toEqual([
    { path: ["accounts", "c3"], state: "‹deleted›" },
  ]);
  expect(compared(outside(accounts, []), gone)).toEqual({ more: 0, other: 0, less: 1 });
  const noted = outside(table("notes"), [], [{ text: "a" }]);
  expect(compared(outside(table("notes"), []), noted)).toEqual({ more: 0, other: 0, less: 1 });
});

test("the tables by which the toolkit does things once are not counted", () => {
  expect(outside(table("idem_steps", { key: ["key"] }), [{ key: "k", run_id: "r" }]).things).toEqual([]);
});
