// The contract on the real core: in memory, and on a file through the thread and its group commit.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { storeContract } from "../contract/all.ts";
import { openInlineStore } from "./inline-store.ts";
import { loadMigrations } from "./migrations.ts";

const migrations = loadMigrations();

storeContract("SQLite in memory", async () => {
  const clock = new ManualClock();
  return { store: openInlineStore({ path: ":memory:", migrations, clock, owner: "test" }), clock };
});

// Every second claim fills the tree, so that claims in it and beside it meet in every test.
storeContract("SQLite in memory, few newest claims", async () => {
  const clock = new ManualClock();
  const store = openInlineStore({ path: ":memory:", migrations, clock, owner: "test", newestClaimsMax: 2 });
  return { store, clock };
});

const folder = mkdtempSync(join(tmpdir(), "idem-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
storeContract("SQLite file", async () => {
  const clock = new ManualClock();
  const path = join(folder, `${++files}.db`);
  return { store: openInlineStore({ path, migrations, clock, owner: "test" }), clock };
});
