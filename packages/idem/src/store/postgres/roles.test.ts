// The SQL of docs/postgres.md, run as it stands there by whoever administers a database; and what the roles it makes can do.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalPostgres, startLocalPostgres } from "../../../../../scripts/local-postgres.mjs";
import { nodePlatform } from "../../platform/node-platform.ts";
import { Idem } from "../../sdk/client.ts";
import { openPostgresStore } from "./postgres-store.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

const document = readFileSync(fileURLToPath(new URL("../../../../../docs/postgres.md", import.meta.url)), "utf8");

/** The statements of each block of SQL, by the section it stands in. */
const blocks = new Map<string, string[][]>();
for (const section of document.split(/^## /m).slice(1)) {
  const title = section.slice(0, section.indexOf("\n"));
  const found = [...section.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) =>
    sql!.split(/;\n/).filter((each) => each.trim() !== ""),
  );
  blocks.set(title, found);
}

let server: LocalPostgres;
let superuser: pg.Client;
let administrator: pg.Client;
const urlOf = (role: string, password: string, words = "") =>
  `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${server.port}/shop${words}`;
const run = async (client: pg.Client, statements: readonly string[]) => {
  for (const statement of statements) await client.query(statement);
};
const passwordOf = (role: string): string =>
  new RegExp(`create role ${role} login password '([^']+)'`).exec(document)![1]!;
const open = (role: string, words = "") =>
  openPostgresStore({ url: urlOf(role, passwordOf(role), words), pg, platform: nodePlatform, owner: "test" });

beforeAll(async () => {
  server = await startLocalPostgres();
  superuser = new pg.Client({ connectionString: server.url });
  await superuser.connect();
  // As on managed servers: may make roles, owns the database, and is no superuser.
  await superuser.query("create role administrator login createrole password 'administrator'");
  await superuser.query("create database shop owner administrator");
  await superuser.end();
  superuser = new pg.Client({ connectionString: server.url.replace(/postgres$/, "shop") });
  await superuser.connect();
  administrator = new pg.Client({ connectionString: urlOf("administrator", "administrator") });
  await administrator.connect();
});
afterAll(async () => {
  await superuser.end();
  await administrator.end();
  await server.remove();
});

test("the roles: one makes the tables, another works on them and can make and change none, a third only reads", async () => {
  const [make, later, reader] = blocks.get("Roles")!;
  await run(administrator, make!);

  // Before the owner was there, the one that works is refused, and says who has to come first.
  const refused = {
    code: "STORE_URL_INVALID",
    message: expect.stringContaining('run "idem migrate" once as the schema\'s owner'),
  };
  await expect(open("idem_app")).rejects.toMatchObject(refused);
  await (await open("idem_owner")).close();

  const idem = new Idem({ id: "shop", store: await open("idem_app"), platform: nodePlatform, logger: silent });
  idem.createFunction({ id: "charge", idempotency: "event.data.orderId" }, { event: "order/paid" }, async ({ step }) =>
    step.run("charge-card", () => "paid"),
  );
  await idem.start();
  try {
    const [first, second] = [1, 2].map(() => idem.send({ name: "order/paid", data: { orderId: 7 } }));
    const runIds = [(await first!).decisions[0]!.runId!, (await second!).decisions[0]!.runId!];
    expect(runIds[0]).toBe(runIds[1]);
    expect(await idem.runs.wait(runIds[0]!)).toMatchObject({ state: "completed", output: "paid" });
  } finally {
    await idem.stop();
  }
  await expect(open("idem_app", "?schema=another")).rejects.toMatchObject(refused);

  const app = new pg.Client({ connectionString: urlOf("idem_app", passwordOf("idem_app")) });
  await app.connect();
  try {
    for (const sql of [
      "create table idem.mine (id int)",
      "drop table idem.jobs",
      "alter table idem.jobs add x int",
      "truncate idem.jobs",
    ]) {
      await expect(app.query(sql)).rejects.toMatchObject({ code: "42501" });
    }
  } finally {
    await app.end();
  }

  // A table that a later version adds is the worker's as well.
  const privileges = async (role: string) =>
    (
      await superuser.query(`select c.relname as name, has_table_privilege('${role}', c.oid, 'select') as reads,
         has_table_privilege('${role}', c.oid, 'insert') and has_table_privilege('${role}', c.oid, 'update')
           and has_table_privilege('${role}', c.oid, 'delete') as writes
        from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'idem' and c.relkind = 'r'`)
    ).rows;
  await run(administrator, ["set role idem_owner", "create table idem.later (id int)", "reset role"]);
  const ofApp = await privileges("idem_app");
  expect(ofApp.find(({ name }) => name === "later")).toBeDefined();
  expect(ofApp.filter(({ reads, writes }) => !(reads && writes))).toEqual([]);

  await run(administrator, later!);
  await run(superuser, reader!);
  const ofReader = await privileges("idem_reader");
  expect(ofReader.filter(({ reads, writes }) => !reads || writes)).toEqual([]);
});

test("the other statements of the document run as they stand", async () => {
  for (const section of ["Settings", "Watching"]) {
    const found = blocks.get(section)!;
    expect(found.length).toBeGreaterThan(0);
    for (const statements of found) await run(superuser, statements);
  }
  const { rows } = await superuser.query(
    "select name, setting from pg_file_settings where name = 'autovacuum_naptime'",
  );
  expect(rows).toEqual([{ name: "autovacuum_naptime", setting: "10s" }]);
  const known = [...blocks].filter(([, found]) => found.length > 0).map(([title]) => title);
  expect(known).toEqual(["Roles", "Settings", "Watching"]);
});
