// The contract on the real core: in memory, with every commit refused once, and on a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { storedNothing } from "../../model/errors.ts";
import { ManualClock } from "../../platform/manual-clock.ts";
import { storeContract } from "../contract/all.ts";
import { turnsSuite } from "../contract/turns.suite.ts";
import { operationNames, type Store } from "../store.ts";
import { Connection } from "./connection.ts";
import { openInlineStore } from "./inline-store.ts";
import { loadMigrations } from "./migrations.ts";

const migrations = loadMigrations();

storeContract("SQLite in memory", async () => {
  const clock = new ManualClock();
  return { store: openInlineStore({ path: ":memory:", migrations, clock, owner: "test" }), clock };
});

// Every commit is refused at first, as by a full disk, and made again: what the refused one left in memory would show. Whose turn it is
// among the lanes of a function is read anew from the jobs after each, and then begins with the first.
storeContract("SQLite in memory, every commit refused once", async () => {
  const clock = new ManualClock();
  const store = openInlineStore({ path: ":memory:", migrations, clock, owner: "test", newestClaimsMax: 2 });
  return { store: repeating(store), clock };
}, [turnsSuite]);

const refusedOnce = new WeakSet<Connection>();
let isRefusing = false;
const run = Connection.prototype.run;
beforeAll(() => {
  vi.spyOn(Connection.prototype, "run").mockImplementation(function (this: Connection, sql, ...params) {
    if (!isRefusing || sql !== "commit" || refusedOnce.delete(this)) return run.call(this, sql, ...params);
    refusedOnce.add(this);
    throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  });
});
afterAll(() => void vi.restoreAllMocks());

/** The same store for a caller who tries again when nothing was stored; calls made at once keep their order, as in a batch. */
function repeating(store: Store): Store {
  let last: Promise<unknown> = Promise.resolve();
  const repeat = async (operation: () => Promise<unknown>): Promise<unknown> => {
    isRefusing = true;
    try {
      return await operation();
    } catch (error) {
      if (!storedNothing(error)) throw error;
      return await operation();
    } finally {
      isRefusing = false;
    }
  };
  const inTurn = (operation: () => Promise<unknown>): Promise<unknown> => {
    const done = last.then(() => repeat(operation));
    last = done.catch(() => {});
    return done;
  };
  const repeated = operationNames.map((name) => {
    const operation = store[name] as (...input: unknown[]) => Promise<unknown>;
    return [name, (...input: unknown[]) => inTurn(() => operation(...input))] as const;
  });
  return { ...store, ...Object.fromEntries(repeated) };
}

const folder = mkdtempSync(join(tmpdir(), "idem-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Every second claim fills the tree of the newest, so that claims in it and outside of it meet in every test.
let files = 0;
storeContract("SQLite file, few newest claims", async () => {
  const clock = new ManualClock();
  const path = join(folder, `${++files}.db`);
  return { store: openInlineStore({ path, migrations, clock, owner: "test", newestClaimsMax: 2 }), clock };
});
