// A store's file that was replaced by an older copy while no process had it, with real files.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import type { Alert } from "../alerts.ts";
import { newEvent } from "../contract/world.ts";
import { SqliteCore } from "./core.ts";
import { counterPath } from "./counter-file.ts";
import { loadMigrations } from "./migrations.ts";
import { openReadOnlyStore } from "./read-only-store.ts";

let clock: ManualClock;
let path: string;

beforeEach(() => {
  clock = new ManualClock();
  const folder = mkdtempSync(join(tmpdir(), "idem-counter-"));
  path = join(folder, "shop.db");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

let events = 0;

const open = (file = path, over: Partial<ConstructorParameters<typeof SqliteCore>[0]> = {}) =>
  new SqliteCore({ path: file, migrations: loadMigrations(), clock, owner: "process 7 on shop-1", ...over });

function write(core: SqliteCore): void {
  clock.advance(1_000);
  const input = { env: "default", registration: null, events: [newEvent(`e${++events}`)], pairs: [], leaseTo: null };
  core.commit([{ name: "ingest", input: [input] }]);
  core.tend();
}

/** A process that opens the store, writes into it and closes it. */
function useStore(file = path): void {
  const core = open(file);
  write(core);
  core.close();
}

/** As a killed process leaves it: nothing is written at its end. */
const kill = (core: SqliteCore) => core.close(false);

const copy = (from: string, to: string) => {
  for (const ending of ["", "-wal"]) {
    rmSync(`${to}${ending}`, { force: true });
    if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`);
  }
};

const filed = () => JSON.parse(readFileSync(counterPath(path), "utf8")) as { storeId: string; clock: number };

const alertsOf = (core: SqliteCore, env = "default") => core.read("alerts", [env, { limit: 10 }]) as Alert[];

test("a file that was replaced by an older copy has an alert that says from when to when, and is found once", () => {
  useStore();
  copy(path, `${path}.old`);
  const from = filed().clock;
  useStore();
  const to = filed().clock;
  copy(`${path}.old`, path);
  const core = open();
  expect(core.rollback).toEqual({ cause: "replaced", from, to });
  expect(alertsOf(core)).toMatchObject([{ kind: "store-rollback", state: "open", firstAt: from, lastAt: to }]);
  write(core);
  core.close();
  const again = open();
  expect([again.rollback, alertsOf(again).length]).toEqual([null, 1]);
  again.close();
  copy(`${path}.old`, path);
  const second = open();
  expect(second.rollback).toMatchObject({ from });
  second.close();
});

test("every environment that has functions gets the alert", () => {
  const core = open();
  for (const env of ["staging", "default"]) {
    const functions = [{ fn: "shop-bill", id: "bill", config: "{}", crons: [] }];
    core.commit([{ name: "register", input: [{ env, app: "shop", functions }] }]);
  }
  core.close();
  copy(path, `${path}.old`);
  useStore();
  copy(`${path}.old`, path);
  const replaced = open();
  expect(["default", "staging", "test"].map((env) => alertsOf(replaced, env).length)).toEqual([1, 1, 0]);
  replaced.close();
});

test("a killed process, also between its last commit and the file, is no replaced file", () => {
  const core = open();
  write(core);
  const before = existsSync(counterPath(path)) ? filed() : null;
  write(core);
  kill(core);
  expect(existsSync(counterPath(path)) ? filed() : null).toEqual(before);
  const next = open();
  expect([next.rollback, alertsOf(next)]).toEqual([null, []]);
  next.close();
});

test("a process that was killed had written the file within the last minute", () => {
  const core = open();
  write(core);
  const first = filed().clock;
  clock.advance(58_000);
  write(core);
  expect(filed().clock).toBe(first);
  clock.advance(1_000);
  write(core);
  copy(path, `${path}.old`);
  expect(filed().clock).toBe(clock.wallMs());
  clock.advance(60_000);
  write(core);
  kill(core);
  copy(`${path}.old`, path);
  const replaced = open();
  expect(replaced.rollback).toMatchObject({ to: clock.wallMs() });
  replaced.close();
});

test("a process that is killed once it found it leaves the alert, and one whose alert is lost with the file leaves it to be found", () => {
  useStore();
  copy(path, `${path}.old`);
  useStore();
  copy(`${path}.old`, path);
  kill(open());
  const next = open();
  expect([next.rollback, alertsOf(next).length]).toEqual([null, 1]);
  kill(next);
  copy(`${path}.old`, path);
  const again = open();
  expect([again.rollback === null, alertsOf(again).length]).toEqual([false, 1]);
  again.close();
});

test("without its counter file, and with one that says nothing, a replaced file is taken as it is, and counted from then on", () => {
  for (const spoil of [
    () => rmSync(counterPath(path)),
    () => writeFileSync(counterPath(path), ""),
    () => writeFileSync(counterPath(path), '{"storeId":7}\n'),
    () => writeFileSync(counterPath(path), "x".repeat(5_000)),
  ]) {
    useStore();
    copy(path, `${path}.old`);
    useStore();
    copy(`${path}.old`, path);
    spoil();
    const core = open();
    expect([core.rollback, alertsOf(core)]).toEqual([null, []]);
    write(core);
    core.close();
    expect(filed().clock).toBe(clock.wallMs());
  }
});

test("another store at the same path is no older copy of this one", () => {
  useStore();
  useStore();
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  clock.stepWall(-60_000);
  const core = open();
  expect(core.rollback).toBeNull();
  write(core);
  core.close();
  expect(filed().clock).toBeGreaterThan(0);
  const again = open();
  expect(again.rollback).toBeNull();
  again.close();
});

test("a copy elsewhere, with its counter file or without it, is no replaced file", () => {
  useStore();
  for (const isWhole of [true, false]) {
    const elsewhere = `${path}.${isWhole}`;
    copy(path, elsewhere);
    if (isWhole) copyFileSync(counterPath(path), counterPath(elsewhere));
    const core = open(elsewhere);
    expect([core.rollback, alertsOf(core)]).toEqual([null, []]);
    core.close();
  }
});

test("a wall clock that was set back is no replaced file, and neither is one that was set ahead", () => {
  useStore();
  for (const step of [-3_600_000, 7_200_000, -3_600_000]) {
    clock.stepWall(step);
    const core = open();
    expect([core.rollback, alertsOf(core)]).toEqual([null, []]);
    write(core);
    core.close();
  }
});

test("who only reads writes no counter file, and a store in memory has none", async () => {
  const core = open();
  kill(core);
  const { store } = openReadOnlyStore({ path, migrations: loadMigrations(), clock });
  await store.reads.environments();
  await store.close();
  expect(existsSync(counterPath(path))).toBe(false);
  const memory = open(":memory:");
  write(memory);
  memory.close();
  expect(existsSync(counterPath(":memory:"))).toBe(false);
});
