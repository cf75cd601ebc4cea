import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { readAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { poolFor } from "./sessions.ts";
import { Statements } from "./statement.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

// Mostly the characters that are escaped, and those an escape is made of, in every order.
const awkward = fc.string({ unit: fc.constantFrom("\u0000", "\uFFFF", "0", "1", "a", "\uFFFE", "😀"), maxLength: 12 });
const anyText = fc.oneof(awkward, fc.string({ unit: "grapheme", maxLength: 20 }));

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

test("the server gives every text back as it was, alone and in a list", async () => {
  const address = readAddress(server.url);
  const pool = poolFor(pg, address, "test");
  const connection = new Connection(pool, new Statements("idem"), true);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { maxLength: 5 }), async (texts) => {
        const rows = await connection.all<{ text: string }>("select unnest(cast(? as text[])) as text", texts);
        expect(rows.map(({ text }) => text)).toEqual(texts);
        for (const text of texts) {
          expect(await connection.one("select cast(? as text) as text", text)).toEqual({ text });
        }
      }),
      { numRuns: 50 },
    );
  } finally {
    await pool.end();
  }
});

test("events whose ids differ only in such characters are different events, and each is found by its id", async () => {
  const idem = new Idem({ id: "shop", store: server.url, platform: nodePlatform, logger: silent });
  const ids = ["a\u0000", "a\uFFFF0", "a\uFFFF1", "a\uFFFF", "a0"];
  try {
    for (const id of ids) await idem.send({ name: "order/paid", id, data: { id } });
    const events = await idem.events.list({ limit: 10 });
    expect(events.map(({ id }) => id).reverse()).toEqual(ids);
    expect(events.map(({ data }) => (data as { id: string }).id).reverse()).toEqual(ids);
    expect(events.filter(({ duplicateOf }) => duplicateOf !== null)).toEqual([]);
  } finally {
    await idem.stop();
  }
});
