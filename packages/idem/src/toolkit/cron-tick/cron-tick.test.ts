import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { Adapter } from "../sql/adapter.ts";
import { eachDatabase, type TestDatabase } from "../sql/databases.suite.ts";
import { type CronTickOptions, cronTick } from "./cron-tick.ts";
import { cronOf, dueTick, earlyByMs, tickKey } from "./due-tick.ts";
import type { TickTask } from "./run-tick.ts";

let seeds = 0;

const digest = <T>(adapter: Adapter<any>, task: TickTask<T>, options: Partial<CronTickOptions> = {}) =>
  cronTick(
    adapter,
    {
      id: "daily-digest",
      schedule: "0 9 * * *",
      onCrash: "resume",
      early: 0,
      platform: new ManualPlatform({ seed: ++seeds }),
      onParked: () => {},
      ...options,
    },
    task,
  );

/** A call whose process dies in the middle. */
const die = (adapter: Adapter<any>) =>
  new Promise<void>((began) => {
    void digest(adapter, () => {
      began();
      return new Promise(() => {});
    })();
  });

const nowOf = async (db: TestDatabase): Promise<number> => {
  const text =
    db.dialect === "postgres"
      ? "select cast(extract(epoch from now()) * 1000 as bigint) as now"
      : "select cast((julianday('now') - 2440587.5) * 86400000 as integer) as now";
  return Number((await db.rows(text))[0].now);
};

