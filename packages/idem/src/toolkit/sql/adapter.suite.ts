// The promises of every adapter, whichever driver is under it. A body is written as an operation, so that one text serves drivers that are awaited
// and drivers that answer at once; its statements go through the driver's own call, as a user's would.
import { beforeEach, expect, test } from "vitest";
import { driveAsync } from "../../store/rules/rule.ts";
import type { Adapter, SyncAdapter, TransactionOptions } from "./adapter.ts";
import { sqlFaultOf } from "./faults.ts";
import { type Answered, drive, type Operation, type SqlValue, type Statement } from "./operation.ts";
import { checkTables, ensureTables } from "./ready-tables.ts";

export interface OpenedAdapter {
  readonly adapter: Adapter<any>;
  /** Runs a text with the driver's own call, as user code does. */
  native(tx: any, text: string): unknown;
}

export interface AdapterWorld extends OpenedAdapter {
  /** Nothing can be sent in a transaction whose session is gone, not even to undo it: postgres.js ends the process over it. */
  readonly breaksWhenLost: boolean;
  rows(text: string): Promise<any[]>;
  /** Another session writes to `items` and keeps its transaction open until it is let go. */
  hold(): Promise<() => Promise<void>>;
}

export const say = (text: string, ...params: SqlValue[]): Statement => ({ text, params });

function* one<T>(text: string, ...params: SqlValue[]): Operation<T> {
  const { rows } = yield say(text, ...params);
  return rows[0] as T;
}

function* count(text: string, ...params: SqlValue[]): Operation<number> {
  const { count } = yield say(text, ...params);
  return count;
}

/** A transaction whose statements are run by the driver's own call. */
export function transact<T>(
  { adapter, native }: OpenedAdapter,
  work: () => Operation<T>,
  options?: TransactionOptions,
): Promise<T> {
  const none: Answered = { rows: [], count: 0 };
  const body =
    adapter.bodies === "sync"
      ? (tx: any) =>
          drive(work(), ({ text }) => {
            native(tx, text);
            return none;
          })
      : (tx: any) =>
          driveAsync(work(), async ({ text }) => {
            await native(tx, text);
            return none;
          });
  return adapter.transaction(body as (tx: any) => T, options);
}

/** An operation of the toolkit's as a part of a transaction. */
export const performIn = ({ adapter }: OpenedAdapter, tx: any, operation: Operation<any>): any =>
  adapter.bodies === "sync"
    ? (adapter as SyncAdapter<any>).performSync(tx, operation)
    : adapter.wrap(tx).perform(operation);

