// A client reads over HTTP what it would read from the store itself.

import { expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { startServer } from "../server/start-server.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { Idem } from "./client.ts";
import { inside } from "./inside.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** A history in a store, read by a client that has the store and by one that has only a server's address. */
async function twoReaders() {
  const store = new MemoryStore(nodePlatform);
  const here = new Idem({ id: "shop", store, logger: quiet });
  const define = (idem: Idem) => {
    idem.createFunction({ id: "ok", idempotency: "event.data.k" }, { event: "test/go" }, async ({ step }) => {
      await step.run("small", () => 1);
      await step.run("large", () => "x".repeat(100_000));
      return { long: "y".repeat(200) };
    });
    idem.createFunction({ id: "bad", retries: 0 }, { event: "test/go" }, () => {
      throw new Error("no luck");
    });
  };
  define(here);
  await here.start();
  const sent = await here.send({ id: "first", name: "test/go", data: { k: 7 } });
  await here.send({ id: "first", name: "test/go", data: { k: 7, more: true } });
  await here.send({ name: "test/go", data: { k: 7 } });
  for (const { runId } of sent.decisions) await here.runs.wait(runId!);
  const server = await startServer({ port: 0, discovery: false, poll: false }, { store, logger: quiet });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await here.stop();
  });
  const there = new Idem({ id: "shop", server: server.origin });
  define(there);
  const runOf = (fn: string) => sent.decisions.find((decision) => decision.function === fn)!.runId!;
  return { here, there, sent, runOf };
}

test("runs, events and their stories are the same, read from the store or from a server", async () => {
  const { here, there, sent, runOf } = await twoReaders();
  for (const fn of ["ok", "bad"]) {
    expect(await there.runs.get(runOf(fn))).toEqual(await here.runs.get(runOf(fn)));
    expect(await there.runs.wait(runOf(fn))).toEqual(await here.runs.wait(runOf(fn)));
    expect(await there.explain(runOf(fn))).toMatchObject({
      kind: "run",
      run: await here.runs.get(runOf(fn)).then(withoutTimeline),
    });
  }
  expect(await there.runs.list()).toEqual(await here.runs.list());
  expect(await there.runs.list({ function: "ok", state: "completed", limit: 1 })).toEqual(
    await here.runs.list({ function: "ok", state: "completed", limit: 1 }),
  );
  const [eventId] = sent.ids;
  expect(await there.events.get(eventId!)).toEqual(await here.events.get(eventId!));
  expect(await there.events.get("first")).toEqual(await here.events.get("first"));
  expect(await there.events.list({ name: "test/go" })).toEqual(await here.events.list({ name: "test/go" }));
  const [story, same] = [await there.explain(eventId!), await here.explain(eventId!)];
  expect(story).toEqual(same);
  const key = { function: "ok", key: 7 };
  expect(await there.explain(key)).toEqual(await here.explain(key));
  expect(await there[inside].tell({ q: "first" })).toEqual(await here[inside].tell({ q: "first" }));
});

test("a batch, what waits to be decided, and functions with limits are the same, read from the store or from a server", async () => {
  const store = new MemoryStore(nodePlatform);
  const here = new Idem({ id: "shop", store, logger: quiet });
  const server = await startServer({ port: 0, discovery: false, poll: false }, { store, logger: quiet });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await here.stop();
  });
  const there = new Idem({ id: "shop", server: server.origin });
  for (const idem of [here, there]) {
    idem.createFunction({ id: "many", batchEvents: { maxSize: 2, timeout: "1h" } }, { event: "test/go" }, () => null);
    idem.createFunction(
      { id: "slow", concurrency: { limit: 1, key: "event.data.k" }, cancelOn: [{ event: "test/stop", timeout: "1h" }] },
      [{ event: "test/go" }, { cron: "0 9 * * 1", jitter: "1m", missed: { all: 3 } }],
      ({ step }) => step.sleep("long", "1d"),
    );
  }
  await here.start();
  const sent = await here.send([
    { name: "test/go", data: { k: 1 } },
    { name: "test/go", data: { k: "x".repeat(90_000) } },
  ]);
  const pending = await here.send({ name: "test/go", data: { k: 2 } });
  const batch = sent.decisions.find((decision) => decision.function === "many")!.runId!;
  await here.runs.wait(batch);
  const ids = [batch, sent.decisions.find((decision) => decision.function === "slow")!.runId!];
  for (const id of ids) {
    await expect.poll(async () => (await here.runs.get(id))!.state).not.toBe("running");
    expect(await there.runs.get(id)).toEqual(await here.runs.get(id));
  }
  expect((await there.runs.get(batch))!.events).toHaveLength(2);
  for (const id of [...ids, pending.ids[0]!]) {
    expect(await there.explain(id)).toEqual(await here.explain(id));
  }
  expect(await there.explain(pending.ids[0]!)).toMatchObject({ pending: [{ function: "many", buffer: { count: 1 } }] });
  expect(await there.functions.list()).toEqual(await here.functions.list());
  expect((await there.functions.list()).find(({ id }) => id === "slow")).toMatchObject({
    triggers: [{ event: "test/go" }, { cron: "0 9 * * 1", jitterMs: 60_000, missed: { kind: "all", max: 3 } }],
    flow: { concurrency: [{ limit: 1, key: "event.data.k", scope: "fn" }], cancelOn: [{ timeoutMs: 3_600_000 }] },
  });
});

test("what is not there is null, or the error the store's own client gives", async () => {
  const { there } = await twoReaders();
  expect(await there.runs.get("01NOBODY")).toBeNull();
  expect(await there.events.get("01NOBODY")).toBeNull();
  await expect(there.runs.wait("01NOBODY")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  await expect(there.runs.cancel("01NOBODY")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  await expect(there.explain("01NOBODY")).rejects.toMatchObject({ code: "SUBJECT_UNKNOWN" });
});

test("a run can be cancelled and rerun over HTTP", async () => {
  const { here, there, runOf } = await twoReaders();
  expect(await there.runs.cancel(runOf("ok"))).toEqual({ cancelled: false });
  const { runId } = await there.runs.rerun(runOf("ok"));
  expect(await here.runs.get(runId)).toMatchObject({ rerunOf: runOf("ok") });
});

test("what is said beside an id is heard over HTTP as in the store: where an event is looked for, and who asks is the server's to say", async () => {
  const { here, there, runOf } = await twoReaders();
  for (const scope of ["event", "webhook"] as const) {
    expect(await there.events.get("first", { scope })).toEqual(await here.events.get("first", { scope }));
  }
  expect(await there.events.get("first", { scope: "webhook" })).toBe(null);
  const { runId } = await there.runs.rerun(runOf("ok"), { actor: "ada", fromStep: "large" });
  expect(await here.runs.get(runId)).toMatchObject({ rerunFrom: { name: "large", keptCount: 1 } });
  await there.functions.pause("ok", { actor: "ada", reason: "wrong price" });
  expect(await there.functions.resume("ok", { actor: "ada" })).toEqual({ changed: true, decided: 0 });
});

const withoutTimeline = (run: any) => {
  const { timeline: _, events: _events, line: _line, cancelOn: _cancelOn, ...rest } = run;
  return rest;
};