describe("the tick a call is about", () => {
  const minute = 60_000;

  test.each([
    ["Europe/Paris", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00.000Z"],
    ["Europe/Paris", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00.000Z"],
    ["America/New_York", "30 2 * * *", "2026-03-07T18:00:00Z", "2026-03-08T07:00:00.000Z"],
    ["America/New_York", "30 1 * * *", "2026-10-31T18:00:00Z", "2026-11-01T05:30:00.000Z"],
  ])("in %s is one instant on a day when clocks change, whenever it is called", (zone, schedule, from, expected) => {
    const cron = cronOf(schedule, zone);
    const ticks = new Set<number>();
    for (let after = 0; after < 24 * 60; after++) ticks.add(dueTick(cron, Date.parse(from) + after * minute).last!);
    const [, ...onTheDay] = [...ticks].map((at) => new Date(at).toISOString());
    expect(onTheDay).toEqual([expected]);
  });

  test("is the instant itself from its first millisecond on", () => {
    const at = Date.UTC(2026, 4, 8, 9);
    expect(dueTick("0 9 * * *", at - 1).last).toBe(at - 86_400_000);
    expect(dueTick("0 9 * * *", at).last).toBe(at);
    expect(dueTick("0 9 29 2 *", Date.UTC(2026, 5, 1)).last).toBe(Date.UTC(2024, 1, 29, 9));
  });

  test("may lie a little ahead, for a scheduler whose clock does", () => {
    const at = Date.UTC(2026, 4, 8, 9);
    const early = (ms: number, cron = "0 9 * * *") => earlyByMs(dueTick(cron, at - ms), at - ms, 120_000);
    expect([early(90_000), early(120_000), early(120_001)]).toEqual([90_000, 120_000, null]);
    expect([early(6_000, "* * * * *"), early(6_001, "* * * * *")]).toEqual([6_000, null]);
  });

  test("has keys that differ by tick and item, and by nothing else", () => {
    const keys = [tickKey("a", 1), tickKey("a", 2), tickKey("b", 1), tickKey("a", 1, "x"), tickKey("a", 1, "y")];
    expect(new Set(keys).size).toBe(5);
    expect(tickKey("a", 1, "x")).toBe(keys[3]);
    expect(keys.every((key) => /^[\w-]{45}$/.test(key))).toBe(true);
  });
});

eachDatabase((open) => {
  test("a tick is run by the first call, and the others are told its outcome", async () => {
    const db = await open();
    const first = await digest(db.adapter, ({ at }) => ({ sent: 3, hour: at.getUTCHours() }))();
    expect(first).toMatchObject({ kind: "done", attempt: 1, value: { sent: 3, hour: 9 } });
    const second = await digest(db.another(), () => expect.unreachable())();
    expect(second).toMatchObject({ kind: "duplicate", value: { sent: 3, hour: 9 } });
  });

  test("callers whose clocks are 90 seconds ahead and behind run a tick once", async () => {
    const db = await open();
    let runs = 0;
    const calls = [-90_000, 0, 90_000].map((skew) => {
      const platform = new ManualPlatform({ seed: ++seeds });
      platform.clock.stepWall(skew);
      return digest(db.another(), () => ++runs, { platform, schedule: "* * * * *", id: "minutely" }).at(
        Date.UTC(2026, 4, 8, 9),
      );
    });
    const outcomes = (await Promise.all(calls)).map(({ kind }) => kind);
    expect(runs).toBe(1);
    expect(outcomes.filter((kind) => kind === "done")).toHaveLength(1);
  });

  test("a tick that lies ahead of the database's clock is not run, whatever the caller's clock says", async () => {
    const db = await open();
    const tomorrow = (Math.floor((await nowOf(db)) / 86_400_000) + 1) * 86_400_000 + 9 * 3_600_000;
    const platform = new ManualPlatform();
    platform.clock.stepWall(365 * 86_400_000);
    const tick = digest(db.adapter, () => expect.unreachable(), { platform });
    expect(await tick.at(tomorrow)).toEqual({ kind: "none" });
    await expect(tick.at(tomorrow + 1)).rejects.toMatchObject({ code: "TOOLKIT_OPTION_INVALID" });
  });

  test("a call that comes early waits for its tick instead of missing it", async () => {
    const db = await open();
    const next = new Date((await nowOf(db)) + 90_000);
    const schedule = `${next.getUTCMinutes()} ${next.getUTCHours()} * * *`;
    const platform = new ManualPlatform();
    let runs = 0;
    const task = () => ++runs;
    await digest(db.adapter, task, { schedule })();
    void digest(db.adapter, task, { schedule, platform, early: "2m" })();
    await expect.poll(() => platform.untilNext()).toBeGreaterThan(0);
    expect(platform.untilNext()).toBeLessThanOrEqual(90_000);
    expect(runs).toBe(1);
  });

  test("a tick in flight is answered as such", async () => {
    const db = await open();
    await die(db.another());
    expect(await digest(db.adapter, () => expect.unreachable())()).toMatchObject({ kind: "in-flight" });
  });

  test("resume: a tick whose call died is entered again, with the same keys for its items", async () => {
    const db = await open();
    await die(db.another());
    await db.age("idem_claims", 61_000);
    const seen = await digest(db.adapter, (tick) => [tick.attempt, tick.key("ada")])();
    expect(seen).toMatchObject({ kind: "done", attempt: 2 });
    const { at, value } = seen as { at: Date; value: unknown };
    expect(value).toEqual([2, tickKey("daily-digest", at.getTime(), "ada")]);
  });

  test("resume: what throws is thrown, and the next call goes on", async () => {
    const db = await open();
    const failing = digest(db.adapter, () => Promise.reject(new Error("503")));
    await expect(failing()).rejects.toThrow("503");
    expect(await failing.unfinished()).toMatchObject([{ state: "in-flight", attempts: 1, reason: "Error: 503" }]);
    expect(await digest(db.adapter, ({ attempt }) => attempt)()).toMatchObject({ kind: "done", value: 2 });
    expect(await failing.unfinished()).toEqual([]);
  });

  test("park: a tick whose call died waits for a person", async () => {
    const db = await open();
    await die(db.another());
    await db.age("idem_claims", 61_000);
    let alerts = 0;
    const task = (tick: { attempt: number }) => tick.attempt;
    const tick = digest(db.adapter, task, { onCrash: "park", onParked: () => void alerts++ });
    const parked = await tick();
    expect(parked).toMatchObject({ kind: "parked" });
    expect([await tick(), alerts]).toEqual([parked, 1]);
    const [unfinished] = await tick.unfinished();
    expect(await tick.resolve(unfinished!.at, "done")).toBe(true);
    expect(await tick()).toMatchObject({ kind: "duplicate", value: null });
    expect(await tick.resolve(unfinished!.at, "resume")).toBe(false);
  });

  test("park: a person may have it resumed", async () => {
    const db = await open();
    const tick = digest(db.adapter, ({ attempt }) => (attempt === 1 ? Promise.reject(new Error("no")) : "sent"), {
      onCrash: "park",
    });
    await expect(tick()).rejects.toThrow("no");
    const [parked] = await tick.unfinished();
    expect(await tick.resolve(parked!.at, "resume")).toBe(true);
    expect(await tick.unfinished()).toMatchObject([{ state: "released" }]);
    expect(await tick()).toMatchObject({ kind: "done", value: "sent", attempt: 2 });
  });

  test("a call that was overtaken changes nothing and is told", async () => {
    const db = await open();
    let finish = (_value: string) => {};
    const slow = digest(db.another(), () => new Promise<string>((resolve) => (finish = resolve)))();
    await expect.poll(() => db.rows("select 1 from idem_claims")).toHaveLength(1);
    await db.age("idem_claims", 61_000);
    await digest(db.adapter, () => "second")();
    finish("first");
    expect(await slow).toMatchObject({ kind: "lost" });
    expect(await digest(db.adapter, () => "third")()).toMatchObject({ kind: "duplicate", value: "second" });
  });

  test("over HTTP: 200 once done and again, 409 in flight and parked, 401 for strangers", async () => {
    const db = await open();
    const request = (secret: string) =>
      new Request("https://shop.example/api/digest", { headers: { authorization: `Bearer ${secret}` } });
    const route = digest(db.adapter, () => ({ sent: 3 }), { secret: "s3cret", onCrash: "park" });
    expect((await route(request("wrong"))).status).toBe(401);
    await die(db.another());
    const busy = await route(request("s3cret"));
    expect([busy.status, Number(busy.headers.get("retry-after")) > 0]).toEqual([409, true]);
    await db.age("idem_claims", 61_000);
    const parked = await route(request("s3cret"));
    expect([parked.status, await parked.json()]).toMatchObject([409, { code: "TICK_PARKED" }]);
    const [tick] = await route.unfinished();
    await route.resolve(tick!.at, "resume");
    expect(await (await route(request("s3cret"))).json()).toMatchObject({ kind: "done", value: { sent: 3 } });
    const again = await route(request("s3cret"));
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(() => digest(db.adapter, () => 1, { secret: undefined as never })).toThrow(/secret/);
  });

  test("the tick before is known, and old ones are deleted", async () => {
    const db = await open();
    const day = 86_400_000;
    const nine = Date.UTC(2026, 4, 8, 9);
    const tick = digest(db.adapter, ({ previousAt }) => previousAt?.getTime() ?? null);
    expect(await tick.at(nine)).toMatchObject({ value: null });
    expect(await tick.at(nine + 2 * day)).toMatchObject({ value: nine });
    await db.age("idem_claims", 91 * day);
    expect(await tick.at(nine + 3 * day)).toMatchObject({ value: nine + 2 * day });
    expect(await db.rows("select 1 from idem_claims")).toHaveLength(1);
  });
});
