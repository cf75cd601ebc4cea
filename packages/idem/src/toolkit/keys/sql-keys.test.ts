// A database that is slow, away, or not made for it: an error in time, and nobody executes.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { sqlOf } from "../sql/operation.ts";
import { asking } from "./conformance/world.ts";
import { claimKey } from "./key-operations.ts";
import { sqlKeys } from "./sql-keys.ts";

const settled = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

test("T24: a store that does not answer is an error within the deadline, and nobody executes", async () => {
  const platform = new ManualPlatform();
  const keys = sqlKeys({ dialect: "postgres", perform: () => new Promise(() => {}) }, { platform, deadline: "500ms" });
  const calls = [keys.claim(asking("a")), keys.read("a"), keys.reap(1)];
  for (const call of calls) call.catch(() => {});
  await platform.advance(499, settled);
  expect(await Promise.race([...calls, settled().then(() => "waiting")])).toBe("waiting");
  await platform.advance(1, settled);
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
});

test("T24: a store that is down is asked a few times and then said to be away, in words that tell no secrets", async () => {
  let asked = 0;
  const refuse = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432, password "hunter2"'), {
    code: "ECONNREFUSED",
  });
  const keys = sqlKeys({
    dialect: "postgres",
    perform: async () => {
      asked++;
      throw refuse;
    },
  });
  const failed = await keys.claim(asking("a")).catch((error: Error) => error);
  expect(failed).toMatchObject({ code: "KEY_STORE_UNAVAILABLE", cause: refuse });
  expect((failed as Error).message).not.toMatch(/10\.0\.0|hunter2/);
  expect(asked).toBe(3);
});

test("a claim the database refuses is not asked again; only whether it has the table", async () => {
  let asked = 0;
  const keys = sqlKeys({
    dialect: "postgres",
    perform: async () => {
      asked++;
      throw Object.assign(new Error('relation "idempotency_keys" does not exist'), { code: "42P01" });
    },
  });
  await expect(keys.claim(asking("a"))).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
  expect(asked).toBe(2);
});

test("neither an insert nor a row is never a licence: after three rounds it is in flight", () => {
  const claim = claimKey(sqlOf("postgres"), asking("a"));
  const nothing = { rows: [{ now: 7, inserted: null, id: null }], count: 0 };
  let statements = 0;
  let step = claim.next();
  while (!step.done) {
    statements++;
    step = claim.next(nothing);
  }
  expect(step.value).toEqual({ kind: "in-flight", since: 7, leaseLeftMs: 0, ageMs: 0 });
  expect(statements).toBe(6);
});
