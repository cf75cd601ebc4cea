// The one claim, state by state, on each database. Its uses are tested with the tools.
import { expect, onTestFinished, test } from "vitest";
import { postgresDrivers, sqliteDrivers } from "../sql/adapters.suite.ts";
import { eachDatabase, type TestDatabase } from "../sql/databases.suite.ts";
import { type Operation, type Sql, sqlOf } from "../sql/operation.ts";
import { plain } from "../sql/parts.ts";
import { ensureTables } from "../sql/ready-tables.ts";
import { tableSql } from "../sql/tables.ts";
import {
  type ClaimAnswer,
  type ClaimAsk,
  type ClaimRow,
  claim,
  claimsIn,
  extend,
  hold,
  leave,
  listOpen,
  park,
  read,
  reap,
  release,
  resolve,
  settle,
  settleLate,
} from "./claims.ts";

const at = { scope: "test", key: "a" };
const leaseMs = 10_000;
const windowMs = 60_000;
let owners = 0;

const asking = (asks: Partial<ClaimAsk> = {}): ClaimAsk => ({
  ...at,
  owner: `owner ${++owners}`,
  leaseMs,
  windowMs,
  onCrash: "resume",
  ...asks,
});

const world = (db: TestDatabase, adapter = db.adapter) => {
  const claims = claimsIn(adapter);
  const ask = (asks: Partial<ClaimAsk> = {}): Promise<ClaimAnswer> => claims((sql) => claim(sql, asking(asks)));
  const take = async (asks: Partial<ClaimAsk> = {}): Promise<ClaimRow> => {
    const answer = await ask(asks);
    if (answer.kind !== "fresh") throw new Error(`it is ${answer.kind}`);
    return answer.row;
  };
  return {
    claims,
    ask,
    take,
    leave: (row: ClaimRow, why: string) => claims(() => leave(row, why)),
    park: (row: ClaimRow, why: string) => claims(() => park(row, why)),
    age: (ms: number) => db.age("idem_claims", ms),
  };
};

type World = ReturnType<typeof world>;

/** A thing done to a claim, and the answer to the next asker: with `resume`, and with `park`. */
const table: readonly [string, (world: World) => Promise<unknown>, object, object][] = [
  ["nobody asked", async () => {}, { kind: "fresh" }, { kind: "fresh" }],
  ["it is held", ({ take }) => take(), { kind: "in-flight" }, { kind: "in-flight" }],
  [
    "its holder died",
    async ({ take, age }) => [await take(), await age(leaseMs)],
    { kind: "fresh", row: { attempts: 2 } },
    { kind: "parked", isNew: true },
  ],
  [
    "it was given back",
    async (of) => of.leave(await of.take(), "later"),
    { kind: "fresh", row: { attempts: 2, reason: "later" } },
    { kind: "fresh", row: { attempts: 2, reason: "later" } },
  ],
  [
    "it was released",
    async ({ take, claims }) => {
      const row = await take();
      await claims((sql) => release(sql, row));
    },
    { kind: "fresh", row: { attempts: 2 } },
    { kind: "fresh", row: { attempts: 2 } },
  ],
  [
    "it is settled",
    settled,
    { kind: "duplicate", row: { outcome: "7" } },
    { kind: "duplicate", row: { outcome: "7" } },
  ],
  [
    "its window is over",
    async (of) => [await settled(of), await of.age(windowMs)],
    { kind: "fresh", row: { attempts: 1, outcome: null } },
    { kind: "fresh", row: { attempts: 1, outcome: null } },
  ],
  [
    "it is parked",
    async (of) => of.park(await of.take(), "who knows"),
    { kind: "parked", isNew: false, row: { reason: "who knows" } },
    { kind: "parked", isNew: false },
  ],
];

async function settled({ take, claims }: World): Promise<unknown> {
  const row = await take();
  return claims((sql) => settle(sql, row, "7"));
}

