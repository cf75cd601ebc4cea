import { copyFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { newEvent } from "../contract/world.ts";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import { Connection } from "../sqlite/connection.ts";
import { openInlineStore } from "../sqlite/inline-store.ts";
import { loadMigrations } from "../sqlite/migrations.ts";
import type { Store } from "../store.ts";
import { busyStore, oddId, shopOn } from "./busy-store.suite.ts";
import { type Compared, type MoveOptions, moveStore } from "./move-store.ts";
import { type MovedTable, movedTables, type Row } from "./moved-tables.ts";
import { PostgresTarget } from "./postgres-target.ts";
import { SqliteSource } from "./sqlite-source.ts";

let server: PostgresDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
});
afterAll(() => server.remove());

let schemas = 0;
const freshUrl = () => `${server.url}?schema=move${++schemas}&pool=4`;

let ids = 0;
/** One try of a move, in a process of its own. */
async function move(
  path: string,
  url: string,
  tamper: (source: SqliteSource, target: PostgresTarget) => void = () => {},
  onProgress: MoveOptions["onProgress"] = () => {},
): Promise<readonly Compared[]> {
  const source = SqliteSource.open(path, loadMigrations());
  try {
    const target = await PostgresTarget.open(pg, url);
    try {
      tamper(source, target);
      return await moveStore({
        source,
        target,
        now: () => 1_800_000_000_000,
        newId: () => `move ${++ids}`,
        onProgress,
      });
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

/** Sessions with a real server take real time; everything that is decided goes by the manual clock. */
const openMoved = (url: string, platform: ManualPlatform): Promise<Store> =>
  openPostgresStore({
    url,
    pg,
    platform: Object.create(nodePlatform, { monoMs: { value: () => platform.monoMs() } }),
    owner: "test",
    wallMs: () => platform.wallMs(),
  });

async function inTarget<T>(url: string, body: (query: (sql: string) => Promise<any[]>) => Promise<T>): Promise<T> {
  const schema = new URL(url).searchParams.get("schema")!;
  const client = new pg.Client({ connectionString: url.split("?")[0]! });
  await client.connect();
  try {
    await client.query(`set search_path = ${schema}`);
    return await body(async (sql) => (await client.query(sql)).rows);
  } finally {
    await client.end();
  }
}

/** Stops a move when it has read so many rows of a table. */
const killedIn = (name: string, after: number) => (source: SqliteSource) => {
  const rows = source.rows.bind(source);
  source.rows = function* (table: MovedTable): Generator<Row> {
    let count = 0;
    for (const row of rows(table)) {
      if (table.name === name && count++ === after) throw new Error("killed");
      yield row;
    }
  };
};

describe("a moved store", () => {
  test("has the rows it had, table by table, with nobody's lease", async () => {
    const { path } = await busyStore();
    const url = freshUrl();
    const compared = await move(path, url);
    expect(compared.filter(({ isSame }) => !isSame)).toEqual([]);
    // Something in every table, or the comparison says nothing of it.
    expect(compared.filter(({ source }) => source.rows === 0)).toEqual([]);
    const file = new Connection(path, { readonly: true });
    const leased = file.all<{ id: string; fence: number }>(
      "select id, fence from jobs where leased_by is not null order by id",
    );
    expect(leased.length).toBeGreaterThan(0);
    file.close();
    await inTarget(url, async (query) => {
      expect(await query("select 1 from jobs where leased_by is not null")).toEqual([]);
      const held = leased.map(({ id }) => `'${id}'`).join(", ");
      const fences = await query(`select id, fence::int from jobs where id in (${held}) order by id`);
      expect(fences).toEqual(leased.map(({ id, fence }) => ({ id, fence: fence + 1 })));
      const slots = await query("select distinct slot_1, slot_2, lane from jobs where slot_1 is not null");
      expect(slots.map(({ slot_1, slot_2, lane }) => [slot_1, slot_2, JSON.parse(lane)[1]])).toEqual(
        slots.map(({ slot_1, slot_2 }) => [slot_1, slot_2, [slot_1, slot_2]]),
      );
      expect(slots.length).toBeGreaterThan(0);
      expect(await query("select fn from runs where awaited = 1")).toEqual([{ fn: "shop-child" }]);
      expect(await query("select name from meta where name like 'mov%'")).toEqual([]);
    });
  });

  test("refuses what was done already and goes on with the rest, as the file would have", async () => {
    const { path, platform } = await busyStore();
    const unmoved = join(dirname(path), "unmoved.db");
    for (const ending of ["", "-wal"]) if (existsSync(path + ending)) copyFileSync(path + ending, unmoved + ending);
    const url = freshUrl();
    await move(path, url);
    const sameTime = new ManualPlatform();
    sameTime.clock.advance(platform.monoMs());
    const file = openInlineStore({ path: unmoved, migrations: loadMigrations(), clock: sameTime, owner: "the test" });
    const expected = await goOn(file, sameTime, (entered) => entered.includes("after nap"));
    expect(expected.decisions).toEqual([
      "duplicate-event",
      "duplicate-key",
      "rate-limited",
      "singleton-skipped",
      "paused",
      "held",
    ]);
    expect(expected.entered).toEqual([
      "after nap",
      "calm 2",
      "confirmed 7",
      "heard now",
      "long 1",
      "long 2",
      "long 3",
      "lot of 2",
      "parent got from the child",
      "spaced",
    ]);
    const moved = await openMoved(url, platform);
    const found = await goOn(
      moved,
      platform,
      (entered, ended) => entered.length >= expected.entered.length && ended >= expected.states.length,
    );
    expect(found).toEqual(expected);
  });
});

describe("a move that is killed", () => {
  test("in the middle of a table goes on with that table, and nobody can open half a store meanwhile", async () => {
    const { path, platform } = await busyStore();
    const url = freshUrl();
    await expect(move(path, url, killedIn("steps", 2))).rejects.toThrow("killed");
    await inTarget(url, async (query) => {
      expect(await query("select 1 from runs limit 1")).toHaveLength(1);
      expect(await query("select 1 from steps limit 1")).toEqual([]);
    });
    await expect(openMoved(url, platform)).rejects.toMatchObject({ code: "STORE_MOVING" });
    const copied: string[] = [];
    const compared = await move(path, url, (_, target) => {
      const { copy } = target;
      target.copy = (table, ...rest) => {
        copied.push(table.name);
        return copy.call(target, table, ...rest);
      };
    });
    expect(copied[0]).toBe("steps");
    expect(compared.filter(({ isSame }) => !isSame)).toEqual([]);
    await (await openMoved(url, platform)).close();
  });

  test("starts over when the file was used meanwhile", async () => {
    const { path, platform, open } = await busyStore();
    const url = freshUrl();
    await expect(move(path, url, killedIn("jobs", 0))).rejects.toThrow("killed");
    const store = open();
    await store.release({ env: "default", scope: "fn:shop-pay", key: "7", fence: null, reason: "meanwhile" });
    await store.close();
    const compared = await move(path, url);
    expect(compared.filter(({ isSame }) => !isSame)).toEqual([]);
    const moved = await openMoved(url, platform);
    expect(await moved.reads.claim("default", "fn:shop-pay", "7")).toMatchObject({ state: "released" });
    await moved.close();
  });

  test("between its last two writes leaves one that nobody can open, and is ended by the next try", async () => {
    const { path, platform, open } = await busyStore();
    const url = freshUrl();
    const dies = (_: SqliteSource, target: PostgresTarget) => {
      target.complete = () => Promise.reject(new Error("killed"));
    };
    await expect(move(path, url, dies)).rejects.toThrow("killed");
    expect(open).toThrow(expect.objectContaining({ code: "STORE_MOVED" }));
    await expect(openMoved(url, platform)).rejects.toMatchObject({ code: "STORE_MOVING" });
    await move(path, url);
    await (await openMoved(url, platform)).close();
    await expect(move(path, url)).rejects.toMatchObject({ code: "STORE_MOVED" });
  });
});

describe("a move is refused", () => {
  test("while a process owns the file", async () => {
    const { path, open } = await busyStore();
    const store = open();
    await expect(move(path, freshUrl())).rejects.toMatchObject({ code: "STORE_OWNED", facts: { owner: "the test" } });
    await store.close();
  });

  test("into a store that has facts, a node at work, or half of another file", async () => {
    const { path, platform, open } = await busyStore();
    const refused = (why: string) => ({ code: "STORE_NOT_EMPTY", facts: { why: expect.stringContaining(why) } });
    const used = freshUrl();
    const store = await openMoved(used, platform);
    await store.claim({ env: "e", scope: "s", key: "k", token: "t", fingerprint: null, leaseMs: 1, windowMs: 1 });
    await expect(move(path, used)).rejects.toMatchObject(refused("claims"));
    await store.close();
    const atWork = freshUrl();
    const node = await openMoved(atWork, platform);
    await node.close();
    const later = "(extract(epoch from now()) * 1000)::bigint + 60000";
    await inTarget(atWork, (query) => query(`insert into workers (id, started_at, until) values ('w', 0, ${later})`));
    await expect(move(path, atWork)).rejects.toMatchObject(refused("a node is at work"));
    const half = freshUrl();
    const other = await busyStore();
    await expect(move(other.path, half, killedIn("runs", 0))).rejects.toThrow("killed");
    await expect(move(path, half)).rejects.toMatchObject(refused(other.path));
    // The file of a refused move can still be used.
    await open().close();
  });
});

test("a row that arrived otherwise is found: its table is named, nothing is switched over, and the next try starts over", async () => {
  const { path, platform, open } = await busyStore();
  const url = freshUrl();
  const compared = await move(path, url, (_, target) => {
    const { copy } = target;
    target.copy = async (table, ...rest) => {
      await copy.call(target, table, ...rest);
      if (table.name !== "claims") return;
      await inTarget(url, (query) => query("update claims set ends_at = ends_at - 1 where scope = 'event'"));
    };
  });
  expect(compared.filter(({ isSame }) => !isSame).map(({ table }) => table)).toEqual(["claims"]);
  await expect(openMoved(url, platform)).rejects.toMatchObject({ code: "STORE_MOVING" });
  await open().close();
  const again = await move(path, url);
  expect(again.filter(({ isSame }) => !isSame)).toEqual([]);
});

test("many rows, and rows of half a megabyte, move in pieces", async () => {
  const { path, open } = await busyStore();
  const store = open();
  const event = (i: number, data: string) =>
    newEvent(`bulk ${String(i).padStart(5, "0")}`, { callerId: `bulk-${i}`, data: JSON.stringify(data) });
  const small = Array.from({ length: 2_500 }, (_, i) => event(i, `small ${i}`));
  const large = Array.from({ length: 20 }, (_, i) => event(5_000 + i, "x".repeat(500_000)));
  await store.ingest({ env: "bulk", registration: null, events: [...small, ...large], pairs: [], leaseTo: null });
  await store.close();
  const told: number[] = [];
  const compared = await move(
    path,
    freshUrl(),
    () => {},
    (_, rows) => told.push(rows),
  );
  expect(compared.filter(({ isSame }) => !isSame)).toEqual([]);
  expect(compared.find(({ table }) => table === "events")!.target.rows).toBeGreaterThan(2_500);
  expect(told.length).toBeGreaterThan(6);
});

test("every table and column of both stores moves, or is named here as one that stays behind", async () => {
  const { path } = await busyStore();
  // Nothing is sent inside transactions of a file, and messages are kept for an hour: a reader that comes back with a place is told of the
  // gap. The parts of decisions move as decisions. Heartbeats, and what nodes watch for each other, are theirs.
  const processes = ["workers", "heartbeats", "watched_names", "event_arrivals", "wait_checks"];
  const stays = [...processes, "claim_keys", "locks", "migrations", "outbox", "channels", "messages", "kept_decisions"];
  const file = new Connection(path, { readonly: true });
  const ofFile = file.all<{ name: string; column: string }>(`
    select t.name as name, c.name as "column" from sqlite_schema t, pragma_table_info(t.name) c
     where t.type in ('table', 'view') and t.name not like 'sqlite_%'`);
  file.close();
  const url = freshUrl();
  await (await PostgresTarget.open(pg, url)).close();
  const ofTarget = await inTarget(url, (query) =>
    query(`
      select table_name as name, column_name as column from information_schema.columns
       where table_schema = current_schema()`),
  );
  const moves = movedTables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)).sort();
  const namesOf = (rows: readonly { name: string; column: string }[]) =>
    rows.filter(({ name }) => !stays.includes(name)).map(({ name, column }) => `${name}.${column}`);
  const left = (rows: readonly { name: string; column: string }[]) => {
    const names = namesOf(rows);
    expect(moves.filter((name) => !names.includes(name) && rows === ofTarget)).toEqual([]);
    return names.filter((name) => !moves.includes(name));
  };
  // Numbers of rows are each store's own.
  expect(left(ofTarget)).toEqual(["end_notes.n"]);
  expect(left(ofFile)).toEqual(["events.starts", "runs.window_ends_at", "claims.n", "end_notes.n"]);
});

/** Goes on with a store that another process was killed on, until `isOver`. */
async function goOn(
  store: Store,
  platform: ManualPlatform,
  isOver: (entered: readonly string[], ended: number) => boolean,
) {
  const { idem, entered, afterKill } = shopOn(store, platform);
  onTestFinished(() => idem.stop());
  afterKill();
  await idem.start();
  const { decisions } = await idem.send([
    { name: "order/paid", id: oddId, data: { order: 9 } },
    { name: "order/paid", data: { order: 7 } },
    { name: "seldom" },
    { name: "single" },
    { name: "stopped" },
    { name: "strict" },
  ]);
  await idem.send({ name: "order/confirmed", data: { order: 7 } });
  const signalled = await idem.sendSignal({ signal: "the-word", data: "now" });
  const listEnded = async () => (await idem.runs.list({ limit: 200 })).filter(({ state }) => state !== "waiting");
  // Housekeeping is not waited for when time moves by hand; what it wakes up comes a second later.
  await platform.advance(9 * 3_600_000, () => idem.idle());
  await expect
    .poll(async () => {
      await platform.advance(1_000, () => idem.idle());
      return isOver(entered, (await listEnded()).length);
    })
    .toBe(true);
  const ended = await listEnded();
  return {
    decisions: decisions.map(({ kind }) => kind),
    // Runs that the file had already are the same ones.
    answeredBy: decisions.map(({ runId }) => runId),
    signalled,
    entered: entered.sort(),
    states: ended.map(({ function: fn, state }) => `${fn} ${state}`).sort(),
  };
}
