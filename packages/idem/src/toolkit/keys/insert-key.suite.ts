// The key inside the user's own transaction: it is there when their writes are, and not when they are not.
import { expect, test } from "vitest";
import type { TestDatabase } from "../sql/databases.suite.ts";
import { sqlFaultOf } from "../sql/faults.ts";
import { type Dialect, sqlOf } from "../sql/operation.ts";
import { asking, created, fingerprint, hold, isDuplicateOf, leaseMs, windowMs } from "./conformance/world.ts";
import { fillKey, insertKey, reachPoint } from "./key-operations.ts";
import type { KeyOutcome } from "./key-store.ts";
import { sqlKeys } from "./sql-keys.ts";

function opening(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

export function testInsertKey(open: () => Promise<TestDatabase>, dialect: Dialect): void {
  const sql = sqlOf(dialect);
  const world = async () => {
    const db = await open();
    return { db, keys: sqlKeys(db.adapter) };
  };
  const insertAndFill = async ({ adapter }: TestDatabase, ask = asking("a"), outcome: KeyOutcome = created) => {
    const inserted = await adapter.perform(insertKey(sql, ask));
    return inserted === "taken" ? inserted : adapter.perform(fillKey(sql, ask, outcome, windowMs));
  };

  test("an inserted and filled key is what a claim replays", async () => {
    const { db, keys } = await world();
    expect(await insertAndFill(db)).toBe("held");
    isDuplicateOf(await keys.claim(asking("a")), created);
    expect(await insertAndFill(db)).toBe("taken");
    expect(await keys.claim(asking("a", { fingerprints: [fingerprint("order 8")] }))).toMatchObject({
      kind: "mismatch",
    });
  });

  test("a key that is running, parked or remembered is taken; one whose window has ended is inserted anew", async () => {
    const { db, keys } = await world();
    await hold(keys, asking("running"));
    await keys.park(await hold(keys, asking("parked")), "why");
    await insertAndFill(db, asking("done"));
    for (const name of ["running", "parked", "done"]) {
      expect(await db.adapter.perform(insertKey(sql, asking(name))), name).toBe("taken");
    }
    await db.age("idempotency_keys", windowMs);
    for (const name of ["running", "parked"]) {
      expect(await db.adapter.perform(insertKey(sql, asking(name))), name).toBe("taken");
    }
    const ask = asking("done", { fingerprints: [fingerprint("order 8")] });
    expect(await insertAndFill(db, ask, { kind: "gone", status: 200, reason: "x" })).toBe("held");
    expect(await keys.read(ask.id)).toMatchObject({ fence: 2, attempts: 1, outcome: { kind: "gone" } });
    isDuplicateOf(await keys.claim(ask), { kind: "gone", status: 200, reason: "x" });
  });

  test("only the owner of an unfinished row fills it, and once", async () => {
    const { db } = await world();
    const ask = asking("a");
    await db.adapter.perform(insertKey(sql, ask));
    expect(await db.adapter.perform(fillKey(sql, { id: ask.id, owner: "x" }, created, windowMs))).toBe("lost");
    expect(await db.adapter.perform(fillKey(sql, ask, created, windowMs))).toBe("held");
    expect(await db.adapter.perform(fillKey(sql, ask, created, windowMs))).toBe("lost");
  });

  if (dialect === "postgres") {
    test("duplicates wait at the index: after a commit they find the row, after a rollback one of them is first", async () => {
      const { db } = await world();
      const other = db.another();
      for (const end of ["commit", "rollback"] as const) {
        const inserted = opening();
        const mayEnd = opening();
        const first = db.adapter
          .transaction(async (tx) => {
            const sqlTx = db.adapter.wrap(tx);
            const ask = asking(end);
            expect(await sqlTx.perform(insertKey(sql, ask))).toBe("inserted");
            await sqlTx.perform(fillKey(sql, ask, created, windowMs));
            inserted.resolve();
            await mayEnd.promise;
            if (end === "rollback") throw new Error("undone");
          })
          .catch(() => {});
        await inserted.promise;
        const waiters = [1, 2].map(() =>
          other.transaction(async (tx) => {
            const ask = asking(end);
            const sqlTx = other.wrap(tx);
            const answer = await sqlTx.perform(insertKey(sql, ask));
            if (answer === "inserted") await sqlTx.perform(fillKey(sql, ask, created, windowMs));
            return answer;
          }),
        );
        await expect
          .poll(
            async () =>
              (
                await db.rows(
                  "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'",
                )
              ).length,
          )
          .toBe(2);
        mayEnd.resolve();
        await first;
        expect((await Promise.all(waiters)).sort()).toEqual(
          end === "commit" ? ["taken", "taken"] : ["inserted", "taken"],
        );
      }
    });

    test("a waiter whose time is over says so", async () => {
      const { db } = await world();
      const other = db.another();
      await db.adapter.transaction(async (tx) => {
        await db.adapter.wrap(tx).perform(insertKey(sql, asking("a")));
        const waited = other.transaction(async (tx) => other.wrap(tx).perform(insertKey(sql, asking("a"))), {
          lockTimeoutMs: 50,
        });
        expect(await waited.catch(sqlFaultOf)).toBe("lock-timeout");
      });
    });

    test("a point reached in the user's transaction is there exactly when their writes are, and holds off a takeover until then", async () => {
      const { db, keys } = await world();
      await db.run("create table rides (id int primary key)");
      const holder = await hold(keys, asking("a", { onCrash: "resume" }));
      const phase = (rideId: number, end: () => Promise<void>) =>
        db.adapter.transaction(async (tx) => {
          await tx.query("insert into rides values ($1)", [rideId]);
          const point = { name: `ride ${rideId}`, data: "{}" };
          const held = await db.adapter.wrap(tx).perform(reachPoint(sql, holder, point, leaseMs));
          await end();
          return held;
        });
      await expect(phase(1, () => Promise.reject(new Error("undone")))).rejects.toThrow("undone");
      expect((await keys.read(holder.id))!.point).toBe(null);
      expect(await db.rows("select * from rides")).toEqual([]);

      await db.age("idempotency_keys", leaseMs);
      let takeover: Promise<unknown> = Promise.resolve();
      await phase(2, async () => {
        takeover = keys.claim(asking("a", { onCrash: "resume" }));
        await expect
          .poll(
            async () =>
              (
                await db.rows(
                  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
                )
              ).length,
          )
          .toBe(1);
      });
      // The point extended the lease: the waiting claim learns that the claimant lives.
      expect(await takeover).toMatchObject({ kind: "in-flight" });
      expect((await keys.read(holder.id))!.point).toMatchObject({ name: "ride 2" });

      await db.age("idempotency_keys", leaseMs);
      await hold(keys, asking("a", { onCrash: "resume" }));
      expect(await phase(3, async () => {})).toBe("lost");
    });
  } else {
    test("a point reached in the user's transaction is there exactly when their writes are", async () => {
      const { db, keys } = await world();
      await db.run("create table rides (id integer primary key)");
      const holder = await hold(keys, asking("a", { onCrash: "resume" }));
      const phase = (rideId: number, isUndone: boolean) =>
        db.adapter.transaction((tx) => {
          tx.prepare("insert into rides values (?)").run(rideId);
          const { performSync } = db.adapter as unknown as { performSync(tx: unknown, operation: unknown): unknown };
          const held = performSync(tx, reachPoint(sql, holder, { name: `ride ${rideId}`, data: "{}" }, leaseMs));
          if (isUndone) throw new Error("undone");
          return held;
        });
      await expect(phase(1, true)).rejects.toThrow("undone");
      expect((await keys.read(holder.id))!.point).toBe(null);
      expect(await db.rows("select * from rides")).toEqual([]);
      expect(await phase(2, false)).toBe("held");
      expect((await keys.read(holder.id))!.point).toMatchObject({ name: "ride 2" });
      await db.age("idempotency_keys", leaseMs);
      await hold(keys, asking("a", { onCrash: "resume" }));
      expect(await phase(3, false)).toBe("lost");
    });
  }
}
