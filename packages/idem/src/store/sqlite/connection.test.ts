import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Connection } from "./connection.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idem-connection-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("durability", () => {
  test("synchronous is FULL before the first write, after it, and on a file that is opened again", () => {
    const path = join(folder, "a.db");
    for (let round = 0; round < 2; round++) {
      const connection = new Connection(path, { readonly: false });
      expect(connection.pragma("synchronous")).toBe(2);
      connection.db.exec("create table if not exists t (x); insert into t values (1)");
      expect(connection.pragma("synchronous")).toBe(2);
      expect(connection.pragma("journal_mode")).toBe("wal");
      connection.close();
    }
  });

  test("commits and checkpoints are synced through the disk's own memory where the system tells the two apart (macOS)", () => {
    const connection = new Connection(join(folder, "a.db"), { readonly: false });
    expect(["fullfsync", "checkpoint_fullfsync"].map((name) => connection.pragma(name))).toEqual([1, 1]);
    connection.close();
  });

  test("a database that cannot keep a write-ahead log is refused, not used with less", () => {
    // An unnamed database lives in a temporary file that SQLite deletes itself: it has no log to sync.
    expect(() => new Connection("", { readonly: false })).toThrow(/STORE_NOT_DURABLE/);
  });

  test("a read-only connection cannot write", () => {
    const path = join(folder, "a.db");
    const owner = new Connection(path, { readonly: false });
    owner.db.exec("create table t (x)");
    const reader = new Connection(path, { readonly: true });
    expect(() => reader.run("insert into t values (1)")).toThrow(/readonly/);
    reader.close();
    owner.close();
  });
});
