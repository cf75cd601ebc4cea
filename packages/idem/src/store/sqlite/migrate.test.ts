import { expect, test, vi } from "vitest";
import { oldEvents } from "../old-deliveries.suite.ts";
import { checksumOf, type Migration } from "../schema-history.ts";
import { ClaimIndex } from "./claim-index.ts";
import { Connection } from "./connection.ts";
import { migrate, schemaVersion } from "./migrate.ts";
import { loadMigrations } from "./migrations.ts";

const migrationOf = (name: string, sql: string): Migration => ({
  version: Number(name.slice(0, 4)),
  name,
  sql,
  checksum: checksumOf(sql),
});
const first = migrationOf("0001_a", "create table a (x)");
const second = migrationOf("0002_b", "create table b (x); insert into b values (1)");

const open = () => new Connection(":memory:", { readonly: false });
const tables = (connection: Connection) =>
  connection
    .all<{ name: string }>("select name from sqlite_schema where type = 'table' order by name")
    .map((t) => t.name)
    .filter((name) => name !== "migrations");

test("migrations run once each, in order, and again change nothing", () => {
  const connection = open();
  migrate(connection, [first]);
  migrate(connection, [first, second]);
  migrate(connection, [first, second]);
  expect(tables(connection)).toEqual(["a", "b"]);
  expect(connection.all("select x from b")).toHaveLength(1);
  expect(schemaVersion(connection)).toBe(2);
});

test("a migration that fails half-way leaves nothing of itself and is resumed from where it stopped", () => {
  const connection = open();
  const third = migrationOf("0003_c", "create table c (x)");
  const broken = { ...third, sql: "create table c (x); insert into nowhere values (1)" };
  // A new file is made in one go: nothing of it is there, or all.
  expect(() => migrate(connection, [first, second, broken])).toThrow(/nowhere/);
  expect([tables(connection), schemaVersion(connection)]).toEqual([[], 0]);
  migrate(connection, [first]);
  expect(() => migrate(connection, [first, second, broken])).toThrow(/nowhere/);
  expect([tables(connection), schemaVersion(connection)]).toEqual([["a", "b"], 2]);
  migrate(connection, [first, second, third]);
  expect(tables(connection)).toEqual(["a", "b", "c"]);
});

test("a store that is made in one go, as every one after the first of a process, is the same to the last row", () => {
  const migrations = [...loadMigrations()];
  const whole = (connection: Connection) => ({
    things: connection.all("select type, name, tbl_name, sql from sqlite_schema order by type, name"),
    rows: connection
      .all<{ name: string }>("select name from sqlite_schema where type = 'table' order by name")
      .map(({ name }) => [name, connection.all(`select * from "${name}"`)]),
    version: schemaVersion(connection),
  });
  const [oneByOne, inOneGo] = [open(), open()];
  migrate(oneByOne, migrations);
  const seen = vi.spyOn(inOneGo.db, "exec");
  migrate(inOneGo, migrations);
  expect(seen.mock.calls.map(([sql]) => sql.split(" ")[0])).toEqual(["begin", "CREATE", "commit"]);
  expect(whole(inOneGo)).toEqual(whole(oneByOne));
  migrate(inOneGo, migrations);
  expect(seen).toHaveBeenCalledTimes(3);
});

test("a file in which somebody has tables of their own goes through every migration and teaches later ones nothing", () => {
  const migrations = [first, second];
  const [theirs, ours, alsoTheirs] = [open(), open(), open()];
  for (const connection of [theirs, alsoTheirs]) connection.run("create table theirs (x)");
  for (const connection of [theirs, ours, alsoTheirs]) migrate(connection, migrations);
  expect(tables(ours)).toEqual(["a", "b"]);
  for (const connection of [theirs, alsoTheirs]) expect(tables(connection)).toEqual(["a", "b", "theirs"]);
});

test("a store written by a newer version is refused, named, and left as it was", () => {
  const connection = open();
  migrate(connection, [first, second]);
  expect(() => migrate(connection, [first])).toThrow(/schema version 2; this version of Idem knows up to 1/);
  expect(tables(connection)).toEqual(["a", "b"]);
});

