// A store that lost acknowledged writes, seen by processes that have it open: rows as they were before are put back under them.
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { end, env, newEvent, startPair } from "../contract/world.ts";
import { type HistoryReport, heartbeatKeptMs } from "../history.ts";
import { PostgresHistory } from "./history-watch.ts";
import { type Place, useServer } from "./place.suite.ts";

const server = useServer();
const termMs = 20_000;

async function open() {
  const place = await server.openPlace();
  const { store } = place.world;
  const reports: HistoryReport[] = [];
  onTestFinished(store.shared!.history!.subscribe((report) => reports.push(report)));
  return { ...place, store, clock: place.world.clock, reports };
}

/** The rows of heartbeats as they are now, and the way back to them. */
async function snapshot({ connection }: Pick<Place, "connection">) {
  const rows = await connection.all<{ id: string; counter: number; at: number }>("select * from heartbeats");
  return async () => {
    await connection.run("delete from heartbeats");
    for (const { id, counter, at } of rows)
      await connection.run("insert into heartbeats (id, counter, at) values (?, ?, ?)", id, counter, at);
  };
}

const rollbacks = (reports: readonly HistoryReport[]) =>
  reports.flatMap((report) => (report.kind === "rollback" ? [report.rollback] : []));

test("heartbeats of workers that come and go find their row as they left it", async () => {
  const { store, clock, reports, connection } = await open();
  for (const worker of ["w1", "w1", "w2", "w1"]) {
    await store.heartbeat(worker, termMs);
    clock.advance(5_000);
  }
  await store.handBack("w1");
  expect(await store.heartbeat("w1", termMs)).toMatchObject({ alive: false });
  clock.advance(termMs + 5_000);
  await store.sweep({ max: 10, repair: false });
  expect(await store.heartbeat("w2", termMs)).toMatchObject({ alive: false });
  expect(reports).toEqual([]);
  expect(await connection.all("select counter from heartbeats")).toEqual([{ counter: 6 }]);
});

test("a row that is older than what was acknowledged is reported once, with what the store still has", async () => {
  const place = await open();
  const { store, clock, reports } = place;
  const { now: firstAt } = await store.heartbeat("w1", termMs);
  clock.advance(5_000);
  const { now: survivedAt } = await store.heartbeat("w1", termMs);
  const goBack = await snapshot(place);
  clock.advance(5_000);
  const { now: acknowledgedAt } = await store.heartbeat("w1", termMs);
  await goBack();
  clock.advance(5_000);
  const { alive, now: foundAt } = await store.heartbeat("w1", termMs);
  expect(alive).toBe(true);
  expect(rollbacks(reports)).toMatchObject([{ firstAt, survivedAt, acknowledgedAt, foundAt }]);
  for (let i = 0; i < 3; i++) await store.heartbeat("w1", termMs);
  expect(rollbacks(reports)).toHaveLength(1);
});

test("a row that is gone is reported, although the worker was declared lost meanwhile", async () => {
  const { store, clock, reports, connection } = await open();
  const { now: firstAt } = await store.heartbeat("w1", termMs);
  clock.advance(5_000);
  const { now: acknowledgedAt } = await store.heartbeat("w1", termMs);
  await connection.run("delete from heartbeats");
  clock.advance(termMs + 5_000);
  await store.sweep({ max: 10, repair: false });
  expect(await store.heartbeat("w1", termMs)).toMatchObject({ alive: false });
  expect(rollbacks(reports)).toMatchObject([{ survivedAt: null, firstAt, acknowledgedAt }]);
});

test("a second loss is reported again", async () => {
  const place = await open();
  const { store, reports } = place;
  await store.heartbeat("w1", termMs);
  for (let i = 1; i <= 2; i++) {
    const goBack = await snapshot(place);
    await store.heartbeat("w1", termMs);
    await goBack();
    await store.heartbeat("w1", termMs);
    expect(rollbacks(reports)).toHaveLength(i);
  }
});

test("rows of processes that are gone are cleaned up, and a process that slept for so long reports nothing", async () => {
  const { store, clock, reports, connection } = await open();
  await store.heartbeat("w1", termMs);
  const sweep = () => store.sweep({ max: 10, repair: false });
  clock.advance(heartbeatKeptMs);
  await sweep();
  expect(await connection.all("select counter from heartbeats")).toHaveLength(1);
  clock.advance(1_000);
  await sweep();
  expect(await connection.all("select counter from heartbeats")).toEqual([]);
  await store.heartbeat("w2", termMs);
  expect(reports).toEqual([]);
  expect(await connection.all("select counter from heartbeats")).toEqual([]);
  await store.heartbeat("w2", termMs);
  expect(await connection.all("select counter from heartbeats")).toEqual([{ counter: 1 }]);
});

test("of acknowledged ids those are missing that are not stored, or not ended", async () => {
  const { world, store } = await open();
  await world.ingest([newEvent("e1")], [startPair("r1")]);
  await world.startLeased("r2");
  await world.advance("r2", { next: end("completed") });
  expect(await store.shared!.history!.missing(env, { events: ["e1", "e9"], runs: ["r1", "r2", "r9"] })).toEqual({
    events: ["e9"],
    runs: ["r1", "r9"],
  });
  expect(await store.shared!.history!.missing(env, { events: [], runs: [] })).toEqual({ events: [], runs: [] });
});

test("a server that was started anew, or another one, is reported once", async () => {
  const clock = new ManualClock();
  const { history, reports } = watched(clock);
  for (const started of [1, 1, 2, 2]) history.see({ server: started, isFollowed: false });
  expect(reports).toEqual([{ kind: "server-changed", server: "server started 1970-01-01T00:00:00.002Z" }]);
});

test("commits that no longer wait for a standby, and those that do again, are logged once, when all sessions agree", async () => {
  const clock = new ManualClock();
  const { history, reports, written } = watched(clock);
  const see = (isFollowed: boolean) => history.see({ server: 1, isFollowed });
  see(true);
  see(false);
  clock.advance(1_000);
  // A session that has not heard of the new setting.
  see(true);
  see(false);
  clock.advance(1_999);
  see(false);
  expect(reports).toEqual([]);
  clock.advance(1);
  see(false);
  see(false);
  expect(reports).toMatchObject([{ kind: "notice", level: "warn", text: expect.stringContaining("is empty now") }]);
  see(true);
  clock.advance(2_000);
  see(true);
  expect(reports).toMatchObject([{}, { kind: "notice", level: "info", text: expect.stringContaining("is set now") }]);
  expect(written).toHaveLength(2);
});

function watched(clock: ManualClock) {
  const reports: HistoryReport[] = [];
  const written: unknown[] = [];
  const history = new PostgresHistory({
    platform: clock,
    connection: null as never,
    untilKnown: (attempt) => attempt(),
    write: async (body) => void written.push(body),
  });
  history.subscribe((report) => reports.push(report));
  return { history, reports, written };
}
