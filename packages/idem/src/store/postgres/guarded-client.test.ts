// What a body may not say to the session it is lent.
import type { PoolClient } from "pg";
import { expect, test } from "vitest";
import { guardClient } from "./guarded-client.ts";

function lent() {
  const asked: unknown[] = [];
  const client = {
    query: async (...args: unknown[]) => asked.push(...args),
    escapeLiteral: (text: string) => `'${text}'`,
    release: () => asked.push("released"),
    processID: 7,
  };
  return { asked, ...guardClient(client as unknown as PoolClient) };
}

const misused = { code: "TRANSACTION_MISUSED" };

test.each([
  "commit",
  "COMMIT AND CHAIN",
  " ;\n rollback",
  "ROLLBACK WORK",
  "begin",
  "start  transaction",
  "end",
  "abort",
  "prepare transaction 'x'",
])("%s is refused before it is sent, as a text and as a config", async (text) => {
  const { tx, asked } = lent();
  await expect(tx.query(text)).rejects.toMatchObject(misused);
  await expect(tx.query({ text })).rejects.toMatchObject(misused);
  expect(asked).toEqual([]);
});

test.each([
  "savepoint part",
  "rollback to part",
  "rollback to savepoint part",
  "ROLLBACK TRANSACTION TO SAVEPOINT part",
  "release savepoint part",
  "insert into t values ('commit')",
  "select * from endings",
  "prepare plan as select 1",
])("%s is the body's own business", async (text) => {
  const { tx, asked } = lent();
  await tx.query(text, ["a"]);
  expect(asked).toEqual([text, ["a"]]);
});

test("the session itself is not the body's to release, and its client is of no use afterwards", async () => {
  const { tx, asked, close } = lent();
  const words = tx as unknown as Record<string, (text?: string) => unknown>;
  expect(() => words.release!()).toThrow(/not its own/);
  expect(words.escapeLiteral!("x")).toBe("'x'");
  expect(words.processID).toBe(7);
  close();
  await expect(tx.query("select 1")).rejects.toMatchObject(misused);
  expect(() => words.escapeLiteral!("x")).toThrow(/after the body had ended/);
  expect(asked).toEqual([]);
});