eachDatabase((open, dialect) => {
  test("what whoever asks is told depends on what became of the claim, and on nothing else", async () => {
    const db = await open();
    const of = world(db);
    for (const [name, before, resuming, parking] of table) {
      for (const [onCrash, expected] of [["resume", resuming] as const, ["park", parking] as const]) {
        await db.run("delete from idem_claims");
        await before(of);
        expect(await of.ask({ onCrash }), `${name}, ${onCrash}`).toMatchObject(expected);
      }
    }
  });

  test("of many who ask at once one is fresh, whatever was there before", async () => {
    const db = await open();
    const of = world(db);
    const worlds = [of, world(db, db.another()), world(db, db.another()), world(db, db.another())];
    for (const [name, before, resuming] of table) {
      if (!("kind" in resuming) || resuming.kind !== "fresh") continue;
      await db.run("delete from idem_claims");
      await before(of);
      const answers = await Promise.all(worlds.flatMap(({ ask }) => [ask(), ask()]));
      expect(answers.map(({ kind }) => kind).sort(), name).toEqual(["fresh", ...Array(7).fill("in-flight")]);
    }
  });

  test("a claim whose answer was lost is known again by its owner", async () => {
    const { claims } = world(await open());
    const ask = asking();
    const first = await claims((sql) => claim(sql, ask));
    const again = await claims((sql) => claim(sql, ask));
    expect(first).toMatchObject({ kind: "fresh" });
    expect(again).toMatchObject({ kind: "fresh", row: { fence: (first as { row: ClaimRow }).row.fence, attempts: 1 } });
  });

  test("every write of a holder counts until somebody took over, also after its lease, and changes nothing afterwards", async () => {
    const db = await open();
    const { claims, take, age } = world(db);
    const writes: readonly [string, (sql: Sql, row: ClaimRow) => Operation<unknown>][] = [
      ["extend", (sql, row) => extend(sql, row, leaseMs)],
      ["settle", (sql, row) => settle(sql, row, "1")],
      ["leave", (_sql, row) => leave(row, "why")],
      ["release", (sql, row) => release(sql, row)],
      ["park", (_sql, row) => park(row, "why")],
      ["hold", (sql, row) => hold(sql, row)],
    ];
    for (const [name, write] of writes) {
      await db.run("delete from idem_claims");
      const slow = await take();
      await age(leaseMs);
      expect(await claims((sql) => write(sql, slow)), name).toBe("held");
      await db.run("delete from idem_claims");
      const late = await take();
      await age(leaseMs);
      await take();
      const before = await db.rows("select * from idem_claims");
      expect(await claims((sql) => write(sql, late)), name).toBe("lost");
      expect(await db.rows("select * from idem_claims"), name).toEqual(before);
    }
  });

  test("a heartbeat does not hold what was given back", async () => {
    const { claims, take } = world(await open());
    const row = await take();
    await claims(() => leave(row, null));
    expect(await claims((sql) => extend(sql, row, leaseMs))).toBe("lost");
  });

  test("fence and generation grow, also where nobody remembers the claim", async () => {
    const db = await open();
    const of = world(db);
    const first = await of.take();
    await of.claims((sql) => settle(sql, first, "1"));
    await of.age(windowMs);
    const second = await of.take();
    await of.claims((sql) => settle(sql, second, "2"));
    await of.age(windowMs);
    expect(await of.claims((sql) => reap(sql, "test", 10))).toBe(1);
    const third = await of.take();
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(second.generation).toBeGreaterThan(first.generation);
    expect(third.fence).toBeGreaterThan(second.fence - windowMs);
    expect(third.generation).toBeGreaterThan(second.generation - windowMs);
  });

  test("an outcome that comes late counts as long as it may end what is there, and never in another window", async () => {
    const { claims, take, age } = world(await open());
    const doubtful = plain("state = 'parked'");
    const late = await take();
    await age(leaseMs);
    const next = await take();
    expect(await claims((sql) => settleLate(sql, late, "1", doubtful))).toBe(false);
    await claims(() => park(next, "who knows"));
    expect(await claims((sql) => settleLate(sql, late, "1", doubtful))).toBe(true);
    expect(await claims((sql) => read(sql, at))).toMatchObject({ state: "settled", outcome: "1" });
    await age(windowMs);
    const another = await take();
    await claims(() => park(another, "who knows"));
    expect(await claims((sql) => settleLate(sql, late, "1", doubtful))).toBe(false);
  });

  test("a person resolves what is parked, and nothing else", async () => {
    const of = world(await open());
    const { claims, take, ask } = of;
    expect(await claims((sql) => resolve(sql, at, "1"))).toBe(false);
    await of.park(await of.take(), "why");
    expect(await claims((sql) => listOpen(sql, "test", plain("state = 'parked'"), 10))).toMatchObject([
      { reason: "why" },
    ]);
    expect(await claims((sql) => resolve(sql, at, null))).toBe(true);
    const row = await take();
    expect(row.attempts).toBe(2);
    await claims(() => park(row, "again"));
    expect(await claims((sql) => resolve(sql, at, "1"))).toBe(true);
    expect(await ask()).toMatchObject({ kind: "duplicate", row: { outcome: "1" } });
  });

  test("forgotten is what is settled or released and past its window; nothing that is held, in doubt or parked", async () => {
    const db = await open();
    const of = world(db);
    const { claims, take, age } = of;
    await take({ key: "held" });
    await of.park(await of.take({ key: "parked" }), "why");
    await of.leave(await of.take({ key: "left" }), "why");
    for (const key of ["settled", "kept"]) {
      const row = await take({ key, windowMs: key === "kept" ? null : windowMs });
      await claims((sql) => settle(sql, row, "1"));
    }
    const freed = await take({ key: "released" });
    await claims((sql) => release(sql, freed));
    await take({ key: "lock", forgetMs: windowMs });
    await take({ scope: "other", forgetMs: 0, leaseMs: 1 });
    await age(windowMs - 1_000);
    expect(await claims((sql) => reap(sql, "test", 10))).toBe(0);
    await age(1_000);
    expect(await claims((sql) => reap(sql, "test", 2))).toBe(2);
    expect(await claims((sql) => reap(sql, "test", 10))).toBe(1);
    const left = await db.rows("select key from idem_claims where scope = 'test' order by key");
    expect(left.map(({ key }) => key)).toEqual(["held", "kept", "left", "parked"]);
  });

  test.each(Object.entries(dialect === "postgres" ? postgresDrivers : sqliteDrivers))(
    "a claim lives the same life through %s, and what an earlier build knew is known there",
    async (_name, openDriver) => {
      const db = await open();
      const { adapter } = openDriver(db.where, (close) => onTestFinished(async () => void (await close())));
      await db.run(`
        drop table idem_claims; ${tableSql(dialect, "idem_locks")};
        insert into idem_toolkit values ('idem_locks', 1); insert into idem_locks values ('old', 'o', 7, 4102444800000)`);
      await ensureTables(adapter);
      const { claims, ask, take } = world(db, adapter);
      expect(await ask({ scope: "lock", key: "old" })).toMatchObject({ kind: "in-flight" });
      const row = await take({ note: '"ü"' });
      expect(await ask()).toMatchObject({ kind: "in-flight" });
      expect(await claims((sql) => extend(sql, row, leaseMs, { note: "null" }))).toBe("held");
      expect(await claims(() => leave(row, "later"))).toBe("held");
      const again = await take();
      expect(again).toMatchObject({ attempts: 2, note: "null", reason: "later", generation: row.generation });
      expect(again.fence).toBeGreaterThan(row.fence);
      expect(await claims((sql) => settle(sql, row, "1"))).toBe("lost");
      expect(await claims((sql) => settle(sql, again, "2"))).toBe("held");
      expect(await ask()).toMatchObject({ kind: "duplicate", row: { outcome: "2", settledAt: expect.any(Number) } });
      await db.age("idem_claims", windowMs);
      expect(await claims((sql) => reap(sql, "test", 10))).toBe(1);
    },
  );

  test("open and forgettable claims are found by an index of their own, however many are settled", async () => {
    const db = await open();
    const sql = sqlOf(dialect);
    const statements = {
      idem_claims_open: listOpen(sql, "test", plain("state = 'parked'"), 10).next().value,
      idem_claims_ends: reap(sql, "test", 10).next().value,
    };
    for (const [index, statement] of Object.entries(statements)) {
      const { text, params } = statement as { text: string; params: unknown[] };
      const plan =
        dialect === "sqlite"
          ? await db.rows(`explain query plan ${text}`, ...params)
          : await db.adapter.transaction(async (tx) => {
              // An empty table is read whole unless that is forbidden; whether the index could serve is what counts.
              await tx.query("set local enable_seqscan = off; set local enable_sort = off");
              return (await tx.query(`explain ${text}`, params)).rows;
            });
      expect(JSON.stringify(plan), index).toContain(index);
    }
  });
});
