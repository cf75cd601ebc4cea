// `idem upgrade --check` on a store of an earlier version.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageVersion } from "../platform/package-files.ts";
import { Connection } from "../store/sqlite/connection.ts";
import { migrate } from "../store/sqlite/migrate.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { fakeTerminal } from "./fake-terminal.ts";
import { storeWorld, temporaryFolder } from "./store-world.ts";

/** A file that stopped at this version, with one open run and a node that lives. */
function olderStore(version: number) {
  const cwd = temporaryFolder();
  const path = join(cwd, "shop.db");
  const connection = new Connection(path, { readonly: false });
  migrate(
    connection,
    loadMigrations().filter((each) => each.version <= version),
  );
  connection.run(
    "insert into workers (id, started_at, until, node, version) values ('w1', 1, 9000000000000000, 'process 7 on web-1', '0.0.9')",
  );
  connection.close();
  return { path, terminal: fakeTerminal({ cwd, env: { IDEM_STORE: `sqlite:${path}` } }) };
}

test("a store of an earlier version is told what would run on it, who has another version and what to do, and is not touched", async () => {
  const { path, terminal } = olderStore(11);
  const before = readFileSync(path);
  expect(await terminal.run("upgrade", "--check")).toBe(1);
  const { out } = terminal.written;
  expect(out).toContain(`idem ${packageVersion()} is installed here`);
  expect(out).toContain(`${path} has schema version 11.`);
  expect(out).toMatch(/0012_audit_filters +reads every row of audit\n/);
  expect(out).toMatch(/0014_webhook_scope +changes rows of claim_keys, claims\n/);
  expect(out).toMatch(/0017_metadata +quick on a store of any size\n/);
  expect(out).toContain("process 7 on web-1 runs 0.0.9.");
  expect(out).toContain(`1. idem backup before-upgrade.db --store sqlite:${path}`);
  expect(out).toContain("2. Stop the process that has the file, and start the new one");
  const told = JSON.parse((await terminal.run("upgrade", "--check", "--json"), terminal.written.out));
  expect(told.schema).toEqual({ installed: loadMigrations().at(-1)!.version, store: 11 });
  expect(told.pending).toHaveLength(loadMigrations().length - 11);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a store of this version has nothing to do; a newer one is refused, and nothing happens without --check", async () => {
  const { idem, terminal, path, stop } = storeWorld();
  idem.createFunction({ id: "nap" }, { event: "nap" }, ({ step }) => step.sleep("a", "7d"));
  await idem.start();
  await idem.send({ name: "nap" });
  await idem.idle();
  await stop();
  expect(await terminal.run("upgrade", "--check")).toBe(0);
  expect(terminal.written.out).toMatch(/One run is open\.\nNothing is to be done\.\n$/);
  expect(await terminal.run("upgrade")).toBe(3);
  expect(terminal.written.err).toContain("Say --check");
  const connection = new Connection(path, { readonly: false });
  connection.pragma("user_version = 999");
  connection.close();
  expect(await terminal.run("upgrade", "--check")).toBe(3);
  expect(terminal.written.err).toContain("STORE_NEWER");
});
