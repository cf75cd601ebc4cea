// The store in its thread, on a real file and the real clock: group commit, bounds, and what happens when the thread goes.
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileIdentity } from "../../platform/node-files.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform, Thread } from "../../platform/platform.ts";
import { newEvent } from "../contract/world.ts";
import type { IngestInput } from "../ingest.ts";
import type { Store } from "../store.ts";
import { BatchTurns } from "./batch-turns.ts";
import type { Call } from "./calls.ts";
import { SqliteCore } from "./core.ts";
import { FileWatch } from "./file-watch.ts";
import { loadMigrations } from "./migrations.ts";
import { PageReader } from "./page-reader.ts";
import type { FromThread } from "./thread-messages.ts";
import { openThreadStore } from "./thread-store.ts";
import { noLeaseList, packCall } from "./wire.ts";

let folder: string;
let path: string;
let posted: { kind: string; file: string; name?: string; calls?: readonly unknown[] }[];
/** The number of calls of each. */
let commits: number[];
let threads: Thread[];
/** What they run. */
let files: string[];
let stores: Store[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-thread-"));
  path = join(folder, "a.db");
  posted = [];
  commits = [];
  threads = [];
  files = [];
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The real machine, with what is posted to threads written down. */
const watched: Platform = {
  ...nodePlatform,
  startThread: (file, input) => {
    const thread = nodePlatform.startThread(file, input);
    threads.push(thread);
    files.push(file);
    return {
      ...thread,
      post: (message) => {
        posted.push({ ...(message as { kind: string }), file });
        thread.post(message);
      },
    };
  },
};

async function open(more: { readerAfterMs?: number } = {}): Promise<Store> {
  const onCommit = (calls: number) => commits.push(calls);
  const store = await openThreadStore({ path, owner: "test", platform: watched, onCommit, ...more });
  stores.push(store);
  return store;
}

const ingest = (...ids: string[]): IngestInput => ({
  env: "default",
  registration: null,
  events: ids.map((id) => newEvent(id)),
  pairs: [],
  leaseTo: null,
});

/** A thread that is there, and answers when it is told to, all in one turn. */
function openFakeThread() {
  let take: (message: unknown) => void = () => {};
  const asked: unknown[] = [];
  const thread: Thread = {
    post: (message) => asked.push(...((message as { calls?: readonly unknown[] }).calls ?? [])),
    onMessage: (heard) => {
      take = heard as (message: unknown) => void;
      nodePlatform.soon(() => take({ kind: "open", answer: { ok: true, value: null } }));
    },
    onEnd: () => {},
    terminate: () => Promise.resolve(),
    ref: () => {},
  };
  const answer = (count: number) =>
    take({ kind: "committed", answers: Array.from({ length: count }, () => ({ ok: true, value: null })) });
  return { platform: { ...nodePlatform, startThread: () => thread }, asked, answer };
}

const nothingToSweep = (store: Store) => store.sweep({ max: 0, repair: false });

const turn = () => new Promise<void>((resolve) => nodePlatform.soon(resolve));

async function turnsUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe("group commit", () => {
  test("what arrives while a commit is syncing shares the next one, and every call gets its own answer", async () => {
    const store = await open();
    const ids = Array.from({ length: 250 }, (_, i) => `e${i}`);
    const answers = await Promise.all(ids.map((id) => store.ingest(ingest(id))));
    expect(answers.map((answer) => answer.kind === "ingested" && answer.events[0]?.id)).toEqual(ids);
    expect(commits.length).toBeLessThan(10);
    expect(sum(commits)).toBe(250);
  });

  test("calls are posted whether or not the commit before them is answered", async () => {
    const { platform, asked, answer } = openFakeThread();
    const store = await openThreadStore({ path, owner: "test", platform });
    const calls = [nothingToSweep(store), nothingToSweep(store)];
    await turnsUntil(() => asked.length === 2);
    calls.push(nothingToSweep(store));
    await turnsUntil(() => asked.length === 3);
    answer(2);
    await Promise.all(calls.slice(0, 2));
    answer(1);
    await Promise.all(calls);
  });

  test("whatever has arrived when a commit is done becomes the next one, up to its bound", () => {
    const soon: (() => void)[] = [];
    const answered: FromThread[] = [];
    const clock = { wallMs: () => 1_000, monoMs: () => 1_000 };
    const core = new SqliteCore({ path, migrations: loadMigrations(), clock, owner: "test" });
    const turns = new BatchTurns({
      core,
      path,
      patience: null,
      clock,
      timer: () => ({ cancel: () => {} }),
      soon: (run) => soon.push(run),
      post: (message) => answered.push(message),
      end: () => {},
    });
    const leased = noLeaseList();
    const post = (count: number) => {
      const call: Call = { name: "sweep", input: [{ max: 0, repair: false }] };
      turns.take({ kind: "commit", calls: Array.from({ length: count }, () => packCall(call, leased)) });
    };
    post(1);
    post(2);
    expect(soon).toHaveLength(1);
    soon.shift()!();
    post(299);
    post(4);
    // One turn was planned with the first of them, and one follows the bound.
    while (soon.length > 0) soon.shift()!();
    turns.take({ kind: "close" });
    const counts = answered.map((message) => (message.kind === "committed" ? message.answers.length : message.kind));
    expect(counts).toEqual([3, 300, 3, "closed"]);
  });

  test("while the thread answers without a pause, timers and sockets get their turn between two portions of answers", async () => {
    const { platform, asked, answer } = openFakeThread();
    const store = await openThreadStore({ path, owner: "test", platform });
    let handedOut = 0;
    const calls = Array.from({ length: 200 }, () => nothingToSweep(store).then(() => handedOut++));
    await turnsUntil(() => asked.length === 200);
    for (let message = 0; message < 4; message++) answer(50);
    const seen: number[] = [];
    await turnsUntil(() => seen.push(handedOut) > 0 && handedOut === 200);
    await Promise.all(calls);
    expect(seen[0]).toBe(0);
    expect(new Set(seen).size).toBeGreaterThan(4);
  });

  test("a batch is bounded, so that a flood does not become one endless commit", async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => store.ingest(ingest(`e${i}`))));
    expect(sum(commits)).toBe(1_000);
    expect(Math.max(...commits)).toBeLessThanOrEqual(300);
    expect(Math.max(...posted.map(({ calls }) => calls!.length))).toBeLessThanOrEqual(600);
  });

  test("calls of one caller take effect in the order they were made", async () => {
    const store = await open();
    const claim = (token: string) =>
      store.claim({ env: "e", scope: "s", key: "k", token, fingerprint: null, leaseMs: 1_000, windowMs: 60_000 });
    const answers = await Promise.all([claim("first"), claim("second"), claim("third")]);
    expect(answers.map((answer) => answer.kind)).toEqual(["fresh", "in-flight", "in-flight"]);
  });

  test("a call that fails is answered with its error while the others of its batch are stored", async () => {
    const store = await open();
    const [good, bad, other] = await Promise.allSettled([
      store.ingest(ingest("a")),
      store.heartbeat(null as unknown as string, 1_000),
      store.ingest(ingest("b")),
    ]);
    expect([good.status, bad.status, other.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.reads.events("default", { limit: 10 })).map((event) => event.id)).toEqual(["b", "a"]);
  });
});