test("the shipped migrations are numbered without a gap and build every table", () => {
  const migrations = loadMigrations();
  expect(migrations.map((m) => m.version)).toEqual(migrations.map((_, i) => i + 1));
  const connection = open();
  migrate(connection, migrations);
  expect(tables(connection)).toEqual(
    expect.arrayContaining([
      "attempts",
      "claims",
      "events",
      "jobs",
      "kept_decisions",
      "runs",
      "steps",
      "waits",
      "workers",
    ]),
  );
});

test("a store of the first version keeps its runs through every later migration", () => {
  const connection = open();
  const migrations = loadMigrations();
  migrate(connection, migrations.slice(0, 1));
  connection.run(
    `insert into runs (env, id, fn, event_id, subject, generation, root_run_id, created_at)
     values ('default', 'r1', 'f', 'e1', 's', 'g', 'r1', 1)`,
  );
  migrate(connection, migrations);
  expect(connection.all("select id, rerun_from, inputs from runs")).toEqual([
    { id: "r1", rerun_from: null, inputs: null },
  ]);
});

test("a store of an earlier version keeps its claims, each found by its key", () => {
  const connection = open();
  const migrations = loadMigrations();
  migrate(connection, migrations.slice(0, 2));
  const keys = ["c", "a", "b"];
  for (const key of keys) {
    connection.run(
      `insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
       values ('default', 'fn:f', ?, 'holder of ' || ?, 3, 'g', 'in-flight', 1, 2, 1, 4, 5)`,
      key,
      key,
    );
  }
  migrate(connection, migrations);
  const { find } = new ClaimIndex(connection);
  for (const key of keys) {
    expect(
      connection.one("select key, holder, fence, held, asked from claims where n = ?", find("default", "fn:f", key)!),
    ).toEqual({ key, holder: `holder of ${key}`, fence: 3, held: 1, asked: 4 });
  }
});

test("windows of deliveries that are open move along into the scope of webhooks, and nobody else's do", () => {
  const connection = open();
  const migrations = loadMigrations();
  migrate(connection, migrations.slice(0, 13));
  for (const { id, callerId, name, data, extra } of oldEvents) {
    connection.run(
      `insert into events (env, id, caller_id, name, data, ts, extra, received_at, stamp) values ('default', ?, ?, ?, ?, 1, ?, 1, 1)`,
      ...[id, callerId, name, data, extra],
    );
    connection.run(
      `insert into claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at)
       values ('default', 'event', ?, ?, 1, 'g', 'settled', 1, 2, 0, 1, 1)`,
      ...[callerId, id],
    );
    // Half of them are in the tree already.
    if (id !== "kept") continue;
    connection.run("insert into claim_keys (env, scope, key, n) select env, scope, key, n from claims");
    connection.run("update meta set value = (select max(n) from claims) where name = 'claims-indexed'");
  }
  migrate(connection, migrations);
  const { find } = new ClaimIndex(connection);
  for (const { id, callerId, isDelivery } of oldEvents) {
    const [here, there] = isDelivery ? ["webhook", "event"] : ["event", "webhook"];
    const n = find("default", here!, callerId);
    expect([id, find("default", there!, callerId)]).toEqual([id, undefined]);
    expect(connection.one("select scope, holder from claims where n = ?", n!)).toEqual({ scope: here, holder: id });
  }
});

test("every primary key and unique index of a table that has environments leads with env", () => {
  const connection = open();
  migrate(connection, loadMigrations());
  for (const table of tables(connection)) {
    // Rows in the order of their arrival; claim_keys has the keys of claims, and notes are read and let go of all together.
    if (table === "claims" || table === "end_notes") continue;
    const columns = connection.all<{ name: string; pk: number }>(`select name, pk from pragma_table_info('${table}')`);
    if (!columns.some((column) => column.name === "env")) continue;
    expect([table, columns.find((column) => column.pk === 1)?.name]).toEqual([table, "env"]);
    const unique = connection.all<{ name: string }>(
      `select name from pragma_index_list('${table}') where "unique" = 1`,
    );
    for (const index of unique) {
      const leading = connection.one<{ name: string }>(
        `select name from pragma_index_info('${index.name}') where seqno = 0`,
      );
      expect([index.name, leading?.name]).toEqual([index.name, "env"]);
    }
  }
});
