// The command on programs with databases of their own, which it must not write.
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterAll, expect, test, vi } from "vitest";
import { nodePlatform } from "../platform/node-platform.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { KeptThreads } from "./kept-threads.suite.ts";
import { temporaryFolder } from "./store-world.ts";

vi.setConfig({ testTimeout: 300_000 });

const threads = new KeptThreads(nodePlatform);
afterAll(() => threads.close());

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..");

const functions = `
import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "shop" });
const db = new Database(process.env.SHOP_DB);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", () => {
      db.prepare("insert into invoices (placement) values (?)").run(event.data.placementId);
    });
  },
);
`;

function project(configuration: (folder: string) => unknown) {
  const folder = temporaryFolder();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "functions.mjs"), functions);
  writeFileSync(join(folder, "idem.verify.mjs"), `export default ${JSON.stringify(configuration(folder))};`);
  const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } };
  writeFileSync(join(folder, "placement.json"), JSON.stringify(event));
  const terminal = fakeTerminal({ cwd: folder, platform: { ...nodePlatform, startThread: threads.startThread } });
  const verify = (...args: string[]) =>
    terminal.run("verify", "functions.mjs", "--event", "placement.json", "--budget", "0", ...args);
  return { folder, terminal, verify };
}

test("rows that are there twice are found in copies of the project's database, which stays as it is to the byte", async () => {
  const { folder, terminal, verify } = project((at) => ({
    env: { SHOP_DB: join(at, "shop.db") },
    databases: [{ file: "./shop.db" }],
  }));
  const file = join(folder, "shop.db");
  const db = new Database(file);
  db.pragma("journal_mode = wal");
  db.exec("create table invoices (id integer primary key, placement text not null)");
  db.exec("insert into invoices (placement) values ('1')");
  // Open, and not all of it in the file itself.
  const before = ["", "-wal"].map((part) => readFileSync(file + part));
  expect(await verify("--database", "postgres://shop:secret@localhost:5432/postgres")).toBe(1);
  const { out } = terminal.written;
  expect(out).toMatch(/repeat: idem verify functions\.mjs .* --database \S+@localhost:5432\/postgres/);
  expect(out).not.toContain("secret");
  const page = readFileSync(join(root, "docs", "verify.md"), "utf8");
  for (const line of [
    /✗ DOUBLED +two of shop\.db\/invoices/,
    /step create-invoice +INSERT shop\.db\/invoices +→ happened/,
  ]) {
    expect(out).toMatch(line);
    expect(page).toMatch(line);
  }
  expect(out).toMatch(/functions\.mjs:13/);
  expect(out).toMatch(/step\.transaction with your database's adapter/);
  expect(["", "-wal"].map((part) => readFileSync(file + part))).toEqual(before);
  expect(db.prepare("select placement from invoices").pluck().all()).toEqual(["1"]);
  db.close();
  const left = existsSync("/dev/shm")
    ? readdirSync("/dev/shm").filter((name) => name.startsWith(`idem-verify-${process.pid}-`))
    : [];
  expect(left).toEqual([]);
});

test("a scratch server is this machine's unless told, and nothing is opened before that is clear", async () => {
  const { terminal, verify } = project(() => ({ databases: [{ env: "DATABASE_URL", migrate: "exit 9" }] }));
  expect(await verify("--database", "postgres://shop:secret@db.example.com/shop")).toBe(3);
  expect(terminal.written.err).toMatch(/db\.example\.com, which is not this machine\. .*--remote-database/);
  expect(terminal.written.err).not.toContain("secret");
  expect(await verify("--database", "mysql://localhost/shop")).toBe(3);
  expect(terminal.written.err).toMatch(/the address of a PostgreSQL server/);
});

test("what a configuration says of databases is checked before anything is loaded", async () => {
  const { terminal, verify } = project(() => ({ databases: [{ fiel: "./shop.db" }] }));
  expect(await verify()).toBe(3);
  expect(terminal.written.err).toMatch(/a database: "fiel" means nothing there/);
});