describe("reads next to commits", () => {
  /** Batches whose reads take a millisecond each, on a clock that only they move. */
  function openTurns() {
    const soon: (() => void)[] = [];
    const order: string[] = [];
    let mono = 1_000;
    const clock = { wallMs: () => 1_000, monoMs: () => mono };
    const core = new SqliteCore({ path, migrations: loadMigrations(), clock, owner: "test" });
    core.read = () => {
      mono += 1;
      return null;
    };
    const turns = new BatchTurns({
      core,
      path,
      patience: null,
      clock,
      timer: () => ({ cancel: () => {} }),
      soon: (run) => soon.push(run),
      post: ({ kind }) => order.push(kind),
      end: () => {},
    });
    let ids = 0;
    const read = () => turns.take({ kind: "read", id: ++ids, name: "eventPage", input: [] });
    const leased = noLeaseList();
    const commit = () => {
      const call: Call = { name: "sweep", input: [{ max: 0, repair: false }] };
      turns.take({ kind: "commit", calls: [packCall(call, leased)] });
    };
    const run = () => {
      for (let next = soon.shift(); next !== undefined; next = soon.shift()) next();
    };
    return { turns, order, read, commit, run, soon };
  }

  const readsBefore = (order: readonly string[], what: string) =>
    order.slice(0, order.indexOf(what)).filter((kind) => kind === "read").length;

  test("a waiting commit goes first after 5 ms of reads, however many reads have arrived before and after it", () => {
    const { order, read, commit, run, turns } = openTurns();
    for (let n = 0; n < 100; n++) read();
    commit();
    for (let n = 0; n < 100; n++) read();
    run();
    turns.take({ kind: "close" });
    expect(readsBefore(order, "committed")).toBe(5);
    expect(order.filter((kind) => kind === "read")).toHaveLength(200);
  });

  test("a reader that never stops leaves every commit its turn: no more than 5 ms of reads between two of them", () => {
    const { order, read, commit, soon } = openTurns();
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 50; n++) read();
      commit();
      soon.shift()!();
    }
    const [, ...between] = order.join(" ").split("committed");
    expect(between).toHaveLength(20);
    for (const reads of between.slice(0, -1)) expect(reads.trim().split(" ").length).toBeLessThanOrEqual(5);
    expect(readsBefore(order, "committed")).toBe(5);
  });

  test("reads that look at many rows have a thread and a handle of their own, and see every commit that was acknowledged before", async () => {
    const store = await open({ readerAfterMs: 0 });
    await turnsUntil(() => files.length === 2);
    const apart = () => posted.filter(({ file, kind }) => file === "store/sqlite/read-thread.cjs" && kind === "read");
    // Until it is open the other thread answers.
    while (apart().length === 0) await store.reads.events("default", { limit: 1 });
    const before = apart().length;
    for (let n = 0; n < 100; n++) {
      await store.ingest(ingest(`e${String(n).padStart(3, "0")}`));
      const [newest] = (await store.reads.eventPage("default", { limit: 1, examinedMax: 10 })).rows;
      expect(newest?.id).toBe(`e${String(n).padStart(3, "0")}`);
    }
    expect(apart().length - before).toBe(100);
    await store.reads.event("default", "e000");
    expect(posted.at(-1)).toMatchObject({ file: "store/sqlite/thread.cjs", kind: "read", name: "event" });
  });

  test("a program that looks at few rows has one thread", async () => {
    const store = await open({ readerAfterMs: 60_000 });
    await store.ingest(ingest("a"));
    for (let n = 0; n < 10; n++) await store.reads.events("default", { limit: 1 });
    expect(files).toEqual(["store/sqlite/thread.cjs"]);
  });

  test("long reads are answered when their thread is lost, by the owner's", async () => {
    const store = await open({ readerAfterMs: 0 });
    await store.ingest(ingest("a"));
    await turnsUntil(() => files.length === 2);
    while (posted.at(-1)?.file !== "store/sqlite/read-thread.cjs") await store.reads.events("default", { limit: 1 });
    const reads = Array.from({ length: 20 }, () => store.reads.events("default", { limit: 5 }));
    await threads[1]!.terminate();
    const found = await Promise.all([...reads, store.reads.events("default", { limit: 5 })]);
    expect(found.map((events) => events.map(({ id }) => id))).toEqual(Array.from({ length: 21 }, () => ["a"]));
    await store.ingest(ingest("b"));
  });

  test("the owner's handle is the last to let go of the file: no log is left", async () => {
    const store = await open({ readerAfterMs: 0 });
    await store.ingest(ingest("a"));
    await turnsUntil(() => files.length === 2);
    while (posted.at(-1)?.file !== "store/sqlite/read-thread.cjs") await store.reads.events("default", { limit: 1 });
    const [events] = await Promise.all([store.reads.events("default", { limit: 5 }), store.close()]);
    expect(events.map(({ id }) => id)).toEqual(["a"]);
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  });

  test("a second handle never reads another file than the owner's", async () => {
    const core = new SqliteCore({ path, migrations: loadMigrations(), clock: nodePlatform, owner: "test" });
    const files = new FileWatch(core.path, fileIdentity).files;
    expect(files).toHaveLength(3);
    const reader = new PageReader({ path: core.path, files, rollback: null }, nodePlatform, fileIdentity);
    core.commit([{ name: "ingest", input: [ingest("a")] }]);
    expect(reader.read("events", ["default", { limit: 5 }])).toMatchObject([{ id: "a" }]);
    reader.close();
    for (const { path: replaced } of files) {
      const open = () =>
        new PageReader({ path: core.path, files, rollback: null }, nodePlatform, (file) =>
          file === replaced ? "another" : fileIdentity(file),
        );
      expect(open).toThrow(/STORE_UNAVAILABLE/);
    }
    core.close();
  });
});

