import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../../../platform/manual-platform.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { Platform } from "../../../platform/platform.ts";
import { Idem } from "../../../sdk/client.ts";
import { MemoryStore } from "../../../store/memory/store.ts";
import type { Store } from "../../../store/store.ts";
import { type PostgresDatabase, postgresDatabase } from "../../../testing/shared-postgres.suite.ts";
import { keyReader } from "./key-reader.ts";
import { type RunBackedOptions, runBacked } from "./run-backed.ts";
import { ask, deferred } from "./shop.suite.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface World {
  readonly idem: Idem;
  readonly platform: Platform;
  /** Another process, which answers requests and executes nothing. */
  web(): Idem;
}

function worldOn(store: Store | string, platform: Platform): World {
  const client = () => {
    const made = new Idem({ id: "shop", store, platform, logger: silent });
    onTestFinished(() => made.stop());
    return made;
  };
  return { idem: client(), platform, web: client };
}

const readerOf = (platform: Platform) =>
  keyReader({ principal: (request) => request.headers.get("x-account") ?? "", platform, logger: silent });

const options: Omit<RunBackedOptions<{ item: string }>, "function"> = {
  event: (input) => ({ name: "order/placed", data: input }),
  toResponse: ({ state, output }) =>
    state === "completed" ? Response.json(output, { status: 201 }) : Response.json({ state }, { status: 502 }),
};

describe("run-backed", () => {
  let server: PostgresDatabase;
  let schemas = 0;
  beforeAll(async () => {
    server = await postgresDatabase();
  });
  afterAll(async () => {
    await server.remove();
  });
  const open: Record<string, () => World> = {
    "in memory": () => worldOn(new MemoryStore(nodePlatform), nodePlatform),
    "on SQLite": () => {
      const folder = mkdtempSync(join(tmpdir(), "idem-run-backed-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return worldOn(`sqlite:${join(folder, "idem.db")}`, nodePlatform);
    },
    "on PostgreSQL": () => worldOn(`${server.url}?schema=idem${++schemas}`, nodePlatform),
  };

  describe.each(Object.keys(open))("%s", (where) => {
    test("concurrent and later duplicates attach to one run and get its answer; another body is refused at once", async () => {
      const { idem, platform } = open[where]!();
      const goOn = deferred();
      let runs = 0;
      const fn = idem.createFunction({ id: "place" }, { event: "order/placed" }, async ({ event, step }) => {
        const item = await step.run("write", async () => {
          runs++;
          await goOn.promise;
          return event.data.item as string;
        });
        return { item };
      });
      await idem.start();
      const handler = runBacked(readerOf(platform), idem, { ...options, function: fn });
      const asked = Array.from({ length: 8 }, () => ask(handler));
      while (runs === 0) await new Promise<void>((resolve) => platform.soon(resolve));
      // While the first is at work.
      expect(await ask(handler, { body: { item: "milk" } })).toMatchObject({ status: 422 });
      goOn.resolve();
      const told = await Promise.all(asked);
      expect(told.map(({ status, body }) => [status, body])).toEqual(Array(8).fill([201, { item: "tea" }]));
      expect(told.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await ask(handler)).toMatchObject({ status: 201, replayed: true, body: { item: "tea" } });
      expect(await ask(handler, { body: { item: "milk" } })).toMatchObject({ status: 422, body: { retryable: false } });
      expect(await ask(handler, { as: "bob" })).toMatchObject({ status: 201, replayed: false });
      expect(runs).toBe(2);
    });
  });
});

test("a run that outlives the wait is 202 with its place, and a retry attaches again", async () => {
  const platform = new ManualPlatform();
  const { idem } = worldOn(new MemoryStore(platform), platform);
  const goOn = deferred();
  const fn = idem.createFunction({ id: "place" }, { event: "order/placed" }, async () => {
    await goOn.promise;
    return "done";
  });
  await idem.start();
  const handler = runBacked(readerOf(platform), idem, {
    ...options,
    function: fn,
    maxWait: "3s",
    location: (runId) => `/imports/${runId}`,
  });
  const turns = async () => {
    for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => platform.soon(resolve));
  };
  const first = ask(handler);
  await turns();
  await platform.advance(3_000, turns);
  const told = await first;
  expect(told).toMatchObject({ status: 202, body: { state: "accepted" } });
  expect(told.headers.get("location")).toBe(`/imports/${told.body.run}`);
  expect(told.headers.get("retry-after")).toBe("5");
  const retry = ask(handler);
  await turns();
  goOn.resolve();
  expect(await retry).toMatchObject({ status: 201, body: "done", replayed: true });
  expect(await idem.runs.list()).toHaveLength(1);
});

test("a web process that goes away loses nothing: the run goes on, and the retry elsewhere gets its answer", async () => {
  const platform = new ManualPlatform();
  const { idem } = worldOn(new MemoryStore(platform), platform);
  const goOn = deferred();
  const fn = idem.createFunction({ id: "place" }, { event: "order/placed" }, async () => {
    await goOn.promise;
    return { done: true };
  });
  await idem.start();
  const handler = runBacked(readerOf(platform), idem, { ...options, function: fn });
  const gone = new AbortController();
  const first = ask(handler, { signal: gone.signal });
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => platform.soon(resolve));
  gone.abort();
  expect(await first).toMatchObject({ status: 202 });
  goOn.resolve();
  const other = runBacked(readerOf(platform), idem, { ...options, function: "place" });
  expect(await ask(other)).toMatchObject({ status: 201, replayed: true });
  expect(await idem.runs.list()).toHaveLength(1);
});