/** The world is opened once; each test finds its tables empty. */
export function adapterSuite(opened: () => AdapterWorld): void {
  let world: AdapterWorld;
  beforeEach(async () => {
    world = opened();
    await world.rows("delete from items");
    await world.rows("delete from odd");
  });
  const items = async (): Promise<string[]> =>
    (await world.rows("select name from items order by name")).map(({ name }) => name);

  test("what the body wrote is there when it returns, and gone when it throws", async () => {
    const value = await transact(world, function* () {
      yield say("insert into items (name) values ('a')");
      yield say("insert into items (name) values ('b')");
      return { kept: true };
    });
    expect(value).toEqual({ kept: true });
    const refusal = new Error("no");
    const refused = transact(world, function* () {
      yield say("insert into items (name) values ('c')");
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect(await items()).toEqual(["a", "b"]);
  });

  test("a list that a body returns comes back as it is", async () => {
    const list = [1, "b", null];
    const answer = transact(world, function* () {
      yield say("insert into items (name) values ('a')");
      return list;
    });
    expect(await answer).toEqual(list);
  });

  test("bytes, nulls, great integers and any text come back as they went in", async () => {
    const bytes = new Uint8Array([0xff, 0xfe, 0, 0x80]);
    const text = `?1 $1 :a ' " \\ ä 😀\n;--`;
    const written = world.adapter.perform(
      count(
        "insert into odd (id, bytes, empty, big, words) values ($1, $2, $3, $4, $5)",
        1,
        bytes,
        null,
        Number.MAX_SAFE_INTEGER,
        text,
      ),
    );
    expect(await written).toBe(1);
    const read = await world.adapter.perform(one<any>("select * from odd where words = $1", text));
    expect(new Uint8Array(read.bytes)).toEqual(bytes);
    expect(read.empty).toBeNull();
    expect(Number(read.big)).toBe(Number.MAX_SAFE_INTEGER);
    expect(read.words).toBe(text);
    expect(await world.adapter.perform(count("update odd set big = $1", 2n ** 62n))).toBe(1);
    const great = "select cast(big as text) as big, words from odd where bytes = $1";
    expect(await world.adapter.perform(one(great, bytes))).toEqual({ big: String(2n ** 62n), words: text });
  });

  test("a statement that returns no rows says how many it wrote", async () => {
    const insert = "insert into items (name) values ('a'), ('b') on conflict do nothing";
    expect(await world.adapter.perform(count(insert))).toBe(2);
    expect(await world.adapter.perform(count(insert))).toBe(0);
    expect(await world.adapter.perform(count("update items set name = name where name = $1", "a"))).toBe(1);
    expect(await world.adapter.perform(one("delete from items where name = $1 returning name", "a"))).toEqual({
      name: "a",
    });
  });

  test("what is performed in a transaction is a part of it", async () => {
    const insert = (name: string) => count("insert into items (name) values ($1)", name);
    const body = (tx: any) => performIn(world, tx, insert("a"));
    expect(await world.adapter.transaction(body)).toBe(1);
    const undone = world.adapter.transaction((tx: any) => {
      const done = performIn(world, tx, insert("b"));
      const refuse = () => {
        throw new Error("undo it");
      };
      return world.adapter.bodies === "sync" ? refuse() : done.then(refuse);
    });
    await expect(undone).rejects.toThrow("undo it");
    expect(await items()).toEqual(["a"]);
  });

  test("an operation may catch the failure of its own statement", async () => {
    const operation = function* (): Operation<string> {
      try {
        yield say("insert into no_such_table (name) values ($1)", "a");
        return "written";
      } catch (error) {
        return String((error as Error).message);
      }
    };
    expect(await world.adapter.perform(operation())).toMatch(/no_such_table/);
  });

  test("what a body throws is what the caller gets, also when the session is gone and nothing can be undone", async ({
    skip,
  }) => {
    if (world.breaksWhenLost) skip();
    const refusal = new Error("mine");
    const work = transact(world, function* () {
      try {
        yield say(world.adapter.dialect === "sqlite" ? "rollback" : "select pg_terminate_backend(pg_backend_pid())");
      } catch {
        // That it ends the session is what it is for.
      }
      throw refusal;
    });
    // `pg` guards its client from words that end the transaction; all the same, what counts is what the body threw.
    await expect(work).rejects.toBe(refusal);
    expect(await world.adapter.perform(one("select 1 as still"))).toEqual({ still: 1 });
  });

  test("the toolkit's tables can be made through it, and made again", async () => {
    await expect(checkTables(world.adapter)).rejects.toMatchObject({ code: "TABLES_MISSING" });
    await ensureTables(world.adapter);
    await ensureTables(world.adapter);
    await checkTables(world.adapter);
  });

  test("a statement waits for somebody else's lock no longer than it was allowed to", async () => {
    await world.rows("insert into items (name) values ('a')");
    const release = await world.hold();
    const write = function* (): Operation<void> {
      yield say("update items set name = 'z' where name = 'a'");
    };
    const fault = await transact(world, write, { lockTimeoutMs: 40 }).then(() => "none", sqlFaultOf);
    expect(fault).toBe("lock-timeout");
    await release();
    expect(await items()).toEqual(["a"]);
    await transact(world, write);
    expect(await items()).toEqual(["z"]);
  });
}
