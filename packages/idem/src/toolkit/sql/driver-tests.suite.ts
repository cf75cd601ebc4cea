// The tests of every driver with an adapter, on a file of SQLite and on a real PostgreSQL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { type AdapterWorld, adapterSuite, say, transact } from "./adapter.suite.ts";
import type { Closing, OpenDriver } from "./adapters.suite.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.suite.ts";
import { sqlFaultOf } from "./faults.ts";
import type { Operation } from "./operation.ts";
import { ensureTables } from "./ready-tables.ts";

type Drivers = Readonly<Record<string, OpenDriver>>;

const tablesOfTest = (bytes: string) => `
  create table items (name text primary key);
  create table odd (id integer primary key, bytes ${bytes}, empty text, big bigint, words text)`;

/** Closes, last opened first, when the tests of a group are over. */
function closingAfterAll(): Closing {
  const closes: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closes.reverse()) await close();
  });
  return (close) => closes.push(close);
}

export function sqliteDriverTests(drivers: Drivers): void {
  describe.each(Object.entries(drivers))("%s", (_name, open) => {
    const closing = closingAfterAll();
    let world: AdapterWorld;
    beforeAll(() => {
      const folder = mkdtempSync(join(tmpdir(), "idem-adapter-"));
      const path = join(folder, "user.db");
      const own = new Database(path, { timeout: 1 });
      own.pragma("journal_mode = WAL");
      own.exec(tablesOfTest("blob"));
      closing(() => rmSync(folder, { recursive: true, force: true }));
      closing(() => own.close());
      world = {
        ...open(path, closing),
        breaksWhenLost: false,
        rows: async (text) => {
          const statement = own.prepare(text);
          if (statement.reader) return statement.all();
          statement.run();
          return [];
        },
        hold: async () => {
          own.exec("begin immediate");
          return async () => void own.exec("rollback");
        },
      };
    });
    adapterSuite(() => world);

    test("pitfall 27: an async body is refused before any statement, or is whole", async () => {
      const { adapter, native, rows } = world;
      let hasBegun = false;
      const work = adapter.transaction(async (tx) => {
        hasBegun = true;
        await native(tx, "insert into items (name) values ('first')");
        await native(tx, "insert into items (name) values ('second')");
        throw new Error("undo both");
      });
      if (adapter.bodies === "sync") {
        await expect(work).rejects.toMatchObject({ code: "TRANSACTION_ASYNC" });
        expect(hasBegun).toBe(false);
      } else await expect(work).rejects.toThrow("undo both");
      expect(await rows("select name from items")).toEqual([]);
    });

    test("pitfall 28: what a transaction reports as committed is committed, whatever its body swallowed", async () => {
      const { rows, ...opened } = world;
      const swallow = (failing: string) =>
        transact(opened, function* () {
          yield say("insert into items (name) values ('kept')");
          try {
            yield say(failing);
          } catch {
            // And goes on as if nothing had happened.
          }
          return "done";
        });
      // Undone by itself: the rest of the transaction stands, and is committed.
      expect(await swallow("insert into items (name) values ('kept')")).toBe("done");
      expect(await rows("select name from items")).toEqual([{ name: "kept" }]);
      await rows("delete from items");
      // The whole was undone.
      const whole = swallow("insert or rollback into items (name) values ('kept')");
      await expect(whole).rejects.toMatchObject({ code: "TRANSACTION_ABORTED" });
      expect(await rows("select name from items")).toEqual([]);
    });

    test("nobody else writes between the first statement of a body and its last, so what it read stays true", async () => {
      const { adapter, native, rows } = world;
      await ensureTables(adapter);
      const theirs = () => rows("insert into items (name) values ('theirs')").then(() => "wrote", sqlFaultOf);
      let said: Promise<string> | undefined;
      const read = (tx: any) => native(tx, "update items set name = name where name = 'nobody'");
      const write = (tx: any) => native(tx, "insert into items (name) values ('ours')");
      await adapter.transaction(
        adapter.bodies === "sync"
          ? (tx) => {
              said = theirs();
              write(tx);
            }
          : async (tx) => {
              said = theirs();
              await said;
              await read(tx);
              await write(tx);
            },
      );
      expect(await said).toBe("lock-timeout");
      expect(await rows("select name from items")).toEqual([{ name: "ours" }]);
    });
  });
}

/** The server of a group of tests; to be asked once they run. */
export interface PostgresOfTest {
  url(): string;
  admin(): pg.Pool;
  /** A new one, with the tables of the tests. */
  schema(): Promise<string>;
}

export const through = (url: string, name: string) => `${url}?options=-c%20search_path%3D${name}`;

