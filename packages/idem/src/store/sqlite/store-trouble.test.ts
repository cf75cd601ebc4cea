// A file that others lock, a disk that is full or fails, a file that is deleted: on a real file, with the store in its thread.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { nodePlatform } from "../../platform/node-platform.ts";
import { newEvent } from "../contract/world.ts";
import type { IngestInput } from "../ingest.ts";
import type { Store } from "../store.ts";
import { type Handle, sqliteDriver } from "./driver.ts";
import type { StoreTrouble } from "./store-trouble.ts";
import { openThreadStore, type ThreadStoreOptions } from "./thread-store.ts";
import { troubledPlatform } from "./troubled-platform.suite.ts";

let folder: string;
let path: string;
let told: StoreTrouble[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-trouble-"));
  // Registered first, so done last: a store that is still open would rescue itself from it into the system's temporary folder.
  const mine = folder;
  onTestFinished(() => rmSync(mine, { recursive: true, force: true }));
  mkdirSync(join(folder, "store"));
  path = join(folder, "store", "a.db");
  told = [];
});

async function open(options: Partial<ThreadStoreOptions> = {}): Promise<Store> {
  const onTrouble = (trouble: StoreTrouble) => void told.push(trouble);
  const store = await openThreadStore({ path, owner: "test", platform: nodePlatform, onTrouble, ...options });
  onTestFinished(() => store.close());
  return store;
}

const ingest = (id: string, data = "{}"): IngestInput => ({
  env: "default",
  registration: null,
  events: [{ ...newEvent(id), data }],
  pairs: [],
  leaseTo: null,
});

const idsIn = (file: string): string[] => {
  const db = sqliteDriver().open(file, { readonly: true, busyMs: 5_000 });
  try {
    return (db.prepare("select id from events order by id").all() as { id: string }[]).map(({ id }) => id);
  } finally {
    db.close();
  }
};

/** Somebody else's handle on the file. */
function tool(): Handle {
  const db = sqliteDriver().open(path, { readonly: false, busyMs: 10_000 });
  onTestFinished(() => void db.close());
  return db;
}

const untilTold = (kind: StoreTrouble["kind"]) =>
  expect.poll(() => told.map((trouble) => trouble.kind)).toContain(kind);
const impatient = { waitMsMax: 150, tellAfterMs: 50 };
/** Tells of trouble when it has lasted for long enough that a batch was refused more than once. */
const patient = { waitMsMax: 60_000, tellAfterMs: 50 };

describe("a file that another program locks", () => {
  test("is waited for: what was asked meanwhile is stored once the lock is gone, and nobody was told of an error", async () => {
    const store = await open({ patience: patient });
    const other = tool();
    other.exec("begin immediate");
    const asked = ["a", "b", "c"].map((id) => store.ingest(ingest(id)));
    await untilTold("locked");
    other.exec("rollback");
    for (const answer of await Promise.all(asked)) expect(answer.kind).toBe("ingested");
    expect(idsIn(path)).toEqual(["a", "b", "c"]);
  });

  test("for long answers its calls with a true error: nothing of them is stored, and the store goes on when it is over", async () => {
    const store = await open({ patience: impatient });
    const other = tool();
    other.exec("begin immediate");
    await expect(store.ingest(ingest("a"))).rejects.toMatchObject({ code: "STORE_LOCKED", retry: "later" });
    // Reads go on meanwhile, and a call made now does not wait all over again.
    expect(await store.reads.event("default", "a")).toBeNull();
    await expect(store.ingest(ingest("b"))).rejects.toMatchObject({ code: "STORE_LOCKED" });
    other.exec("rollback");
    expect((await store.ingest(ingest("c"))).kind).toBe("ingested");
    expect(idsIn(path)).toEqual(["c"]);
  });

  test("is told to a person once, and once more when it is over", async () => {
    const store = await open({ patience: impatient });
    const other = tool();
    other.exec("begin immediate");
    for (const id of ["a", "b", "c"])
      await expect(store.ingest(ingest(id))).rejects.toMatchObject({ code: "STORE_LOCKED" });
    other.exec("rollback");
    await store.ingest(ingest("d"));
    expect(told.map(({ kind, level }) => ({ kind, level }))).toEqual([
      { kind: "locked", level: "warn" },
      { kind: "over", level: "warn" },
    ]);
    expect(told[0]!.text).toContain(`kept the store ${path} locked`);
  });

  test("can be opened while it is", async () => {
    await (await open()).close();
    const other = tool();
    other.exec("begin immediate");
    // The thread that opens it waits inside SQLite and tells nobody. Were the lock gone too early, the test would prove less and still pass.
    setTimeout(() => other.exec("rollback"), 300);
    const store = await open();
    expect((await store.ingest(ingest("a"))).kind).toBe("ingested");
  });

  test("survives a curious person's checkpoint, also behind a reader", async () => {
    const store = await open();
    const other = tool();
    const reader = tool();
    await store.ingest(ingest("a"));
    reader.exec("begin");
    reader.prepare("select count(*) from events").get();
    other.exec("pragma busy_timeout = 300");
    const asked = Promise.all(Array.from({ length: 50 }, (_, i) => store.ingest(ingest(`e${i}`))));
    other.exec("pragma wal_checkpoint(TRUNCATE)");
    await asked;
    reader.exec("commit");
    other.exec("pragma wal_checkpoint(TRUNCATE)");
    await store.ingest(ingest("z"));
    expect(idsIn(path)).toHaveLength(52);
  });

  test("is closed in time all the same", async () => {
    const store = await open({ patience: impatient });
    const other = tool();
    other.exec("begin immediate");
    const asked = store.ingest(ingest("a")).catch((error) => error.code);
    await store.close();
    expect(await asked).toBe("STORE_LOCKED");
    other.exec("rollback");
    expect((await (await open()).ingest(ingest("b"))).kind).toBe("ingested");
  });
});

