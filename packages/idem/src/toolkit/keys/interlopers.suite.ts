// Between looking at a record and taking it lies a moment in which anybody may write. A claim that decided upon what is no longer so
// decides again: each case stops one right there and lets somebody else go first.
import { expect, test } from "vitest";
import type { TestDatabase } from "../sql/databases.suite.ts";
import { type Dialect, type Operation, type Statement, sqlOf } from "../sql/operation.ts";
import { asking, created, fingerprint, hold, leaseMs, windowMs } from "./conformance/world.ts";
import { claimKey } from "./key-operations.ts";
import type { KeyAnswer, KeyAsk, KeyHolder, KeyOutcome, KeyStore } from "./key-store.ts";
import { sqlKeys } from "./sql-keys.ts";

interface World {
  readonly db: TestDatabase;
  readonly keys: KeyStore;
  readonly first: KeyHolder;
}

function* one(statement: Statement): Operation<{ rows: readonly Record<string, unknown>[]; count: number }> {
  return yield statement;
}

async function claimInterrupted(db: TestDatabase, ask: KeyAsk, interrupt: () => Promise<unknown>): Promise<KeyAnswer> {
  const claim = claimKey(sqlOf(db.dialect), ask);
  let step = claim.next();
  for (let statements = 0; !step.done; statements++) {
    if (statements === 1) await interrupt();
    step = claim.next(await db.adapter.perform(one(step.value)));
  }
  return step.value;
}

const other: KeyOutcome = { kind: "gone", status: 200, reason: "of somebody else" };
const die = ({ db }: World) => db.age("idempotency_keys", leaseMs);
const end = ({ db }: World) => db.age("idempotency_keys", windowMs);
const complete = ({ keys }: World, holder: KeyHolder) => keys.complete(holder, other, windowMs);
const resuming = { onCrash: "resume" } as const;
const parking = { onCrash: "park" } as const;

type Case = readonly [
  name: string,
  before: (world: World) => Promise<unknown>,
  asks: Partial<KeyAsk>,
  meanwhile: (world: World) => Promise<unknown>,
  expected: object,
];

const fresh = (fence: number, attempt: number) => ({ kind: "fresh", fence, attempt });

const cases: readonly Case[] = [
  ["a dead claimant's heartbeat", die, {}, ({ keys, first }) => keys.heartbeat(first, leaseMs), { kind: "in-flight" }],
  ["a late completion", die, {}, (world) => complete(world, world.first), { kind: "duplicate", outcome: other }],
  [
    "a late completion, where a dead claim parks",
    die,
    parking,
    (world) => complete(world, world.first),
    { kind: "duplicate", outcome: other },
  ],
  [
    "a late heartbeat, where a dead claim parks",
    die,
    parking,
    ({ keys, first }) => keys.heartbeat(first, leaseMs),
    { kind: "in-flight" },
  ],
  ["a release", die, resuming, ({ keys, first }) => keys.release(first), fresh(1, 1)],
  ["another takeover", die, resuming, ({ keys }) => hold(keys, asking("a", resuming)), { kind: "in-flight" }],
  [
    "another takeover that died, too",
    die,
    resuming,
    async (world) => {
      await hold(world.keys, asking("a", resuming));
      await die(world);
    },
    fresh(3, 3),
  ],
  [
    "a takeover that completed",
    die,
    {},
    async (world) => complete(world, await hold(world.keys, asking("a"))),
    { kind: "duplicate", outcome: other },
  ],
  ["a parking", die, {}, ({ keys, first }) => keys.park(first, "why"), { kind: "parked", reason: "why" }],
  [
    "another operation after the window",
    async (world) => {
      await world.keys.complete(world.first, created, windowMs);
      await end(world);
    },
    {},
    async (world) => complete(world, await hold(world.keys, asking("a"))),
    { kind: "duplicate", outcome: other },
  ],
  [
    "another operation, of another body, after the window",
    async (world) => {
      await world.keys.complete(world.first, created, windowMs);
      await end(world);
    },
    {},
    ({ keys }) => hold(keys, asking("a", { fingerprints: [fingerprint("order 8")] })),
    { kind: "mismatch" },
  ],
  [
    "another operation after the window whose own window ended",
    async (world) => {
      await world.keys.complete(world.first, created, windowMs);
      await end(world);
    },
    {},
    async (world) => {
      await complete(world, await hold(world.keys, asking("a")));
      await end(world);
    },
    fresh(3, 1),
  ],
  [
    "the reaper",
    async (world) => {
      await world.keys.complete(world.first, created, windowMs);
      await end(world);
    },
    {},
    ({ keys }) => keys.reap(1),
    fresh(1, 1),
  ],
];

export function testInterlopers(open: () => Promise<TestDatabase>, dialect: Dialect): void {
  test("whoever comes between a look and a takeover is not overrun", async () => {
    const db = await open();
    const keys = sqlKeys(db.adapter);
    for (const [name, before, asks, meanwhile, expected] of cases) {
      await db.run("delete from idempotency_keys");
      const world = { db, keys, first: await hold(keys, asking("a", asks)) };
      await before(world);
      const answer = await claimInterrupted(db, asking("a", asks), () => meanwhile(world));
      expect(answer, name).toMatchObject(expected);
    }
  });

  if (dialect === "sqlite") {
    test("whoever comes between a look and the insert is not overrun", async () => {
      const db = await open();
      const keys = sqlKeys(db.adapter);
      const answer = await claimInterrupted(db, asking("a"), () => hold(keys, asking("a")));
      expect(answer).toMatchObject({ kind: "in-flight" });
    });
  }

  test("without its table a store says which one is missing, and how to make it", async () => {
    const db = await open();
    const keys = sqlKeys(db.adapter);
    await db.run("drop table idempotency_keys");
    await expect(keys.claim(asking("a"))).rejects.toMatchObject({ code: "TABLES_MISSING" });
    await expect(keys.reap(1)).rejects.toMatchObject({ code: "TABLES_MISSING" });
  });
}
