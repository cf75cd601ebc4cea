// The run itself says that an event started it (docs/decisions/0055): which rows are kept beside it, and that nothing is said twice.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import { ManualClock } from "../../platform/manual-clock.ts";
import { decidedPair, end, env, newEvent, openWorld, startPair } from "../contract/world.ts";
import { releasedStores } from "../released-stores.suite.ts";
import { Connection } from "./connection.ts";
import { openInlineStore } from "./inline-store.ts";
import { loadMigrations } from "./migrations.ts";

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "idem-started-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "idem.db");
}

const openOn = (path: string) =>
  openWorld(async () => {
    const clock = new ManualClock();
    return { store: openInlineStore({ path, migrations: loadMigrations(), clock, owner: "test" }), clock };
  });

function rowsOf<Row>(path: string, sql: string): Row[] {
  const connection = new Connection(path, { readonly: true });
  try {
    return connection.all<Row>(sql);
  } finally {
    connection.close();
  }
}

const keptSql = "select event_id as event, fn, kind from kept_decisions order by event_id, fn";

test("no row is kept for a start that says nothing its run does not, and it is told as it was answered", async () => {
  const path = newPath();
  const world = await openOn(path);
  const answer = await world.ingest(
    [newEvent("e1"), newEvent("e2", { callerId: "once" }), newEvent("e3")],
    [
      startPair("r1", { event: 0, fn: "a", key: "7", windowMs: dayMs }),
      startPair("r2", { event: 0, fn: "b" }),
      startPair("r3", { event: 1, fn: "a", key: "8" }),
      startPair("r4", { event: 1, fn: "b" }),
      startPair("r5", { event: 2, fn: "a", key: "7" }),
      startPair("r6", { event: 2, fn: "b", reason: "started without a key" }),
      decidedPair({ event: 2, fn: "c", kind: "filtered", reason: "no" }),
    ],
  );
  expect(answer.decisions.map(({ kind }) => kind)).toEqual([
    ...["started", "started", "started", "started"],
    ...["duplicate-key", "started", "filtered"],
  ]);
  const told = [];
  for (const id of ["e1", "e2", "e3"]) told.push(...(await world.store.reads.decisionsOfEvent(env, id)));
  expect(told).toEqual(answer.decisions);
  expect((await world.store.reads.decisionPage(env, { limit: 10, examinedMax: 10 })).rows).toEqual(told.reverse());
  expect(rowsOf(path, keptSql)).toEqual([
    { event: "e3", fn: "a", kind: "duplicate-key" },
    { event: "e3", fn: "b", kind: "started" },
    { event: "e3", fn: "c", kind: "filtered" },
  ]);
});

test("what was to start and did not is told by no run, also when a run of that event is run again", async () => {
  const world = await openOn(":memory:");
  await world.ingest([newEvent("e1", { callerId: "once" })], [startPair("r1", { key: "7", leaseTo: "w1" })]);
  await world.ingest([newEvent("e2", { callerId: "once" })], [startPair("r2", { key: "7" })]);
  await world.advance("r1", { next: end("completed") });
  await world.store.rerun({ env, runId: "r1", newRunId: "r9", rank: 0, leaseTo: null, lane: null, cancelOn: [] });
  const kinds = async (id: string) =>
    (await world.store.reads.decisionsOfEvent(env, id)).map(({ kind, runId }) => [kind, runId]);
  expect(await kinds("e1")).toEqual([["started", "r1"]]);
  expect(await kinds("e2")).toEqual([["duplicate-event", "r1"]]);
  expect((await world.store.reads.runs(env, { eventId: "e1", limit: 10 })).map(({ id }) => id)).toEqual(["r9", "r1"]);
});

test.each(releasedStores("sqlite"))("a file of schema $name tells the decisions it had, each once", ({ sql }) => {
  const path = newPath();
  const before = new Connection(path, { readonly: false });
  before.db.exec(sql);
  const had = before.all("select event_id, fn, kind, run_id, window_ends_at from decisions order by event_id, fn");
  before.close();
  openInlineStore({ path, migrations: loadMigrations(), clock: new ManualClock(), owner: "test" });
  const told = rowsOf(path, "select event_id, fn, kind, run_id, window_ends_at from decisions order by event_id, fn");
  expect(told).toEqual(had);
  expect(had.length).toBeGreaterThan(3);
});
