import { describe, expect, test } from "vitest";
import type { Idem } from "../sdk/client.ts";
import type { CronInput, FunctionOptions } from "../sdk/function-types.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { oneStore } from "../testing/one-store.suite.ts";
import { type TestClock, testIdem } from "../testing/test-idem.ts";

const minuteMs = 60_000;

type Tick = { readonly scheduledAt: string; readonly fireAt: string };

/** "00:10" of the first day, "1 00:10" of the second. */
function timeOf(text: string): string {
  const at = new Date(text);
  const day = Math.floor((at.getTime() - Date.UTC(2026, 0, 1)) / 86_400_000);
  return (day === 0 ? "" : `${day} `) + at.toISOString().slice(11, 16);
}

/** A scheduled function that notes for which instants it was started, and when. */
function scheduled(
  idem: Idem,
  clock: TestClock,
  cron: CronInput | readonly CronInput[],
  options: Partial<FunctionOptions> = {},
) {
  const started: string[] = [];
  idem.createFunction({ id: "fn", ...options }, cron, async ({ event, step }) => {
    await step.run("note", () => {
      const { scheduledAt } = event.data as { scheduledAt: string };
      const lateMs = clock.now() - Date.parse(scheduledAt);
      started.push(timeOf(scheduledAt) + (lateMs === 0 ? "" : ` late`));
    });
  });
  return started;
}

/** The decisions on all ticks, in their order. */
async function ticksOf(idem: Idem): Promise<string[]> {
  const events = await idem.events.list({ name: "inngest/scheduled.timer", limit: 1_000 });
  const ticks = events.map(async ({ internalId, data }) => {
    const { decisions } = (await idem.events.get(internalId))!;
    return `${timeOf((data as Tick).scheduledAt)} ${decisions.map(({ kind }) => kind).join()}`;
  });
  return (await Promise.all(ticks)).sort();
}

