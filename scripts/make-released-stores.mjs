// Makes packages/idem/fixtures/released: a small store for every schema that was on main, each written by the code of its own commit.
//
//   node scripts/make-released-stores.mjs           those that are missing
//
// A commit's sources are laid out beside the repository's own modules and run as they were; what they wrote is kept as SQL. For a new
// schema, add its commit below once it is on main.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import pg from "pg";
import { createServer, runnerImport } from "vite";
import { startLocalPostgres } from "./local-postgres.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const fixtures = join(root, "packages", "idem", "fixtures", "released");
const shopFile = "packages/idem/src/store/released-shop.suite.ts";

/** Schema version and the commit that brought it; a file that was edited in place has several of one version. */
const released = {
  sqlite: [
    "1-30fc1a3",
    "1-3872730",
    "1-914a09f",
    "2-bc36086",
    "3-15c12f3",
    "4-b863f9a",
    "4-8e9fa9e",
    "5-65ca8fd",
    "6-15ec94f",
    "9-b8e1970",
    "12-9997a98",
    "13-0a24879",
    "19-786b21b",
    "20-376157f",
    "21-a0eba81",
    "22-116dfa8",
    "23-5da4fdd",
  ],
  postgres: [
    "1-65ca8fd",
    "1-4f2b5c5",
    "1-6378590",
    "1-c75de10",
    "1-f744ad4",
    "2-15ec94f",
    "5-b8e1970",
    "8-9997a98",
    "9-0a24879",
    "15-786b21b",
    "16-376157f",
    "17-a0eba81",
    "18-116dfa8",
  ],
};

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const compact = (sql) =>
  sql
    .replace(/--.*$/gm, "")
    .replace(/\n\s*\n+/g, "\n")
    .replace(/ +/g, " ")
    .trim();
const quoted = (value) => (typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value));

/** The sources of a commit, with this checkout's modules. */
function layOut(commit) {
  const folder = mkdtempSync(join(root, ".released-"));
  const archive = spawnSync("git", ["archive", commit, "packages/idem"], { cwd: root, maxBuffer: 1 << 28 });
  spawnSync("tar", ["-x", "-C", folder], { input: archive.stdout });
  for (const modules of ["node_modules", "packages/idem/node_modules"]) {
    if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(folder, modules));
  }
  return folder;
}