test("a failed run is an answer, too: a retry hears of it and starts nothing", async () => {
  const platform = new ManualPlatform();
  const { idem } = worldOn(new MemoryStore(platform), platform);
  const fn = idem.createFunction({ id: "place", retries: 0 }, { event: "order/placed" }, async () => {
    throw new Error("no stock");
  });
  await idem.start();
  const handler = runBacked(readerOf(platform), idem, { ...options, function: fn });
  expect(await ask(handler)).toMatchObject({ status: 502, body: { state: "failed" } });
  expect(await ask(handler)).toMatchObject({ status: 502, replayed: true });
  expect(await idem.runs.list()).toHaveLength(1);
});

test("what the author's event adds by itself does not make a retry another request", async () => {
  const platform = new ManualPlatform();
  const { idem } = worldOn(new MemoryStore(platform), platform);
  let asked = 0;
  const fn = idem.createFunction({ id: "place" }, { event: "order/placed" }, async ({ event }) => event.data.asked);
  await idem.start();
  const handler = runBacked<{ item: string }>(readerOf(platform), idem, {
    ...options,
    function: fn,
    event: (input) => ({ name: "order/placed", data: { ...input, asked: ++asked } }),
  });
  expect(await ask(handler)).toMatchObject({ status: 201, body: 1 });
  expect(await ask(handler)).toMatchObject({ status: 201, body: 1, replayed: true });
});

test("where no run was started the caller is told so, and a paused function is 202", async () => {
  const platform = new ManualPlatform();
  const { idem } = worldOn(new MemoryStore(platform), platform);
  const fn = idem.createFunction(
    { id: "place" },
    { event: "order/placed", if: "event.data.item != 'poison'" },
    async () => "done",
  );
  await idem.start();
  const handler = runBacked(readerOf(platform), idem, { ...options, function: fn });
  expect(await ask(handler, { body: { item: "poison" } })).toMatchObject({ status: 409, body: { started: false } });
  await idem.functions.pause("place");
  expect(await ask(handler, { key: "k-2" })).toMatchObject({ status: 202, body: { run: null } });
  await idem.functions.resume("place", { waiting: "release" });
  expect(await ask(handler, { key: "k-2" })).toMatchObject({ status: 201, body: "done" });
  const stray = runBacked(readerOf(platform), idem, { ...options, function: "other" });
  await expect(ask(stray, { key: "k-3" })).rejects.toThrow("is not one that the function");
});

test("a function that has one run for several events cannot answer for a request", () => {
  const platform = new ManualPlatform();
  const { idem } = worldOn(new MemoryStore(platform), platform);
  const fn = idem.createFunction({ id: "place", debounce: { period: "1s" } }, { event: "order/placed" }, () => 1);
  expect(() => runBacked(readerOf(platform), idem, { ...options, function: fn })).toThrow("TOOLKIT_OPTION_INVALID");
});