describe.each(stores)("a schedule on %s", (store) => {
  test("starts one run at each of its instants, and the event says which", async () => {
    const events: any[] = [];
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn" }, { cron: "*/5 * * * *" }, async ({ event }) => events.push(event));
    await idem.start();
    await clock.advance(5 * minuteMs - 1);
    expect(await idem.runs.list()).toEqual([]);
    await clock.advance(1);
    expect(events).toMatchObject([
      { name: "inngest/scheduled.timer", data: { cron: "*/5 * * * *", scheduledAt: "2026-01-01T00:05:00Z" } },
    ]);
    await clock.advance("11m");
    expect(events.map(({ data }) => timeOf((data as Tick).scheduledAt))).toEqual(["00:05", "00:10", "00:15"]);
    const runs = await idem.runs.list();
    expect(runs.map(({ startedAt }) => timeOf(new Date(startedAt!).toISOString()))).toEqual([
      "00:15",
      "00:10",
      "00:05",
    ]);
    expect(await ticksOf(idem)).toEqual(["00:05 started", "00:10 started", "00:15 started"]);
  });

  test("is read in its zone", async () => {
    const { idem, clock } = testIdem({ store });
    const started = scheduled(idem, clock, { cron: "TZ=Asia/Kolkata 0 9 * * *" });
    await idem.start();
    await clock.advance("24h");
    expect(started).toEqual(["03:30"]);
  });

  test("has one run for each instant however many processes are there", async () => {
    const { clock, process } = oneStore(store);
    const nodes = [process().idem, process().idem, process().idem];
    const started: string[][] = [];
    for (const idem of nodes) {
      started.push(scheduled(idem, clock, { cron: "*/5 * * * *" }));
      await idem.start();
    }
    await clock.advance("20m");
    expect(started.flat().sort()).toEqual(["00:05", "00:10", "00:15", "00:20"]);
    expect(await ticksOf(nodes[0]!)).toHaveLength(4);
    expect(await nodes[0]!.runs.list()).toHaveLength(4);
  });

  test("goes on at another process when the one that ticked is lost", async () => {
    const { clock, process } = oneStore(store);
    const [first, second] = [process(), process()];
    const started = [first, second].map(({ idem }) => scheduled(idem, clock, { cron: "*/5 * * * *" }));
    await first.idem.start();
    await second.idem.start();
    await clock.tick("6m");
    first.lose();
    await clock.tick("5m");
    expect(
      started
        .flat()
        .map((each) => each.slice(0, 5))
        .sort(),
    ).toEqual(["00:05", "00:10"]);
  });

  test("a function with an event and a schedule is started by both", async () => {
    const names: string[] = [];
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn" }, [{ event: "a/b" }, { cron: "*/5 * * * *" }], async ({ event }) => {
      names.push(event.name);
    });
    await idem.start();
    await idem.send({ name: "a/b" });
    await clock.advance("5m");
    expect(names).toEqual(["a/b", "inngest/scheduled.timer"]);
  });

  test("two schedules of a function that meet are one run", async () => {
    const { idem, clock } = testIdem({ store });
    const started = scheduled(idem, clock, [{ cron: "*/10 * * * *" }, { cron: "*/15 * * * *" }]);
    await idem.start();
    await clock.advance("1h");
    expect(started).toEqual(["00:10", "00:15", "00:20", "00:30", "00:40", "00:45", "00:50", "01:00"]);
    expect(await ticksOf(idem)).toHaveLength(8);
  });

  test("two functions with the same schedule each have their run", async () => {
    const { idem, clock } = testIdem({ store });
    for (const id of ["x", "y"]) idem.createFunction({ id }, { cron: "*/5 * * * *" }, async () => null);
    await idem.start();
    await clock.advance("5m");
    expect((await idem.runs.list()).map((run) => run.function).sort()).toEqual(["x", "y"]);
  });

  test("jitter puts off the run, not the decision, and by the same length whoever asks", async () => {
    const fireAts: string[] = [];
    for (let i = 0; i < 2; i++) {
      const begun: number[] = [];
      const { idem, clock } = testIdem({ store, seed: i + 1 });
      idem.createFunction({ id: "fn" }, { cron: "0 * * * *", jitter: "5m" }, async () => begun.push(clock.now()));
      await idem.start();
      await clock.advance("1h");
      const [run] = await idem.runs.list();
      expect(run).toMatchObject({ state: "waiting", startedAt: null });
      const { decisions, data } = (await idem.events.get(run!.eventId))!;
      expect(decisions).toMatchObject([{ kind: "started", decidedAt: clock.now(), runId: run!.id }]);
      const fireAt = Date.parse((data as Tick).fireAt);
      expect(run!.dueAt).toBe(fireAt);
      expect(fireAt - clock.now()).toBeGreaterThan(0);
      expect(fireAt - clock.now()).toBeLessThanOrEqual(5 * minuteMs);
      await clock.advance("5m");
      expect(begun).toEqual([fireAt]);
      fireAts.push((data as Tick).fireAt);
    }
    expect(fireAts[0]).toBe(fireAts[1]);
  });

  test("destination keys of a tick are the same on every attempt and in its rerun, and others for the next tick", async () => {
    const keys: string[] = [];
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn", backoff: () => 1_000 }, { cron: "0 * * * *" }, async ({ step }) => {
      await step.run("write", ({ key, attempt }) => {
        keys.push(key);
        if (attempt === 1) throw new Error("again");
      });
    });
    await idem.start();
    await clock.advance("61m");
    const [run] = await idem.runs.list();
    await idem.runs.rerun(run!.id);
    await clock.advance("1m");
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    await clock.advance("1h");
    expect(new Set(keys).size).toBe(2);
  });

  test("a schedule that is new begins with its registration; one that is gone ticks no more", async () => {
    const { clock, process } = oneStore(store);
    const old = process().idem;
    const before = scheduled(old, clock, { cron: "*/10 * * * *" });
    await old.start();
    await clock.advance("25m");
    await old.stop();
    const fresh = process().idem;
    const after = scheduled(fresh, clock, { cron: "*/7 * * * *" });
    await clock.advance("60m");
    await fresh.start();
    await clock.advance("10m");
    expect(before).toEqual(["00:10", "00:20"]);
    expect(after).toEqual(["01:28", "01:35"]);
    expect(await ticksOf(fresh)).toEqual(["00:10 started", "00:20 started", "01:28 started", "01:35 started"]);
  });

  test("a run that takes longer than its schedule's distance does not keep the next from starting", async () => {
    const gate = held();
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "fn" }, { cron: "* * * * *" }, async ({ step }) => step.run("long", () => gate.promise));
    await idem.start();
    await clock.tick("3m");
    expect((await idem.runs.list()).map(({ state }) => state)).toEqual(["running", "running", "running"]);
    gate.release();
  });
});