/** An order is paid: one function ends, three wait. */
async function keepShop(load, store) {
  const { Idem } = await load("sdk/client.ts");
  const { nodePlatform } = await load("platform/node-platform.ts");
  const { defineShop, madeAt, paid } = (await runnerImport(join(root, shopFile))).module;
  const begun = nodePlatform.monoMs();
  const wallMs = () => madeAt + Math.round(nodePlatform.monoMs() - begun);
  const platform = { ...nodePlatform, wallMs };
  const opened = await store(platform);
  const idem = new Idem({ id: "shop", store: opened, platform, logger: silent });
  defineShop(idem, { entered: [], isBankOpen: false });
  await idem.start();
  await idem.send(paid);
  await idem.send(paid);
  const isQuiet = async () => {
    const runs = await idem.runs.list();
    const states = (await Promise.all(runs.map(({ id }) => idem.runs.get(id)))).map(({ state }) => state);
    return states.filter((state) => state === "completed").length === 1 && !states.includes("running");
  };
  for (let i = 0; i < 500 && !(await isQuiet()); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  await idem.stop();
  return platform;
}

async function makeSqlite(load, out) {
  const path = join(dirname(out), "making.db");
  const { openInlineStore } = await load("store/sqlite/inline-store.ts");
  const { loadMigrations } = await load("store/sqlite/migrations.ts");
  await keepShop(load, async (clock) =>
    openInlineStore({ path, migrations: loadMigrations(), clock, owner: "a shop" }),
  );
  const db = new Database(path);
  const objects = db
    .prepare("select type, name, sql from sqlite_schema where sql is not null order by type desc, rootpage")
    .all();
  const lines = [`pragma user_version = ${db.pragma("user_version", { simple: true })};`];
  for (const { sql } of objects) lines.push(`${compact(sql)};`);
  const tables = objects.filter(({ type }) => type === "table");
  for (const { name } of tables) {
    for (const row of db.prepare(`select * from ${name}`).all()) {
      const cells = Object.entries(row).filter(([, value]) => value !== null);
      const [columns, values] = [cells.map(([column]) => column), cells.map(([, value]) => quoted(value))];
      lines.push(`insert into ${name} (${columns.join(", ")}) values (${values.join(", ")});`);
    }
  }
  if (tables.some(({ name }) => name === "settings")) lines.push(settingSql);
  db.close();
  for (const end of ["", "-wal", "-shm", "-owner", "-counter"]) rmSync(path + end, { force: true });
  writeFileSync(out, `${lines.join("\n")}\n`);
}

const settingSql =
  "insert into settings (env, kind, name, value, version, changed_at) values ('default', 'source', 'stripe', '{}', 1, 1767225600000);";

async function makePostgres(load, out, server, folder) {
  const schema = "released";
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`drop schema if exists ${schema} cascade`);
  const { openPostgresStore } = await load("store/postgres/postgres-store.ts");
  const url = `${server.url}?schema=${schema}`;
  const open = (platform) => openPostgresStore({ url, pg, platform, owner: "a shop", wallMs: () => platform.wallMs() });
  const platform = await keepShop(load, open);
  await leaveInOutbox(load, platform, await open(platform), admin);
  const migrations = join(folder, "packages/idem/src/store/postgres/migrations");
  const files = readdirSync(migrations).sort();
  const lines = files.map((file) => compact(readFileSync(join(migrations, file), "utf8")));
  await admin.query(`set search_path to ${schema}`);
  const { rows: summed } = await admin.query(
    "select 1 from pg_attribute where attrelid = 'migrations'::regclass and attname = 'checksum'",
  );
  lines.push(
    `create table migrations (version integer primary key, name text not null, at timestamptz not null default now()${summed.length > 0 ? ", checksum text" : ""});`,
  );
  const { rows: tables } = await admin.query(
    "select tablename as name from pg_tables where schemaname = $1 order by 1",
    [schema],
  );
  for (const { name } of tables) {
    const { rows } = await admin.query(`select jsonb_strip_nulls(to_jsonb(t))::text as row from ${name} t`);
    if (rows.length === 0) continue;
    const values = `[\n${rows.map(({ row }) => row).join(",\n")}\n]`;
    const { rows: own } = await admin.query(
      "select attname as name from pg_attribute where attrelid = $1::regclass and attidentity <> ''",
      [name],
    );
    // Numbers that the database gives out are kept as they were, and go on behind them.
    const kept = own.length > 0 ? " overriding system value" : "";
    lines.push(`insert into ${name}${kept} select * from jsonb_populate_recordset(null::${name}, ${quoted(values)});`);
    for (const { name: column } of own) {
      lines.push(
        `select setval(pg_get_serial_sequence('${name}', '${column}'), (select max(${column}) from ${name}));`,
      );
    }
  }
  if (tables.some(({ name }) => name === "settings")) lines.push(settingSql);
  await admin.end();
  writeFileSync(out, `${lines.join("\n")}\n`);
}

/** An event that was sent within a transaction, by a build that had a table for it, and that nobody handed on. */
async function leaveInOutbox(load, platform, store, client) {
  if (store.outbox === undefined) return store.close();
  const { Idem } = await load("sdk/client.ts");
  const { noted } = (await runnerImport(join(root, shopFile))).module;
  const idem = new Idem({ id: "shop", store, platform, logger: silent });
  await client.query("begin");
  await idem.send(noted, { tx: client });
  await client.query("commit");
  await idem.stop();
}

let server = null;
for (const [database, stores] of Object.entries(released)) {
  mkdirSync(join(fixtures, database), { recursive: true });
  for (const store of stores) {
    const out = join(fixtures, database, `${store}.sql`);
    if (existsSync(out)) continue;
    const folder = layOut(store.split("-")[1]);
    // Lives as long as what it loaded: much is loaded when it is first wanted.
    let modules = null;
    try {
      // One bundle, so that its modules are loaded once.
      const entry = join(folder, "packages/idem/src/made.ts");
      const names = ["sdk/client.ts", "platform/node-platform.ts"];
      if (database === "sqlite") names.push("store/sqlite/inline-store.ts", "store/sqlite/migrations.ts");
      else names.push("store/postgres/postgres-store.ts");
      writeFileSync(entry, names.map((name, i) => `export * as m${i} from "./${name}";`).join("\n"));
      modules = await createServer({
        root: folder,
        configFile: false,
        logLevel: "error",
        appType: "custom",
        server: { middlewareMode: true, hmr: false, watch: null, ws: false },
        optimizeDeps: { noDiscovery: true },
      });
      const module = await modules.ssrLoadModule(entry);
      const load = async (name) => module[`m${names.indexOf(name)}`];
      if (database === "sqlite") await makeSqlite(load, out);
      else {
        server ??= await startLocalPostgres();
        await makePostgres(load, out, server, folder);
      }
      process.stdout.write(`made ${database} ${store}\n`);
    } finally {
      await modules?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
await server?.remove();
