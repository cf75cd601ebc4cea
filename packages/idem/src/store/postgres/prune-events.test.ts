// Pruning beside others who commit at the same time: between its questions, and while it holds its locks.
import type { ClientBase } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import { end, env, newEvent, newStep, plainRerun, startFlow, startPair, type World } from "../contract/world.ts";
import { type PruneAnswer, prunedNothing } from "../prune.ts";
import { type Place, useServer } from "./place.suite.ts";
import { countPrunable, pruneEvents } from "./prune-events.ts";
import { quoted } from "./statement.ts";

const { openPlace, sessions } = useServer();

async function endedRun(world: World, runId: string, over: Parameters<World["startLeased"]>[1] = {}): Promise<void> {
  await world.startLeased(runId, over);
  await world.advance(runId, { steps: [newStep("s1"), newStep("s2")], next: end("completed") });
}

const prune = (world: World, max = 500) => world.store.prune({ env, before: world.clock.wallMs(), after: "", max });

/** One pruning transaction by hand; `before` is told before each statement, and its last telling is that of the commit. */
async function pruneBetween(
  { world, connection }: Place,
  before: (sql: string) => Promise<void>,
): Promise<PruneAnswer> {
  const session = await sessions().connect();
  try {
    await session.query("begin");
    let last: Promise<unknown> = Promise.resolve();
    const query = (statement: { text: string }) => {
      const answer = last.then(() => before(statement.text)).then(() => session.query(statement));
      last = answer;
      return answer;
    };
    const told = { query } as unknown as ClientBase;
    const now = world.clock.wallMs();
    const answer = await pruneEvents(
      { connection: connection.on(told), at: { now, leaseNow: now, windowNow: () => now } },
      { env, before: now, after: "", max: 500 },
    );
    await before("commit");
    await session.query("commit");
    return answer;
  } finally {
    session.release();
  }
}

/** Somebody else's transaction, which has locked these rows and goes on for the rest of the test. */
async function holdRows({ schema }: Place, table: string, where: string): Promise<void> {
  const session = await sessions().connect();
  onTestFinished(async () => {
    await session.query("rollback");
    session.release();
  });
  await session.query("begin");
  const { rowCount } = await session.query(`select 1 from ${quoted(schema)}.${table} where ${where} for update`);
  expect(rowCount).toBe(1);
}

const rerun = ({ store }: World, runId: string, newRunId: string) =>
  store.rerun({ ...plainRerun, env, runId, newRunId, rank: 0, leaseTo: null });

const nothing = prunedNothing;

describe("pruning beside others", () => {
  test("a rerun that commits after its run was judged, and before it was locked, keeps the whole family", async () => {
    const place = await openPlace();
    const { world } = place;
    await endedRun(world, "r1");
    world.clock.advance(dayMs);
    let isRerun = false;
    const answer = await pruneBetween(place, async (sql) => {
      if (isRerun || !sql.includes("for update")) return;
      isRerun = true;
      await rerun(world, "r1", "r2");
    });
    expect(answer).toMatchObject({ deleted: nothing, kept: 1, after: null });
    expect(await world.memo("r1")).toMatchObject({ steps: [{ stepId: "s1" }, { stepId: "s2" }] });
    expect(await world.run("r2")).toMatchObject({ state: "queued" });
  });

  test("a rerun that comes while its run is being deleted finds it gone, and leaves nothing behind", async () => {
    const place = await openPlace();
    const { world, connection } = place;
    await endedRun(world, "r1");
    world.clock.advance(dayMs);
    let late: ReturnType<typeof rerun> | null = null;
    await pruneBetween(place, async (sql) => {
      if (sql !== "commit") return;
      late = rerun(world, "r1", "r2");
      await someoneWaitsForALock();
    });
    expect(await late).toEqual({ kind: "unknown" });
    for (const table of ["events", "decisions", "runs", "steps", "jobs"]) {
      expect(await connection.all(`select 1 from ${table}`), table).toEqual([]);
    }
  });

  test.each([
    ["event", "events", "id = 'event of r2'"],
    ["run", "runs", "id = 'r2'"],
    ["key", "claims", `key = '"k"'`],
  ])("whose %s somebody else has locked is kept, the others go, and nobody is waited for", async (_, table, where) => {
    const place = await openPlace();
    const { world } = place;
    await endedRun(world, "r1");
    await endedRun(world, "r2", { key: '"k"', windowMs: 1, hold: true });
    await endedRun(world, "r3");
    world.clock.advance(dayMs);
    await holdRows(place, table, where);
    expect(await prune(world)).toMatchObject({ deleted: { events: 2, runs: 2, steps: 4 }, kept: 1, after: null });
    expect((await world.memo("r2")).steps).toHaveLength(2);
  });

  test("a run too large for one commit that somebody else has locked is passed by", async () => {
    const place = await openPlace();
    const { world } = place;
    await endedRun(world, "r1");
    await endedRun(world, "r2");
    world.clock.advance(dayMs);
    await holdRows(place, "runs", "id = 'r1'");
    expect(await prune(world, 2)).toMatchObject({ deleted: nothing, kept: 1, after: "event of r1" });
    expect((await world.memo("r1")).steps).toHaveLength(2);
  });

  test("a batch is counted once, goes once, and takes the events it carries along", async () => {
    const { world, connection } = await openPlace();
    const buffer = { kind: "batch", key: "{}", maxSize: 3, timeoutMs: 100, bytesMax: 1_000_000 } as const;
    for (const n of [1, 2, 3]) {
      await world.ingest([newEvent(`e${n}`)], [startPair(`r${n}`, { flow: startFlow({ buffer }) })]);
    }
    await world.lease("w1");
    await world.advance("r1", { steps: [newStep("s1")], next: end("completed") });
    world.clock.advance(dayMs);
    const gone = { ...prunedNothing, events: 3, runs: 1, steps: 1, attempts: 0, decisions: 3 };
    const now = world.clock.wallMs();
    expect(await countPrunable(connection, { env, before: now, after: "" }, now)).toMatchObject({
      deleted: gone,
      kept: 0,
      after: null,
    });
    expect(await prune(world)).toMatchObject({ deleted: gone, kept: 0, after: null });
    expect(await connection.all("select 1 from run_events")).toEqual([]);
  });

  test("of a batch one of whose events somebody else has locked nothing goes that needs it", async () => {
    const place = await openPlace();
    const { world } = place;
    const buffer = { kind: "batch", key: "{}", maxSize: 2, timeoutMs: 100, bytesMax: 1_000_000 } as const;
    for (const n of [1, 2]) {
      await world.ingest([newEvent(`e${n}`)], [startPair(`r${n}`, { flow: startFlow({ buffer }) })]);
    }
    await world.lease("w1");
    await world.advance("r1", { next: end("completed") });
    world.clock.advance(dayMs);
    await holdRows(place, "events", "id = 'e1'");
    expect(await prune(world)).toMatchObject({ deleted: nothing, kept: 2, after: null });
    expect((await world.memo("r1")).events.map(({ id }) => id)).toEqual(["e1", "e2"]);
  });
});

/** Until a session of the server waits for another one's lock. */
async function someoneWaitsForALock(): Promise<void> {
  for (;;) {
    const { rowCount } = await sessions().query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (rowCount !== 0) return;
  }
}