describe.each(stores)("ticks that nobody was there for, on %s", (store) => {
  /** Down from 00:12 to 01:03; then up until 01:15. */
  async function down(missed: CronInput["missed"]) {
    const { clock, process } = oneStore(store);
    const cron: CronInput = { cron: "*/10 * * * *", ...(missed === undefined ? {} : { missed }) };
    const before = process().idem;
    const started = [scheduled(before, clock, cron)];
    await before.start();
    await clock.advance("12m");
    await before.stop();
    await clock.advance("51m");
    const after = process().idem;
    started.push(scheduled(after, clock, cron));
    await after.start();
    await clock.advance("12m");
    return { started: started.flat(), ticks: await ticksOf(after), idem: after };
  }
  const missedOf = (...times: string[]) => times.map((time) => `${time} missed`);
  const startedOf = (...times: string[]) => times.map((time) => `${time} started`);

  test("skip: none is started, each has a decision that says why", async () => {
    const { started, ticks, idem } = await down("skip");
    expect(started).toEqual(["00:10", "01:10"]);
    expect(ticks).toEqual([
      ...startedOf("00:10"),
      ...missedOf("00:20", "00:30", "00:40", "00:50", "01:00"),
      ...startedOf("01:10"),
    ]);
    const events = await idem.events.list({ name: "inngest/scheduled.timer" });
    const { internalId } = events.find(({ data }) => (data as Tick).scheduledAt.includes("T00:20"))!;
    const [decision] = (await idem.events.get(internalId))!.decisions;
    expect(decision!.reason).toBe('tick 2026-01-01T00:20:00Z was missed: found 43 min late; policy "skip" starts none');
  });

  test.each([["last"], [undefined]] as const)("%s: the newest is started", async (missed) => {
    const { started, ticks } = await down(missed);
    expect(started).toEqual(["00:10", "01:00 late", "01:10"]);
    expect(ticks).toEqual([
      ...startedOf("00:10"),
      ...missedOf("00:20", "00:30", "00:40", "00:50"),
      ...startedOf("01:00", "01:10"),
    ]);
  });

  test("all: every one is started, in order", async () => {
    const { started, ticks } = await down("all");
    expect(started).toEqual(["00:10", "00:20 late", "00:30 late", "00:40 late", "00:50 late", "01:00 late", "01:10"]);
    expect(ticks.every((tick) => tick.endsWith("started"))).toBe(true);
  });

  test("all with a bound: the newest so many", async () => {
    const { started, ticks } = await down({ all: 2 });
    expect(started).toEqual(["00:10", "00:50 late", "01:00 late", "01:10"]);
    expect(ticks).toEqual([
      ...startedOf("00:10"),
      ...missedOf("00:20", "00:30", "00:40"),
      ...startedOf("00:50", "01:00", "01:10"),
    ]);
  });

  test("several processes that come back at once decide each of them once", async () => {
    const { clock, process } = oneStore(store);
    const cron = { cron: "*/10 * * * *", missed: "all" } as const;
    const first = process().idem;
    scheduled(first, clock, cron);
    await first.start();
    await first.stop();
    await clock.advance("45m");
    const nodes = [process().idem, process().idem, process().idem];
    const started = nodes.map((idem) => scheduled(idem, clock, cron));
    await Promise.all(nodes.map((idem) => idem.start()));
    await clock.advance("1m");
    expect(started.flat().sort()).toEqual(["00:10 late", "00:20 late", "00:30 late", "00:40 late"]);
  });
});

describe.each(stores)("a clock that is set, on %s", (store) => {
  test("25 hours ahead: what lies between is missed like any downtime, and nothing is lost or repeated", async () => {
    const { idem, clock } = testIdem({ store });
    scheduled(idem, clock, { cron: "0 * * * *" });
    await idem.start();
    await clock.advance("90m");
    clock.stepWall(25 * 60 * minuteMs);
    await clock.advance("2h");
    const ticks = await ticksOf(idem);
    const hours = Array.from({ length: 28 }, (_, i) => timeOf(new Date(Date.UTC(2026, 0, 1, i + 1)).toISOString()));
    expect(ticks.map((tick) => tick.replace(/ \w+$/, ""))).toEqual(hours.sort());
    const startedTicks = ticks.filter((tick) => tick.endsWith("started"));
    expect(startedTicks).toEqual(["01:00 started", "1 02:00 started", "1 03:00 started", "1 04:00 started"]);
  });

  test("25 hours back: no instant comes twice, and the schedule does not stand still", async () => {
    const { idem, clock } = testIdem({ store });
    const started = scheduled(idem, clock, { cron: "0 * * * *" });
    await idem.start();
    await clock.advance("90m");
    clock.stepWall(-25 * 60 * minuteMs);
    await clock.advance("5h 10s");
    // By its own clock, which goes at half speed until the wall has caught up.
    expect(started.map((each) => each.slice(0, 5))).toEqual(["01:00", "02:00", "03:00", "04:00"]);
    clock.stepWall(25 * 60 * minuteMs);
    await clock.advance("1h");
    const ticks = await ticksOf(idem);
    expect(new Set(ticks.map((tick) => tick.slice(0, 5))).size).toBe(ticks.length);
    expect(ticks.map((tick) => tick.slice(0, 5))).toEqual([
      "01:00",
      "02:00",
      "03:00",
      "04:00",
      "05:00",
      "06:00",
      "07:00",
    ]);
  });
});
