import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { ClaimIndex } from "./claim-index.ts";
import { Connection } from "./connection.ts";
import { SqliteCore } from "./core.ts";
import { loadMigrations } from "./migrations.ts";
import { openReadOnlyStore } from "./read-only-store.ts";

const migrations = loadMigrations();
const env = "default";
let folder: string;
let path: string;
let clock: ManualClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-claims-"));
  path = join(folder, "store.db");
  clock = new ManualClock();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (newestClaimsMax: number) => new SqliteCore({ path, migrations, clock, owner: "test", newestClaimsMax });

const ask = (key: string | null, token = `token of ${key}`) =>
  ({
    name: "claim",
    input: [{ env, scope: "s", key, token, fingerprint: null, leaseMs: 1_000, windowMs: 60_000 }],
  }) as const;

const commit = (core: SqliteCore, ...calls: Parameters<SqliteCore["commit"]>[0]) => {
  const answers = core.commit(calls);
  core.tend();
  return answers.map((answer) => (answer.ok ? (answer.value as { kind: string }).kind : "refused"));
};

/** Which keys have a row, as a process that opens the file now finds them. */
const found = (keys: readonly string[]) => {
  const connection = new Connection(path, { readonly: true });
  const { find } = new ClaimIndex(connection);
  const rows = keys.map((key) => find(env, "s", key));
  connection.close();
  return rows;
};

test("a key is taken once, whether its claim is in the tree or not, and under the next owner too", () => {
  const keys = Array.from({ length: 25 }, (_, i) => `k${(i * 7) % 25}`);
  const first = open(10);
  for (const key of keys) expect(commit(first, ask(key))).toEqual(["fresh"]);
  for (const key of keys) expect(commit(first, ask(key, "another"))).toEqual(["in-flight"]);
  first.close();
  const second = open(10);
  for (const key of keys) expect(commit(second, ask(key, "another"))).toEqual(["in-flight"]);
  second.close();
  expect(found(keys).sort((a, b) => a! - b!)).toEqual(keys.map((_, i) => i + 1));
});

test("a call that is rolled back leaves no key behind, and the calls beside it keep theirs", () => {
  const core = open(100);
  const broken = {
    name: "ingest",
    input: [
      {
        env,
        registration: null,
        leaseTo: null,
        // The claim is taken before the row without a name is refused.
        events: [
          {
            id: "e1",
            callerId: "taken",
            windowMs: 1_000,
            name: "n",
            data: "{}",
            ts: 1,
            extra: null,
            sourceRunId: null,
          },
          { id: "e2", callerId: null, windowMs: 1_000, name: null, data: "{}", ts: 1, extra: null, sourceRunId: null },
        ],
        pairs: [],
      },
    ],
  } as const;
  expect(commit(core, ask("a"), broken, ask("b"))).toEqual(["fresh", "refused", "fresh"]);
  expect(commit(core, ask("a", "another"), ask("b", "another"))).toEqual(["in-flight", "in-flight"]);
  const good = { ...broken, input: [{ ...broken.input[0], events: broken.input[0].events.slice(0, 1) }] };
  core.commit([good]);
  expect(core.read("eventByCallerId", [env, "taken"])).toMatchObject({ id: "e1" });
  core.close();
});

test("a reaped key is free again, in the tree and beside it, and its row's number is not used again", () => {
  const core = open(3);
  const keys = ["a", "b", "c", "d"];
  for (const key of keys) commit(core, ask(key));
  clock.advance(60_000);
  expect(core.commit([{ name: "sweep", input: [{ max: 10, repair: false }] }])[0]).toMatchObject({
    value: { reaped: 4 },
  });
  expect(found(keys)).toEqual([undefined, undefined, undefined, undefined]);
  expect(keys.flatMap((key) => commit(core, ask(key)))).toEqual(["fresh", "fresh", "fresh", "fresh"]);
  expect(found(keys)).toEqual([5, 6, 7, 8]);
  core.close();
});

test("whoever reads beside the owner finds every claim, in the order of the keys", async () => {
  const core = open(3);
  for (const key of ["d", "a", "c", "b", "e"]) commit(core, ask(key));
  const { store } = openReadOnlyStore({ path, migrations, clock });
  const listed = await store.reads.claims(env, { limit: 10 });
  expect(listed.map(({ key }) => key)).toEqual(["a", "b", "c", "d", "e"]);
  const page = await store.reads.claims(env, { scope: "s", after: { scope: "s", key: "b" }, limit: 2 });
  expect(page.map(({ key }) => key)).toEqual(["c", "d"]);
  for (const key of ["a", "b", "e"]) expect(await store.reads.claim(env, "s", key)).toMatchObject({ key });
  expect(await store.reads.claim(env, "s", "f")).toBeNull();
  await store.close();
  core.close();
});

test("while the tree is filled piece by piece every key is found once, also by the next owner when this one is killed", async () => {
  const keys = Array.from({ length: 64 }, (_, i) => `k${String((i * 37) % 64).padStart(2, "0")}`);
  const sorted = [...keys].sort();
  const first = open(64);
  commit(first, ...keys.map((key) => ask(key)));
  for (let pieces = 0; pieces < 5; pieces++) first.tend();
  const { store } = openReadOnlyStore({ path, migrations, clock });
  expect((await store.reads.claims(env, { limit: 100 })).map(({ key }) => key)).toEqual(sorted);
  // One that is in the tree already, and one that is not yet.
  const gone = [sorted[0]!, sorted[63]!];
  clock.advance(59_999);
  for (const key of sorted.slice(1, 63)) {
    first.commit([
      { name: "release", input: [{ env, scope: "s", key, fence: null, reason: "test" }] },
      ask(key, "later"),
    ]);
  }
  clock.advance(1);
  first.commit([{ name: "sweep", input: [{ max: 100, repair: false }] }]);
  first.close();
  const second = open(64);
  expect(gone.flatMap((key) => commit(second, ask(key)))).toEqual(["fresh", "fresh"]);
  for (let pieces = 0; pieces < 40; pieces++) second.tend();
  expect(keys.flatMap((key) => commit(second, ask(key, "another")))).toEqual(keys.map(() => "in-flight"));
  expect((await store.reads.claims(env, { limit: 100 })).map(({ key }) => key)).toEqual(sorted);
  await store.close();
  second.close();
});
