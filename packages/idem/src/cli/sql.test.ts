import { describe, expect, test } from "vitest";
import { fakeTerminal } from "./fake-terminal.ts";

const terminal = fakeTerminal({ cwd: "/" });
const print = async (...args: string[]): Promise<string> => {
  expect(await terminal.run("sql", ...args)).toBe(0);
  expect(terminal.written.err).toBe("");
  return terminal.written.out;
};
describe("idem sql", () => {
  test("prints PostgreSQL unless told otherwise, and how to apply it", async () => {
    expect(await print()).toMatch(/^-- PostgreSQL\. To apply: npx idem sql \| psql /);
    expect(await print("--dialect", "sqlite")).toMatch(
      /^-- SQLite\. To apply: npx idem sql --dialect sqlite \| sqlite3 /,
    );
  });

  test("--only prints those tables, and where they are noted", async () => {
    const printed = await print("--only", "idempotency_keys, idem_outbox");
    expect([...printed.matchAll(/create table if not exists (\w+)/g)].map(([, name]) => name)).toEqual([
      "idem_toolkit",
      "idem_toolkit_history",
      "idempotency_keys",
      "idem_outbox",
    ]);
  });

  test.each([
    [["--dialect", "mysql"], '--dialect is "mysql"; it must be one of postgres, sqlite.'],
    [["--only", "orders"], 'There is no table "orders"; there are idempotency_keys'],
  ])("%j is refused, with what there is", async (args, words) => {
    expect(await terminal.run("sql", ...args)).toBe(2);
    expect(terminal.written.out).toBe("");
    expect(terminal.written.err).toContain(words);
  });
});
