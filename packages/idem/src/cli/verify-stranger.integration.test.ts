// A project that knows nothing of this repository, made here: a monorepo whose package is verified from its own folder. NestJS and Next.js have to be
// installed first: `npm run quickstarts`.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "./store-world.ts";

vi.setConfig({ testTimeout: 300_000 });

const modules = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..", "node_modules");

const files: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "acme", "private": true, "workspaces": ["packages/*"] }',
  "tsconfig.base.json": '{ "compilerOptions": { "module": "nodenext", "target": "es2022", "strict": true } }',
  "packages/db/package.json": '{ "name": "@acme/db", "type": "module", "exports": "./src/index.ts" }',
  "packages/db/src/index.ts": 'export { type Invoice, Invoices } from "./invoices.js";\n',
  "packages/db/src/invoices.ts": `import Database from "better-sqlite3";

export interface Invoice {
  readonly placement: string;
  readonly amount: number;
}

export class Invoices {
  private readonly db = new Database("billing.db");

  constructor() {
    this.db.exec("create table if not exists invoices (id integer primary key, placement text not null unique, amount integer)");
    this.db.exec("create table if not exists ledger (id integer primary key, placement text not null)");
  }

  add({ placement, amount }: Invoice): void {
    this.db.prepare("insert or ignore into invoices (placement, amount) values (?, ?)").run(placement, amount);
    this.db.prepare("insert into ledger (placement) values (?)").run(placement);
  }
}
`,
  "packages/billing/package.json": '{ "name": "@acme/billing", "type": "module", "dependencies": { "@acme/db": "*" } }',
  "packages/billing/tsconfig.json":
    '{ "extends": "../../tsconfig.base.json", "compilerOptions": { "baseUrl": ".", "paths": { "#/*": ["src/*"] } } }',
  "packages/billing/src/client.ts":
    'import { Idem } from "idem";\n\nexport const idem = new Idem({ id: "billing" });\n',
  "packages/billing/src/functions.ts": `import { type Invoice, Invoices } from "@acme/db";
import { idem } from "#/client";

const invoices = new Invoices();

export const draftInvoice = idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const invoice: Invoice = { placement: event.data.placementId, amount: 100 };
    await step.run("create-invoice", () => invoices.add(invoice));
  },
);
`,
  "packages/billing/idem.verify.ts": `export default {
  modules: ["src/functions.ts"],
  databases: [{ file: "./billing.db" }],
  functions: {
    "draft-invoice": { event: { name: "crm/placement.made", data: { placementId: "7" } } },
  },
};
`,
};

function monorepo(): string {
  const root = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  // As a package manager leaves it.
  mkdirSync(join(root, "node_modules", "@acme"), { recursive: true });
  const installed = ["idem", "better-sqlite3", "@mswjs", "@open-draft", "@swc", "outvariant", "strict-event-emitter"];
  for (const name of installed) symlinkSync(join(modules, name), join(root, "node_modules", name));
  for (const name of ["db", "billing"])
    symlinkSync(join("..", "..", "packages", name), join(root, "node_modules", "@acme", name));
  return root;
}

test("a package of a monorepo is verified from its own folder, with what it imports from its neighbours, by less than ten lines of configuration", () => {
  expect(files["packages/billing/idem.verify.ts"]!.trim().split("\n").length).toBeLessThanOrEqual(10);
  const root = monorepo();
  const cwd = join(root, "packages", "billing");
  const bin = join(root, "node_modules", "idem", "bin", "idem.mjs");
  const some = ["die-after-effect:2", "die-before-effect:2", "twin-at-once"].flatMap((name) => ["--schedule", name]);
  const verify = () => spawnSync(process.execPath, [bin, "verify", ...some], { cwd, encoding: "utf8" });
  const found = verify();
  expect(found.stdout).toMatch(/✗ DOUBLED +two of billing\.db\/ledger/);
  expect(found.stdout).toMatch(/db\/src\/invoices\.ts:\d+\n.*\n.*\n.*> \d+ \|.*insert into ledger/);
  expect(found.status).toBe(1);
  const file = join(root, "packages", "db", "src", "invoices.ts");
  const mended = readFileSync(file, "utf8")
    .replace("id integer primary key, placement text not null)", "placement text primary key)")
    .replace("insert into ledger", "insert or ignore into ledger");
  writeFileSync(file, mended);
  const held = verify();
  expect(held.stdout).toMatch(/✓ HELD +in \d+ schedules/);
  expect(held.status).toBe(0);
});