describe("bounds", () => {
  test("past the bound of waiting calls the surplus is refused before it is accepted, and nothing accepted is lost", async () => {
    const store = await open();
    const results = await Promise.allSettled(
      Array.from({ length: 11_000 }, (_, i) => store.ingest(ingest(`e${String(i).padStart(5, "0")}`))),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toMatchObject({ code: "STORE_BUSY" });
    const stored: string[] = [];
    for (let before: string | undefined; ; before = stored.at(-1)) {
      const page = await store.reads.events("default", { limit: 1_000, ...(before === undefined ? {} : { before }) });
      stored.push(...page.map((event) => event.id));
      if (page.length < 1_000) break;
    }
    expect(stored).toHaveLength(11_000 - refused.length);
  });

  test("no more than a bounded number of characters is with the thread at once, however slow it is", async () => {
    const { platform, asked, answer } = openFakeThread();
    const store = await openThreadStore({ path, owner: "test", platform });
    const data = JSON.stringify("x".repeat(20 * 1024 * 1024));
    const large = (id: string) => store.ingest({ ...ingest(), events: [{ ...newEvent(id), data }] });
    const calls: Promise<unknown>[] = [];
    // Each in a turn of its own. The third is over the bound with those before it, the fifth over that of what waits.
    for (const [id, posted] of [
      ["a", 1],
      ["b", 2],
      ["c", 2],
      ["d", 2],
    ] as const) {
      calls.push(large(id));
      await turnsUntil(() => asked.length >= posted);
      await turn();
      await turn();
    }
    await expect(large("e")).rejects.toMatchObject({ code: "STORE_BUSY" });
    expect(asked).toHaveLength(2);
    answer(1);
    await calls[0];
    await turnsUntil(() => asked.length === 4);
    answer(3);
    await Promise.all(calls);
  });

  test("the write-ahead log stays bounded however much is written", async () => {
    const store = await open();
    const data = JSON.stringify({ text: "x".repeat(20_000) });
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          store.ingest({ ...ingest(), events: [{ ...newEvent(`r${round}-${i}`), data }] }),
        ),
      );
    }
    // 80 MB of events went through it.
    expect(statSync(path).size).toBeGreaterThan(64 * 1024 * 1024);
    expect(statSync(`${path}-wal`).size).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("endings", () => {
  test("close waits for what was begun", async () => {
    const store = await open();
    const sends = Array.from({ length: 50 }, (_, i) => store.ingest(ingest(`e${i}`)));
    await store.close();
    expect((await Promise.all(sends)).every((answer) => answer.kind === "ingested")).toBe(true);
  });

  test("after close every call is refused with a reason", async () => {
    const store = await open();
    await store.close();
    await expect(store.ingest(ingest("a"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(store.reads.event("default", "a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("when the thread dies, no call is left hanging, and what was acknowledged is there for the next owner", async () => {
    const store = await open();
    const acknowledged: string[] = [];
    const calls = Array.from({ length: 2_000 }, (_, i) => `e${String(i).padStart(4, "0")}`).map((id) =>
      store.ingest(ingest(id)).then(() => acknowledged.push(id)),
    );
    await calls[400];
    await threads[0]!.terminate();
    const results = await Promise.allSettled(calls);
    expect(results.some((result) => result.status === "rejected")).toBe(true);
    const next = await open();
    for (const id of acknowledged) expect((await next.reads.event("default", id))?.id).toBe(id);
  });

  test("a file that is not a store is refused and left alone", async () => {
    const { writeFileSync, readFileSync } = await import("node:fs");
    writeFileSync(path, "not a database, but somebody's notes ".repeat(100));
    await expect(openThreadStore({ path, owner: "test", platform: nodePlatform })).rejects.toThrow(/not a database/);
    expect(readFileSync(path, "utf8")).toContain("somebody's notes");
  });
});

test("a file that was replaced by an older copy is reported to the process that opens it, once", async () => {
  const troubles: { readonly level: string; readonly kind: string; readonly text: string }[] = [];
  const use = async (id: string) => {
    const store = await openThreadStore({
      path,
      owner: "test",
      platform: nodePlatform,
      onTrouble: (trouble) => troubles.push(trouble),
    });
    await store.ingest({ env: "default", registration: null, events: [newEvent(id)], pairs: [], leaseTo: null });
    await store.close();
  };
  await use("e1");
  copyFileSync(path, `${path}.old`);
  await use("e2");
  expect(troubles).toEqual([]);
  copyFileSync(`${path}.old`, path);
  await use("e3");
  await use("e4");
  const text = expect.stringContaining("was replaced by an older copy");
  expect(troubles).toMatchObject([{ level: "error", kind: "rolled-back", text }]);
});
