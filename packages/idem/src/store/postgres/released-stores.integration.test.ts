// What schemas of earlier builds become under today's code. fixtures/released has one for each that was on main.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { expectCarriedForward, type ReleasedStore, releasedStores, twoHoursLater } from "../released-stores.suite.ts";
import { differencesFrom, type SchemaThings } from "../schema-history.ts";
import { describeSchema } from "./describe-schema.ts";
import { loadMigrations } from "./migrations.ts";
import { openPostgresStore } from "./postgres-store.ts";

const migrations = loadMigrations();
// The last version of builds that kept no checksums.
const lastUnrecorded = 8;

let server: PostgresDatabase;
let admin: pg.Client;
let made: SchemaThings;
let schemas = 0;
beforeAll(async () => {
  server = await postgresDatabase();
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await (await open("fresh")).close();
  made = await describeSchema(admin, { schema: "fresh" });
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

/** The schema as its build left it; `bringTo`: and as builds without checksums then brought it on. */
async function schemaOf({ sql, version }: ReleasedStore, bringTo = version): Promise<string> {
  const schema = `released${++schemas}`;
  await admin.query(`create schema ${schema}; set search_path to ${schema}`);
  await admin.query(sql);
  for (const migration of migrations) {
    if (migration.version <= version || migration.version > bringTo) continue;
    await admin.query(migration.sql);
    await admin.query({
      text: "insert into migrations (version, name) values ($1, $2)",
      values: [migration.version, migration.name],
    });
  }
  return schema;
}

const open = (schema: string, platform = twoHoursLater(), mode?: "attach") =>
  openPostgresStore({
    url: `${server.url}?schema=${schema}&pool=4`,
    pg,
    platform,
    owner: "test",
    wallMs: () => platform.wallMs(),
    ...(mode === undefined ? {} : { mode }),
  });

async function expectForward(released: ReleasedStore, schema: string): Promise<void> {
  const platform = twoHoursLater();
  await expectCarriedForward(await open(schema, platform), platform, released);
  const carried = await describeSchema(admin, { schema });
  expect(differencesFrom(made, carried)).toEqual([]);
  expect(differencesFrom(carried, made)).toEqual([]);
  const { rows } = await admin.query("select reloptions from pg_class where oid = $1::regclass", [`${schema}.runs`]);
  expect(rows[0].reloptions).toContain("fillfactor=65");
}

test.each(releasedStores("postgres"))(
  "a schema of $name keeps its facts, its waiting runs go on, and nothing is done twice",
  async (released) => expectForward(released, await schemaOf(released)),
);

// Schemas whose migration was edited after they had run it.
const edited = ["1-65ca8fd", "1-4f2b5c5", "1-6378590", "1-c75de10"];
test.each(releasedStores("postgres").filter(({ name }) => edited.includes(name)))(
  "a schema made under $name, and brought on by builds without checksums, keeps its facts and goes on",
  async (released) => expectForward(released, await schemaOf(released, lastUnrecorded)),
);

const [first, newestUnrecorded] = [
  releasedStores("postgres").find(({ name }) => name === "1-65ca8fd")!,
  releasedStores("postgres").find(({ version }) => version === lastUnrecorded)!,
];
const checksumsIn = async (schema: string) =>
  (
    await admin.query(`select to_jsonb(m) ->> 'checksum' as checksum from ${schema}.migrations m order by version`)
  ).rows.map(({ checksum }) => checksum);

test("any number of nodes may start at once on a schema that must be mended, and find it mended once", async () => {
  const schema = await schemaOf(first, lastUnrecorded);
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(schema)));
  await Promise.all(stores.map((store) => store.close()));
  expect(differencesFrom(made, await describeSchema(admin, { schema }))).toEqual([]);
  expect(await checksumsIn(schema)).toEqual(migrations.map(({ checksum }) => checksum));
});

test("a schema whose migrations are not ours is refused with the one that differs, also to who attaches, and left as it was", async () => {
  const schema = await schemaOf(newestUnrecorded);
  await (await open(schema)).close();
  await admin.query(`update ${schema}.migrations set checksum = 'other' where version = 1`);
  const before = await describeSchema(admin, { schema });
  const why = expect.stringContaining("its migration 1 has the checksum other; here it is 0001_foundation with");
  for (const mode of [undefined, "attach"] as const) {
    await expect(open(schema, twoHoursLater(), mode)).rejects.toMatchObject({
      code: "STORE_HISTORY_DIFFERS",
      facts: { why },
    });
  }
  expect(await describeSchema(admin, { schema })).toEqual(before);
});

test("a schema from before checksums that was never on main is refused with what differs, and left as it was", async () => {
  const schema = await schemaOf(newestUnrecorded);
  await admin.query(`alter table ${schema}.runs drop column carried`);
  await expect(open(schema)).rejects.toMatchObject({
    code: "STORE_HISTORY_DIFFERS",
    facts: { why: "it says version 8, but column runs.carried is missing" },
  });
  expect(await checksumsIn(schema)).toEqual(Array(lastUnrecorded).fill(null));
});

test("who may not change a schema from before checksums, or only attaches, is told that its owner must migrate it first", async () => {
  const schema = await schemaOf(first, lastUnrecorded);
  await admin.query(`create role worker login password 'worker';
    grant usage on schema ${schema} to worker; grant select, insert, update, delete on all tables in schema ${schema} to worker`);
  const asWorker = (mode?: "attach") =>
    openPostgresStore({
      url: `${server.url.replace(/\/\/[^@]+@/, "//worker:worker@")}?schema=${schema}`,
      pg,
      platform: twoHoursLater(),
      owner: "test",
      ...(mode === undefined ? {} : { mode }),
    });
  const refused = { code: "STORE_URL_INVALID", message: expect.stringContaining('"idem migrate"') };
  await expect(asWorker()).rejects.toMatchObject(refused);
  await expect(asWorker("attach")).rejects.toMatchObject(refused);
  await (await open(schema)).close();
  await admin.query(`grant select, insert, update, delete on all tables in schema ${schema} to worker`);
  await (await asWorker()).close();
});
