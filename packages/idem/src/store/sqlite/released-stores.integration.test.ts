// Files of earlier builds under today's code. fixtures/released has one for each schema that was on main.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { expectCarriedForward, type ReleasedStore, releasedStores, twoHoursLater } from "../released-stores.suite.ts";
import { differencesFrom } from "../schema-history.ts";
import { Connection } from "./connection.ts";
import { describeSchema } from "./describe-schema.ts";
import { openInlineStore } from "./inline-store.ts";
import { migrate } from "./migrate.ts";
import { loadMigrations } from "./migrations.ts";
import { openReadOnlyStore } from "./read-only-store.ts";

const migrations = loadMigrations();
// The last version of builds that kept no checksums.
const lastUnrecorded = 12;

/** The file as its build left it; `bringTo`: and as builds without checksums then brought it on. */
function fileOf({ sql, version }: ReleasedStore, bringTo = version): string {
  const folder = mkdtempSync(join(tmpdir(), "idem-released-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "shop.db");
  const connection = new Connection(path, { readonly: false });
  connection.db.exec(sql);
  for (const migration of migrations) {
    if (migration.version <= version || migration.version > bringTo) continue;
    connection.db.exec(migration.sql);
    connection.pragma(`user_version = ${migration.version}`);
  }
  connection.close();
  return path;
}

const schemaOf = (path: string) => {
  const connection = new Connection(path, { readonly: false });
  migrate(connection, migrations);
  const things = describeSchema(connection);
  connection.close();
  return things;
};

const made = schemaOf(":memory:");

async function expectForward(released: ReleasedStore, path: string): Promise<void> {
  const platform = twoHoursLater();
  const store = openInlineStore({ path, migrations, clock: platform, owner: "a test" });
  await expectCarriedForward(store, platform, released);
  const carried = schemaOf(path);
  expect(differencesFrom(made, carried)).toEqual([]);
  expect(differencesFrom(carried, made)).toEqual([]);
}

test.each(releasedStores("sqlite"))(
  "a file of schema $name keeps its facts, its waiting runs go on, and nothing is done twice",
  (released) => expectForward(released, fileOf(released)),
);

// Files whose migration was edited after they had run it. The first never came further than 3: what it lacks, migration 4 reads.
const edited = ["1-30fc1a3", "1-3872730", "4-b863f9a"];
test.each(releasedStores("sqlite").filter(({ name }) => edited.includes(name)))(
  "a file made under schema $name, and brought on by builds without checksums, keeps its facts and goes on",
  (released) => expectForward(released, fileOf(released, released.name === "1-30fc1a3" ? 3 : lastUnrecorded)),
);

const newestUnrecorded = releasedStores("sqlite").find(({ version }) => version === lastUnrecorded)!;

const openBoth = (path: string) => [
  () => openInlineStore({ path, migrations, clock: twoHoursLater(), owner: "a test" }),
  () => openReadOnlyStore({ path, migrations, clock: twoHoursLater() }),
];

const contentsOf = (path: string): unknown => {
  const connection = new Connection(path, { readonly: true });
  const contents = [connection.all("select * from sqlite_schema"), connection.all("select * from runs")];
  connection.close();
  return contents;
};

test("a file whose migrations are not ours is refused with the one that differs, and left as it was", () => {
  const path = fileOf(newestUnrecorded);
  const connection = new Connection(path, { readonly: false });
  migrate(connection, migrations);
  connection.run("update migrations set checksum = 'other' where version = 4");
  connection.close();
  const before = contentsOf(path);
  const why = expect.stringContaining("its migration 4 has the checksum other; here it is 0004_flow with");
  for (const open of openBoth(path)) {
    expect(open).toThrow(expect.objectContaining({ code: "STORE_HISTORY_DIFFERS", facts: { path, why } }));
  }
  expect(contentsOf(path)).toEqual(before);
});

test("a file from before checksums with a schema that was never on main is refused with what differs, and left as it was", () => {
  const path = fileOf(newestUnrecorded);
  const connection = new Connection(path, { readonly: false });
  connection.db.exec("alter table runs drop column carried; drop index runs_by_root");
  connection.close();
  const before = contentsOf(path);
  expect(openBoth(path)[0]).toThrow(
    expect.objectContaining({
      code: "STORE_HISTORY_DIFFERS",
      facts: { path, why: "it says version 12, but column runs.carried is missing (and 1 more)" },
    }),
  );
  expect(contentsOf(path)).toEqual(before);
});

test("a file from before checksums is not read until its next owner has recognised it; what somebody added to it stays", () => {
  const path = fileOf(newestUnrecorded);
  const connection = new Connection(path, { readonly: false });
  connection.db.exec("create index mine on runs (created_at)");
  connection.close();
  const [open, read] = openBoth(path);
  expect(read).toThrow(/kept no checksums of its migrations; the next process that opens it for writing/);
  expect(open).not.toThrow();
  expect(read).not.toThrow();
  expect(describeSchema(new Connection(path, { readonly: true })).get("index mine")).toBeDefined();
});
