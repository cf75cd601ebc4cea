// The driver as the store relies on it, on the one that this Node uses; `IDEM_SQLITE=better-sqlite3` and `npm run runtimes` ask the others.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  chooseDriver,
  type Driver,
  type Handle,
  immediately,
  isOlder,
  type Surroundings,
  sqliteDriver,
} from "./driver.ts";
import { nodeSqlite } from "./drivers/node-sqlite.ts";
import { resultName, resultOfMessage } from "./result-names.ts";

let folder: string;
let path: string;
const open: Handle[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-driver-"));
  path = join(folder, "a.db");
});
afterEach(() => {
  for (const handle of open.splice(0)) if (handle.isOpen) handle.close();
  rmSync(folder, { recursive: true, force: true });
});

function openFile(file = path, over: { readonly?: boolean; mustExist?: boolean } = {}): Handle {
  const handle = sqliteDriver().open(file, { readonly: false, busyMs: 0, ...over });
  open.push(handle);
  return handle;
}

const codeOf = (body: () => unknown): unknown => {
  try {
    body();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return "nothing was refused";
};

describe("a driver", () => {
  test("keeps texts that differ only behind a U+0000 apart, and gives them back as they were", () => {
    const db = openFile();
    db.exec("create table t (s text primary key)");
    const texts = ["a", "a\u0000", "a\u0000b", "a\u0000c", "a\uFFFF0b", "\u0000"];
    for (const text of texts) db.prepare("insert into t values (?)").run(text);
    expect(texts.map((s) => db.prepare("select s from t where s = :s").get({ s }))).toEqual(texts.map((s) => ({ s })));
    const sorted = [...texts].sort();
    expect(
      db
        .prepare("select s from t")
        .all()
        .map((row) => (row as { s: string }).s)
        .sort(),
    ).toEqual(sorted);
    expect([...db.cells("select s from t")].flat().sort()).toEqual(sorted);
  });

  test("counts changed rows, gives undefined for no row, and passes over names that a statement has not", () => {
    const db = openFile();
    db.exec("create table t (n integer primary key, s text unique); insert into t values (1, 'a')");
    expect(db.prepare("insert into t values (?, ?), (?, ?)").run(2, "b", 3, null).changes).toBe(2);
    expect(db.prepare("select n from t where s = ?").get("z")).toBeUndefined();
    const found = db.prepare("select n, s from t where n > :least order by n");
    expect(found.reader).toBe(true);
    expect(found.all({ least: 1, other: "x" })).toEqual([
      { n: 2, s: "b" },
      { n: 3, s: null },
    ]);
    expect(db.prepare("update t set s = :s where n = :n").reader).toBe(false);
    expect([...db.cells("select s, n from t order by n")]).toEqual([
      ["a", 1],
      ["b", 2],
      [null, 3],
    ]);
  });

  test("names what is refused as SQLite does: constraints, locks, files that are none, are not there or may not be written", () => {
    const db = openFile();
    db.exec("create table t (n integer primary key, s text not null unique); insert into t values (1, 'a')");
    expect(codeOf(() => db.prepare("insert into t values (2, 'a')").run())).toBe("SQLITE_CONSTRAINT_UNIQUE");
    expect(codeOf(() => db.prepare("insert into t values (?, ?)").run(2, null))).toBe("SQLITE_CONSTRAINT_NOTNULL");
    expect(codeOf(() => db.prepare("selec"))).toBe("SQLITE_ERROR");
    db.exec("begin immediate");
    expect(db.inTransaction).toBe(true);
    expect(codeOf(() => openFile().exec("begin immediate"))).toBe("SQLITE_BUSY");
    expect(codeOf(() => openFile().prepare("begin immediate").run())).toBe("SQLITE_BUSY");
    db.exec("rollback");
    expect(db.inTransaction).toBe(false);
    expect(codeOf(() => openFile(path, { readonly: true }).prepare("delete from t").run())).toBe("SQLITE_READONLY");
    writeFileSync(join(folder, "text"), "not a database, ".repeat(100));
    expect(codeOf(() => openFile(join(folder, "text")).prepare("select * from sqlite_schema").all())).toBe(
      "SQLITE_NOTADB",
    );
    expect(codeOf(() => openFile(join(folder, "none.db"), { mustExist: true }))).toBe("SQLITE_CANTOPEN");
    expect(codeOf(() => openFile(join(folder, "none.db"), { readonly: true }))).toBe("SQLITE_CANTOPEN");
  });

  test("lets go of every lock when it is closed, whatever was prepared", () => {
    const db = openFile();
    db.exec("create table t (n integer)");
    db.prepare("select * from t").get();
    db.prepare("begin immediate").run();
    db.prepare("insert into t values (1)").run();
    db.close();
    const next = openFile();
    next.exec("begin exclusive");
    expect(next.prepare("select count(*) as count from t").get()).toEqual({ count: 0 });
  });

  test("undoes a transaction whose body throws, and keeps one that does not", () => {
    const db = openFile();
    db.exec("create table t (n integer)");
    const insert = () => void db.prepare("insert into t values (1)").run();
    immediately(db, insert);
    expect(() =>
      immediately(db, () => {
        insert();
        throw new Error("half-way");
      }),
    ).toThrow("half-way");
    expect(db.prepare("select count(*) as count from t").get()).toEqual({ count: 1 });
  });

  test("copies one snapshot into a file while another connection goes on writing", async () => {
    const db = openFile();
    db.exec("pragma journal_mode = wal; create table t (n integer primary key, s text)");
    const fill = db.prepare("insert into t (s) values (?)");
    immediately(db, () => {
      for (let i = 0; i < 20_000; i++) fill.run("x".repeat(500));
    });
    const other = openFile();
    const before = db.prepare("select count(*) as count from t").get();
    const target = join(folder, "copy.db");
    const steps: number[] = [];
    await db.backup(target, (done) => {
      steps.push(done);
      other.prepare("insert into t (s) values ('later')").run();
    });
    expect(steps.length).toBeGreaterThan(0);
    expect(openFile(target).prepare("select count(*) as count from t").get()).toEqual(before);
  });
});

describe("the choice of a driver", () => {
  const driverWith = (name: Driver["name"], version = "3.53.0"): Driver => ({
    name,
    open: () =>
      ({ prepare: () => ({ get: () => ({ v: version }) }), close: () => {} }) as unknown as ReturnType<Driver["open"]>,
  });
  const missing = (): never => {
    throw Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" });
  };
  const around = (over: Partial<Surroundings> = {}): Surroundings => ({
    chosen: undefined,
    runtime: { kind: "node", name: "Node 24.15.0" },
    load: { "better-sqlite3": () => driverWith("better-sqlite3"), node: () => driverWith("node"), bun: missing },
    ...over,
  });
  const { load } = around();

  test("takes the SQLite inside Node where it is new enough, and better-sqlite3 where it is not or there is none", () => {
    expect(chooseDriver(around()).name).toBe("node");
    expect(chooseDriver(around({ load: { ...load, node: () => driverWith("node", "3.51.2") } })).name).toBe(
      "better-sqlite3",
    );
    expect(chooseDriver(around({ load: { ...load, node: missing } })).name).toBe("better-sqlite3");
  });

  test("takes Bun's own on Bun, whatever else is there", () => {
    const runtime = { kind: "bun", name: "Bun 1.4.4" } as const;
    expect(chooseDriver(around({ runtime, load: { ...load, bun: () => driverWith("bun") } })).name).toBe("bun");
  });

  test("says what was looked for and the command that installs it, where there is none", () => {
    const runtime = { kind: "node", name: "Node 20.20.2" } as const;
    const none = { "better-sqlite3": missing, node: missing, bun: missing };
    expect(() => chooseDriver(around({ runtime, load: none }))).toThrow(
      /Node 20\.20\.2 has no SQLite inside, and better-sqlite3 is not installed.*"npm install better-sqlite3".*STORE_DRIVER_UNUSABLE/s,
    );
    const old = { ...none, node: () => driverWith("node", "3.47.2") };
    expect(() => chooseDriver(around({ load: old }))).toThrow(/SQLite 3\.47\.2 inside, older than 3\.51\.3/);
  });

  test("is the user's where IDEM_SQLITE names one, and is not quietly another", () => {
    expect(chooseDriver(around({ chosen: "better-sqlite3" })).name).toBe("better-sqlite3");
    expect(() => chooseDriver(around({ chosen: "bun" }))).toThrow(/IDEM_SQLITE=bun on Node 24\.15\.0/);
    expect(() => chooseDriver(around({ chosen: "sqlite3" }))).toThrow(/IDEM_SQLITE is "sqlite3"/);
  });

  test("compares versions by their numbers", () => {
    expect(["3.51.2", "3.9.9", "2.99.99"].map(isOlder)).toEqual([true, true, true]);
    expect(["3.51.3", "3.51.10", "3.100.0", "4.0.0"].map(isOlder)).toEqual([false, false, false, false]);
  });
});

test("SQLite's numbers have the names of its own list, and one that is new there the name of its kind", () => {
  const known = {
    5: "BUSY",
    13: "FULL",
    26: "NOTADB",
    517: "BUSY_SNAPSHOT",
    779: "CORRUPT_INDEX",
    1032: "READONLY_DBMOVED",
  };
  const more = { 1034: "IOERR_FSYNC", 1290: "IOERR_DIR_FSYNC", 2067: "CONSTRAINT_UNIQUE", 4874: "IOERR_SHMSIZE" };
  const last = { 8202: "IOERR_DATA", 8458: "IOERR_CORRUPTFS", 1299: "CONSTRAINT_NOTNULL", [10 + 256 * 99]: "IOERR" };
  for (const [number, name] of Object.entries({ ...known, ...more, ...last })) {
    expect(resultName(Number(number))).toBe(`SQLITE_${name}`);
  }
  expect(resultName(resultOfMessage("database is locked"))).toBe("SQLITE_BUSY");
  expect(resultName(resultOfMessage("unable to open database file: /a.db"))).toBe("SQLITE_CANTOPEN");
  expect(resultName(resultOfMessage("no such table: t"))).toBe("SQLITE_ERROR");
});

test("on a runtime whose SQLite reads text up to its first U+0000, texts that differ only behind it stay apart", () => {
  const cut = (cell: unknown) => (typeof cell === "string" ? cell.split("\u0000")[0] : cell);
  /** As Deno's: whole in the file, cut when it is read. */
  class Cutting {
    readonly isOpen = true;
    readonly isTransaction = false;
    private readonly kept: unknown[] = [];
    prepare(sql: string) {
      const rows = () => (sql.includes("char(97, 0, 98)") ? [{ text: "a" }] : this.kept.map((s) => ({ s: cut(s) })));
      return {
        run: (...cells: unknown[]) => ({ changes: this.kept.push(...cells) }),
        get: () => rows()[0],
        all: rows,
        iterate: () => rows().map((row) => Object.values(row)),
        columns: () => (sql.startsWith("select") ? [{}] : []),
        setReturnArrays() {},
        setAllowUnknownNamedParameters() {},
      };
    }
    exec() {}
    close() {}
  }
  const driver = nodeSqlite({ DatabaseSync: Cutting, backup: () => Promise.resolve() });
  const db = driver.open("a.db", { readonly: false, busyMs: 0 });
  const texts = ["a", "a\u0000b", "a\u0000c", "a\uFFFF0b"];
  for (const text of texts) db.prepare("insert into t values (?)").run(text);
  expect(db.prepare("select s from t").all()).toEqual(texts.map((s) => ({ s })));
  expect([...db.cells("select s from t")]).toEqual(texts.map((s) => [s]));
});
