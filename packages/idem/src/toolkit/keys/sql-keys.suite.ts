// The costs of a store in a user's database and what it survives, beside the promises every store keeps.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { TestDatabase } from "../sql/databases.suite.ts";
import { type Answered, type Dialect, type Operation, sqlOf } from "../sql/operation.ts";
import { asking, created, hold, isDuplicateOf, leaseMs, windowMs } from "./conformance/world.ts";
import { claimKey } from "./key-operations.ts";
import type { KeyAnswer } from "./key-store.ts";
import { sqlKeys } from "./sql-keys.ts";

type Performer = Parameters<typeof sqlKeys>[0];

/** Counts the statements, each of which is a round trip on PostgreSQL. */
function counted(adapter: Performer): Performer & { taken(): number } {
  let statements = 0;
  function* counting<T>(operation: Operation<T>): Operation<T> {
    for (let step = operation.next(); ; ) {
      if (step.done) return step.value;
      statements++;
      const answered: Answered = yield step.value;
      step = operation.next(answered);
    }
  }
  return {
    dialect: adapter.dialect,
    perform: (operation) => adapter.perform(counting(operation)),
    taken: () => {
      const taken = statements;
      statements = 0;
      return taken;
    },
  };
}

const lost = () => Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });

const settled = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

export function testSqlKeys(open: () => Promise<TestDatabase>, dialect: Dialect): void {
  test("a first execution takes two round trips, a replay and a conflict one, a takeover three", async () => {
    const db = await open();
    const adapter = counted(db.adapter);
    const keys = sqlKeys(adapter);
    const first = await hold(keys, asking("a"));
    // SQLite looks before it writes; there the second statement is no second trip.
    expect(adapter.taken()).toBe(dialect === "postgres" ? 1 : 2);
    await keys.claim(asking("a"));
    expect(adapter.taken()).toBe(1);
    await keys.complete(first, created, windowMs);
    expect(adapter.taken()).toBe(1);
    await keys.claim(asking("a"));
    expect(adapter.taken()).toBe(1);

    await hold(keys, asking("b"));
    await db.age("idempotency_keys", leaseMs);
    adapter.taken();
    const second = await hold(keys, asking("b"));
    await keys.complete(second, created, windowMs);
    expect(adapter.taken()).toBe(3);
  });

  test("a hot replay writes nothing and finds its record by the primary key alone", async () => {
    const db = await open();
    const keys = sqlKeys(db.adapter);
    await keys.complete(await hold(keys, asking("a")), created, windowMs);
    const { text, params } = claimKey(sqlOf(dialect), asking("a")).next().value as { text: string; params: unknown[] };
    if (dialect === "postgres") {
      await db.rows(`insert into idempotency_keys select lpad(n::text, 64, '0') as id, (k).namespace, (k).tenant, (k).principal, (k).method,
        (k).path, (k).hint, (k).fingerprint, (k).fingerprint_version, (k).state, (k).owner, (k).fence, (k).attempts, (k).on_crash, (k).lease_until,
        (k).due_at, (k).point, (k).point_data, (k).work, (k).work_input, (k).status, (k).headers, (k).body, (k).reference, (k).gone_reason,
        (k).parked_reason, (k).created_at, (k).completed_at, (k).ends_at from generate_series(1, 2000) as n, (select k from idempotency_keys k) as k`);
      await db.run("analyze idempotency_keys");
      const written = () => db.rows("select xmin, xmax, ctid from idempotency_keys where id = $1", asking("a").id);
      const before = await written();
      for (let i = 0; i < 20; i++) isDuplicateOf(await keys.claim(asking("a")), created);
      expect(await written()).toEqual(before);
      const plan = await db.rows(`explain (analyze, format json) ${text}`, ...params);
      const nodes = JSON.stringify(plan[0]["QUERY PLAN"]);
      expect(nodes).toContain("idempotency_keys_pkey");
      expect(nodes).not.toContain("Seq Scan");
      expect(await written()).toEqual(before);
    } else {
      const plan = await db.rows(`explain query plan ${text}`, ...params);
      const details = plan.map(({ detail }) => detail as string);
      expect(
        details.some((detail) => /SEARCH idempotency_keys USING INDEX sqlite_autoindex_\S+ \(id=\?\)/.test(detail)),
      ).toBe(true);
      // Another process is in the middle of a write, for as long as it likes: a replay does not wait for it.
      let replayed: Promise<KeyAnswer> | undefined;
      await db.another().transaction((tx) => {
        tx.exec("delete from idempotency_keys where id = 'nobody'");
        const look = claimKey(sqlOf(dialect), asking("a"));
        replayed = db.adapter.perform(look);
        // Driven to its end while the writer is still inside.
        expect(look.next().done).toBe(true);
      });
      isDuplicateOf(await replayed!, created);
    }
  });

  test("the reaper and the completer find theirs by an index", async () => {
    const db = await open();
    const plans = {
      idempotency_keys_ends: `select id from idempotency_keys where ends_at <= 5 and (state = 'completed' or on_crash = 'rerun')
         and (state = 'completed' or (state = 'running' and work is null and lease_until <= 5)) order by ends_at limit 10`,
      idempotency_keys_unfinished: `select id from idempotency_keys where work = 'w' and state = 'running' and due_at <= 5 and lease_until <= 5
         order by due_at limit 10`,
      idempotency_keys_parked: `select id from idempotency_keys where state = 'parked' and (created_at, id) > (5, 'a') order by created_at, id limit 10`,
    };
    for (const [index, text] of Object.entries(plans)) {
      const plan =
        dialect === "sqlite"
          ? await db.rows(`explain query plan ${text}`)
          : await db.adapter.transaction(async (tx) => {
              // An empty table is read whole unless that is forbidden; whether the index could serve is what counts.
              await tx.query("set local enable_seqscan = off; set local enable_sort = off");
              return (await tx.query(`explain ${text}`)).rows;
            });
      expect(JSON.stringify(plan), index).toContain(index);
    }
  });

  test("pitfall 6: clocks of the app's machines decide nothing", async () => {
    const db = await open();
    const [early, late] = [new ManualPlatform(), new ManualPlatform()];
    early.clock.stepWall(-600_000);
    late.clock.stepWall(600_000);
    const before = sqlKeys(db.adapter, { platform: early });
    const after = sqlKeys(db.another(), { platform: late });
    const holder = await hold(before, asking("a"));
    expect(await after.claim(asking("a"))).toMatchObject({ kind: "in-flight" });
    expect(await after.reap(10)).toBe(0);
    await before.complete(holder, created, 60_000);
    isDuplicateOf(await after.claim(asking("a")), created);
    await db.age("idempotency_keys", 60_000);
    expect(await before.claim(asking("a"))).toMatchObject({ kind: "fresh", fence: 2 });
    expect(await after.claim(asking("a"))).toMatchObject({ kind: "in-flight" });
  });

  test("a claim that was committed while its answer was lost is adopted, not a conflict with itself", async () => {
    const { adapter } = await open();
    let losses = 2;
    const keys = sqlKeys({
      dialect,
      perform: async (operation) => {
        const answer = await adapter.perform(operation);
        if (losses-- > 0) throw lost();
        return answer;
      },
    });
    expect(await keys.claim(asking("a"))).toEqual({ kind: "fresh", fence: 1, attempt: 1, point: null });
    losses = 0;
    expect(await keys.claim(asking("a"))).toMatchObject({ kind: "in-flight" });
  });

  test("a claim nobody waited for is given back: its key is free, and work taken over keeps its point", async () => {
    const db = await open();
    const platform = new ManualPlatform();
    const sound = sqlKeys(db.adapter);
    const held: (() => Promise<unknown>)[] = [];
    /** Whatever is asked of this one waits until it is let through, one at a time. */
    const slow = sqlKeys(
      {
        dialect,
        perform: <T>(operation: Operation<T>) =>
          new Promise<T>((resolve, reject) => {
            held.push(() => {
              const performed = db.adapter.perform(operation);
              performed.then(resolve, reject);
              return performed;
            });
          }),
      },
      { platform },
    );
    const letThrough = async (): Promise<void> => {
      await expect.poll(() => held.length).toBe(1);
      await held.pop()!();
    };
    const missed = async (ask: ReturnType<typeof asking>): Promise<void> => {
      const claimed = slow.claim(ask);
      claimed.catch(() => {});
      await settled();
      await platform.advance(2_000, settled);
      await expect(claimed).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
    };
    await missed(asking("a"));
    await letThrough();
    expect(await sound.read(asking("a").id)).toMatchObject({ isLeased: true });
    await letThrough();
    expect(await sound.read(asking("a").id)).toBe(null);

    const first = await hold(sound, asking("b", { onCrash: "resume" }));
    await sound.reach(first, { name: "charged", data: "1" }, leaseMs);
    await db.age("idempotency_keys", leaseMs);
    await missed(asking("b", { onCrash: "resume" }));
    await letThrough();
    await letThrough();
    expect(await sound.read(first.id)).toMatchObject({ fence: 2, isLeased: false, point: { name: "charged" } });
    expect(await sound.claim(asking("b", { onCrash: "resume" }))).toMatchObject({ kind: "fresh", fence: 3 });

    // Its owner asks again meanwhile: it waits until the first asking is given back, and is then a claim of its own.
    const ask = asking("c");
    await missed(ask);
    const again = slow.claim(ask);
    await letThrough();
    await letThrough();
    await letThrough();
    expect(await again).toMatchObject({ kind: "fresh", fence: 1 });
    expect(await sound.read(ask.id)).toMatchObject({ isLeased: true });
  });
}
