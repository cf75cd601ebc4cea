// What only tools ask: patterns in history, and whether everything open still moves.
import { describe, expect, test } from "vitest";
import { tickEventName } from "../../model/tick.ts";
import { end, env, fn, newEvent, newTick, plainRerun, startFlow, startPair, timeWait } from "../contract/world.ts";
import {
  checkIntegrity,
  historyOf,
  overdueRuns,
  readServerFacts,
  runsOfUnknownWorkers,
  runsWithoutJob,
  waitingRuns,
} from "./health-reads.ts";
import { useServer } from "./place.suite.ts";
import { quoted } from "./statement.ts";

const { openPlace, sessions } = useServer();

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const found: Row[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

describe("history", () => {
  test("opened runs are those an event opened: no rerun, no batch, no tick; newest first, with their events", async () => {
    const { world, connection } = await openPlace();
    await world.startLeased("r1", { key: "1" });
    await world.advance("r1", { next: end("failed") });
    await world.store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "r2", rank: 0, leaseTo: null });
    const buffer = { kind: "batch", key: "{}", maxSize: 1, timeoutMs: 100, bytesMax: 1_000 } as const;
    await world.ingest([newEvent("e3")], [startPair("r3", { flow: startFlow({ buffer }) })]);
    const at = world.clock.wallMs();
    await world.store.register({
      env,
      app: "shop",
      functions: [{ fn, id: "bill", config: "{}", crons: ["* * * * *"] }],
    });
    world.clock.advance(60_000);
    const tick = newTick("* * * * *", at + 60_000);
    const ticks = [{ ...tick, event: { ...tick.event, name: tickEventName } }];
    await world.store.tick({ env, registration: null, ticks, leaseTo: null });
    await world.start("r4");
    const runs = await all(historyOf(connection).openedRuns(env, fn, 0));
    expect(runs.map(({ runId, key }) => [runId, key])).toEqual([
      ["r4", null],
      ["r1", "1"],
    ]);
    expect(runs[0]!.event).toEqual(await world.store.reads.event(env, "event of r4"));
    expect(await historyOf(connection).functionsWithRuns(env)).toEqual([fn]);
  });

  test("received and suppressed events, newest first, each with what was first", async () => {
    const { world, connection } = await openPlace();
    await world.ingest([newEvent("e1", { callerId: "a" })], [startPair("r1", { key: "1" })]);
    await world.ingest([newEvent("e2", { callerId: "a" })], [startPair("r2", { key: "1" })]);
    await world.ingest([newEvent("e3")], [startPair("r3", { key: "1" })]);
    const suppressed = await all(historyOf(connection).suppressedEvents(env, 0));
    expect(suppressed.map(({ event, first, decision }) => [event.id, first?.id, decision.kind])).toEqual([
      ["e3", "e1", "duplicate-key"],
      ["e2", "e1", "duplicate-event"],
    ]);
    expect((await all(historyOf(connection).receivedEvents(env, 0))).map(({ id }) => id)).toEqual(["e3", "e2", "e1"]);
    expect(await all(historyOf(connection).receivedEvents(env, world.clock.wallMs() + 1))).toEqual([]);
    expect((await historyOf(connection).eventsAfter(env, "e1", 1)).map(({ id }) => id)).toEqual(["e2"]);
  });
});

describe("health", () => {
  test("a sound schema has nothing wrong, and an index that was never finished is told", async () => {
    const { schema, connection } = await openPlace();
    expect(await checkIntegrity(connection, schema)).toEqual([]);
    const { rows } = await sessions().query("select current_setting('max_connections')::int as max");
    expect(await readServerFacts(connection, schema)).toMatchObject({ deadJobs: 0, sessionsMax: rows[0].max });
    await sessions().query(
      `update pg_index set indisvalid = false where indexrelid = '${quoted(schema)}.runs_by_root'::regclass`,
    );
    expect(await checkIntegrity(connection, schema)).toEqual(["index runs_by_root is not valid"]);
  });

  test("open runs that nothing will take up, and those that wait too long, are found", async () => {
    const { world, connection } = await openPlace();
    await world.start("r1");
    await world.start("r2");
    await world.startLeased("r3");
    await world.startWaiting("r4", [timeWait("s", world.clock.wallMs() + 5)]);
    await connection.run("delete from jobs where id = 'r1'");
    await connection.run("update jobs set leased_by = 'nobody' where id = 'r3'");
    const now = world.clock.wallMs();
    const ids = (rows: readonly { readonly runId: string }[]) => rows.map(({ runId }) => runId);
    expect(ids(await runsWithoutJob(connection, env, 10))).toEqual(["r1"]);
    expect(ids(await overdueRuns(connection, env, now + 30, 30, 10))).toEqual(["r2"]);
    expect(ids(await runsOfUnknownWorkers(connection, env, 10))).toEqual(["r3"]);
    expect(await waitingRuns(connection, env, 10)).toEqual([{ fn, kind: "time", count: 1, nextAt: now + 5 }]);
  });
});