describe("a disk that is full", () => {
  const large = JSON.stringify({ text: "x".repeat(200_000) });

  test("answers with a true error: nothing is stored, and the store goes on once there is room", async () => {
    const { platform, setFault } = troubledPlatform();
    const store = await open({ platform, patience: impatient });
    await store.ingest(ingest("a", large));
    setFault("full");
    await expect(store.ingest(ingest("b", large))).rejects.toMatchObject({ code: "STORE_FULL", retry: "later" });
    setFault("none");
    expect((await store.ingest(ingest("c", large))).kind).toBe("ingested");
    expect(idsIn(path)).toEqual(["a", "c"]);
    expect(told.map(({ kind }) => kind)).toEqual(["full", "over"]);
  });

  test("for a moment is not noticed by whoever called", async () => {
    const { platform, setFault } = troubledPlatform();
    const store = await open({ platform, patience: patient });
    setFault("full");
    const asked = store.ingest(ingest("a", large));
    await untilTold("full");
    setFault("none");
    expect((await asked).kind).toBe("ingested");
  });
});

describe("a disk that refuses a write", () => {
  test("leaves the outcome unknown, which is what its calls are told, and the store goes on when it takes writes again", async () => {
    const { platform, setFault } = troubledPlatform();
    const store = await open({ platform, patience: impatient });
    setFault("write");
    await expect(store.ingest(ingest("a"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    setFault("none");
    expect((await store.ingest(ingest("a"))).kind).toBe("ingested");
  });
});

describe("a failed sync", () => {
  test("ends the store, and once it is closed the same process can open it again with everything that was acknowledged", async () => {
    const { platform, setFault } = troubledPlatform();
    const store = await open({ platform });
    await store.ingest(ingest("a"));
    setFault("sync");
    await expect(store.ingest(ingest("b"))).rejects.toMatchObject({ code: "STORE_BROKEN" });
    setFault("none");
    await expect(store.ingest(ingest("c"))).rejects.toMatchObject({ code: "STORE_BROKEN" });
    await expect(store.reads.event("default", "a")).rejects.toMatchObject({ code: "STORE_BROKEN" });
    expect(told.map(({ kind, level }) => ({ kind, level }))).toEqual([{ kind: "broken", level: "error" }]);
    await store.close();
    const next = await open();
    expect((await next.reads.event("default", "a"))?.id).toBe("a");
    expect((await next.ingest(ingest("c"))).kind).toBe("ingested");
  });
});

describe("a file that loses its name under its owner", () => {
  /** The copy that was made of it, once it is whole. */
  const rescued = async (): Promise<string> => {
    await untilTold("copied");
    const [, copy] = /acknowledged is in (\S+)\. /.exec(told.at(-1)!.text)!;
    return copy!;
  };
  const isRefused = async (store: Store) => {
    await untilTold("broken");
    await expect(store.ingest(ingest("late"))).rejects.toMatchObject({ code: "STORE_FILE_GONE" });
    await expect(store.reads.event("default", "a")).rejects.toMatchObject({ code: "STORE_FILE_GONE" });
  };

  const replaceWithNothing = () => {
    writeFileSync(`${path}.new`, "");
    renameSync(`${path}.new`, path);
  };
  const cases: [string, () => void][] = [
    ["deleted", () => rmSync(path)],
    ["replaced", () => replaceWithNothing()],
    ["moved", () => renameSync(path, `${path}.old`)],
    ["without its log", () => rmSync(`${path}-wal`)],
    ["without the index of its log", () => rmSync(`${path}-shm`)],
    ["in a folder that was renamed", () => renameSync(join(folder, "store"), join(folder, "elsewhere"))],
    ["deleted with its folder", () => rmSync(join(folder, "store"), { recursive: true })],
  ];
  test.each(cases)(
    "(%s) takes nothing any more, and everything acknowledged is in a copy that the log names",
    async (_, lose) => {
      const store = await open();
      await store.ingest(ingest("a"));
      lose();
      // Events answered before it was noticed are in the copy, too.
      const acknowledged = ["a"];
      for (let i = 0; i < 3; i++) {
        const id = `e${i}`;
        await store.ingest(ingest(id)).then(
          () => acknowledged.push(id),
          () => {},
        );
      }
      await isRefused(store);
      const copy = await rescued();
      onTestFinished(() => {
        for (const ending of ["", "-wal", "-shm"]) rmSync(`${copy}${ending}`, { force: true });
      });
      expect(idsIn(copy)).toEqual(expect.arrayContaining(acknowledged));
      await expect(store.ingest(ingest("later"))).rejects.toMatchObject({ message: expect.stringContaining(copy) });
    },
  );

  test("is noticed within seconds though nobody writes to it", async () => {
    await open();
    rmSync(path);
    await untilTold("broken");
    expect(told[0]!.text).toContain("its file was deleted or moved away");
  });

  test("is copied whole before the owner lets go of it, and can be put back and opened by the same process", async () => {
    const store = await open();
    const data = JSON.stringify({ text: "x".repeat(100_000) });
    for (let i = 0; i < 50; i++) await store.ingest(ingest(`e${String(i).padStart(2, "0")}`, data));
    rmSync(path);
    await untilTold("broken");
    await store.close();
    const copy = readdirSync(join(folder, "store")).find((name) => name.includes(".rescued-"))!;
    for (const name of readdirSync(join(folder, "store"))) if (name !== copy) rmSync(join(folder, "store", name));
    renameSync(join(folder, "store", copy), path);
    const next = await open();
    expect(idsIn(path)).toHaveLength(50);
    expect((await next.ingest(ingest("z"))).kind).toBe("ingested");
  });

  test("and whose place another process has taken is let go without touching what is there now", async () => {
    const store = await open();
    await store.ingest(ingest("a"));
    for (const ending of ["", "-wal", "-shm"]) renameSync(`${path}${ending}`, `${path}${ending}.old`);
    const other = sqliteDriver().open(path, { readonly: false, busyMs: 5_000 });
    other.exec("pragma journal_mode = wal");
    other.exec("create table theirs (n integer); insert into theirs values (7)");
    await untilTold("copied");
    await store.close();
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(other.prepare("select n from theirs").get()).toEqual({ n: 7 });
    other.close();
    const again = sqliteDriver().open(path, { readonly: false, busyMs: 5_000 });
    expect(again.prepare("select n from theirs").get()).toEqual({ n: 7 });
    again.close();
  });
});

describe("the write-ahead log", () => {
  test("gives back what it grew by behind a long reader, once the reader is gone", async () => {
    const store = await open();
    const reader = tool();
    const data = JSON.stringify({ text: "x".repeat(100_000) });
    reader.exec("begin");
    reader.prepare("select count(*) from events").get();
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => store.ingest(ingest(`r${round}-${i}`, data))));
    }
    const largest = statSync(`${path}-wal`).size;
    expect(largest).toBeGreaterThan(45 * 1024 * 1024);
    reader.exec("commit");
    // An idle engine beats and sweeps every few seconds, and these are the commits that give it back.
    for (let i = 0; i < 3; i++) await store.heartbeat("w", 1_000);
    expect(statSync(`${path}-wal`).size).toBeLessThan(34 * 1024 * 1024);
  });
});