/** `more`: tests that use the same server. */
export function postgresDriverTests(drivers: Drivers, more: (server: PostgresOfTest) => void = () => {}): void {
  describe("on PostgreSQL", () => {
    let server: PostgresDatabase;
    let proxy: CuttingProxy;
    let admin: pg.Pool;
    let schemas = 0;
    beforeAll(async () => {
      server = await postgresDatabase();
      proxy = await startCuttingProxy(server.url);
      admin = new pg.Pool({ connectionString: server.url, max: 2 });
      admin.on("error", () => {});
    });
    afterAll(async () => {
      await admin.end();
      await proxy.close();
      await server.remove();
    });
    const schema = async () => {
      const name = `adapter${++schemas}`;
      await admin.query(
        `create schema ${name}; set search_path = ${name}; ${tablesOfTest("bytea")}; reset search_path`,
      );
      return name;
    };

    describe.each(Object.entries(drivers))("%s", (driver, open) => {
      const closing = closingAfterAll();
      let world: AdapterWorld;
      let name: string;
      beforeAll(async () => {
        name = await schema();
        const own = new pg.Client({ connectionString: through(server.url, name) });
        await own.connect();
        closing(() => own.end());
        world = {
          ...open(through(server.url, name), closing),
          breaksWhenLost: driver.includes("postgres.js"),
          rows: async (text) => (await own.query(text)).rows,
          hold: async () => {
            await own.query("begin; update items set name = name");
            return async () => void (await own.query("rollback"));
          },
        };
      });
      adapterSuite(() => world);

      test.each(["before", "after"] as const)(
        "pitfall 26: a session lost %s the server committed is a commit of which nobody knows, and asking again writes once",
        async (when) => {
          const { rows } = world;
          const cut = open(through(proxy.url, name), closing);
          const place = function* (): Operation<void> {
            yield say("insert into items (name) values ('order-7') on conflict do nothing");
          };
          proxy.cut(when);
          await expect(transact(cut, place)).rejects.toMatchObject({ code: "COMMIT_UNKNOWN" });
          expect(await rows("select name from items")).toHaveLength(when === "before" ? 0 : 1);
          await transact(cut, place);
          expect(await rows("select name from items")).toEqual([{ name: "order-7" }]);
        },
      );

      test("pitfall 28: a body that swallows the failure of a statement ends as an error, and nothing is committed", async () => {
        const { rows, ...opened } = world;
        const swallow = transact(opened, function* () {
          yield say("insert into items (name) values ('lost')");
          try {
            yield say("insert into items (name) values ('lost')");
          } catch {
            // And goes on as if nothing had happened.
          }
          return "done";
        });
        await expect(swallow).rejects.toMatchObject({ code: "TRANSACTION_ABORTED" });
        expect(await rows("select name from items")).toEqual([]);
        // Around a part that may fail, there are savepoints.
        const { adapter } = opened;
        const kept = adapter.transaction(async (tx) => {
          const sql = adapter.wrap(tx);
          await sql.query("insert into items (name) values ($1)", ["kept"]);
          await sql.query("savepoint part", []);
          await sql.query("rollback to savepoint part", []);
          return "done";
        });
        expect(await kept).toBe("done");
        expect(await rows("select name from items")).toEqual([{ name: "kept" }]);
      });

      test("a commit that the server refuses is a failure that is known", async () => {
        const { rows, ...opened } = world;
        await rows("create table later (name text unique deferrable initially deferred)");
        const work = transact(opened, function* () {
          yield say("insert into later (name) values ('a'), ('a')");
        });
        const error = await work.catch((thrown) => thrown);
        expect(error.code ?? error.cause?.code).toBe("23505");
        expect(await rows("select name from later")).toEqual([]);
      });

      test("what the server undid in favour of another one may be done again", async () => {
        const { rows, ...opened } = world;
        await rows("insert into items (name) values ('a')");
        const { adapter, native } = opened;
        const work = adapter.transaction(async (tx) => {
          await native(tx, "set transaction isolation level repeatable read");
          await native(tx, "select name from items");
          await rows("update items set name = 'b'");
          await native(tx, "update items set name = 'c'");
        });
        expect(await work.then(() => "none", sqlFaultOf)).toBe("again");
        expect(await rows("select name from items")).toEqual([{ name: "b" }]);
      });

      test("an error of an operation's statement repeats no parameter", async () => {
        const { adapter } = world;
        const operation = function* (): Operation<void> {
          yield say("insert into no_such_table (name) values ($1)", "a-secret-key");
        };
        const error = await adapter.perform(operation()).catch((thrown) => thrown);
        expect(error.code).toBe("42P01");
        expect(String(error.message)).not.toContain("a-secret-key");
      });
    });

    more({ url: () => server.url, admin: () => admin, schema });
  });
}
