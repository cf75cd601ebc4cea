// Runs whose code is entered again and again while its process is lost each time.
import { describe, expect, onTestFinished, test } from "vitest";
import type { Platform } from "../platform/platform.ts";
import type { Idem } from "../sdk/client.ts";
import { sharedStore } from "../testing/shared-store.suite.ts";
import { type TestIdemOptions, testIdem } from "../testing/test-idem.ts";

interface Life {
  /** The process ends here: nothing it does from now on reaches the store, and what it waits for never comes. */
  die(): Promise<never>;
  readonly isDead: boolean;
}

/** One process at a time over a store that others may share, started again two seconds after it ended. */
function supervised(define: (idem: Idem, life: Life) => void, options: TestIdemOptions<any> = {}) {
  const world = testIdem<any>(options);
  const { platform } = world.idem as unknown as { platform: Platform };
  const { handle } = sharedStore(platform);
  const asker = world.client({ id: "shop", store: handle().store });
  const processes: Idem[] = [];
  const started = { count: 0 };
  const start = async () => {
    const made = handle();
    const idem = world.client({ id: "shop", store: made.store });
    processes.push(idem);
    started.count++;
    const life = {
      isDead: false,
      die: () => {
        if (!life.isDead) {
          life.isDead = true;
          made.isCut = true;
          platform.timer(2_000, () => void start());
        }
        return new Promise<never>(() => {});
      },
    };
    define(idem, life);
    await idem.start();
  };
  onTestFinished(async () => {
    for (const idem of [...processes, asker]) {
      const stopping = idem.stop({ grace: 0 });
      await world.clock.tick(1);
      await stopping;
    }
  });
  const sleep = (ms: number) => new Promise<void>((resolve) => void platform.timer(ms, resolve));
  return { ...world, asker, start, started, sleep };
}

const logs = () => {
  const said: string[] = [];
  const note =
    (level: string) =>
    (...args: unknown[]) => {
      if (String(args[0]).includes("taken over")) said.push(`${level}: ${args.join(" ")}`);
    };
  return { said, logger: { debug() {}, info() {}, warn: note("warn"), error: note("error") } };
};

const sent = async (idem: Idem, name: string): Promise<string> => (await idem.send({ name })).decisions[0]!.runId!;

describe("a step that ends its process", () => {
  test("is told how often it was entered, is entered later each time, and after the fifth its run is parked for a person", async () => {
    const entries: { readonly at: number; readonly entered: number; readonly attempt: number }[] = [];
    let isMended = false;
    const { said, logger } = logs();
    const world = supervised(
      (idem, life) => {
        idem.createFunction({ id: "guilty", retries: 2 }, { event: "a/b" }, async ({ step }) => {
          await step.run("before", () => 1);
          return step.run("deadly", ({ entered, attempt }) => {
            entries.push({ at: world.clock.now(), entered, attempt });
            return isMended ? "done" : life.die();
          });
        });
      },
      { logger },
    );
    await world.start();
    const runId = await sent(world.asker, "a/b");
    await world.clock.tick("15m");
    expect(entries.map(({ entered, attempt }) => [entered, attempt])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 1],
    ]);
    // A lease term and a sweep pass before anybody knows that a process is gone; the rest is what it was put off.
    const pauses = entries.slice(1).map(({ at }, i) => at - entries[i]!.at);
    expect(pauses[0]).toBeLessThanOrEqual(30_000);
    for (const [i, least] of [5_000, 15_000, 45_000].entries()) {
      expect(pauses[i + 1]).toBeGreaterThanOrEqual(20_000 + least);
      expect(pauses[i + 1]).toBeLessThanOrEqual(32_000 + 3 * least);
    }
    expect(await world.asker.runs.get(runId)).toMatchObject({
      state: "parked",
      parked: {
        kind: "entries",
        reason: expect.stringContaining('entered 5 times in a row after step "before" without an outcome'),
      },
      lost: { count: 5 },
    });
    expect(said.map((text) => text.split(":")[0])).toEqual(["warn", "error", "error", "error", "error"]);
    for (const text of said) expect(text).toMatch(new RegExp(`run ${runId} of "guilty" is taken over: worker 0`));

    isMended = true;
    expect(await world.asker.runs.release(runId, { reason: "mended" })).toEqual({ released: true });
    await world.clock.tick("2s");
    expect(entries.at(-1)).toMatchObject({ entered: 1 });
    expect(await world.asker.runs.get(runId)).toMatchObject({ state: "completed", output: "done", parked: null });
  });

  test("fails instead if its function says so, after as many entries as it says, and `onFailure` is told", async () => {
    let entered = 0;
    const told: string[] = [];
    const world = supervised((idem, life) => {
      const options = {
        id: "guilty",
        entries: { max: 2, onMax: "fail" },
        onFailure: ({ error }: { error: Error }) => told.push(error.message),
      } as const;
      idem.createFunction(options, { event: "a/b" }, ({ step }) =>
        step.run("deadly", () => {
          entered++;
          return life.die();
        }),
      );
    });
    await world.start();
    const runId = await sent(world.asker, "a/b");
    await world.clock.tick("3m");
    expect(entered).toBe(2);
    expect(await world.asker.runs.get(runId)).toMatchObject({ state: "failed", error: { code: "RUN_LOST_WORKERS" } });
    expect(told).toHaveLength(1);
  });

  test("takes fifty bystanders with it each time, and is the only one that is parked", async () => {
    const done = new Set<number>();
    const world = supervised((idem, life) => {
      idem.createFunction({ id: "guilty" }, { event: "guilty" }, ({ step }) => step.run("deadly", () => life.die()));
      idem.createFunction({ id: "innocent", retries: 0 }, { event: "innocent" }, ({ event, step }) =>
        step.run("work", async () => {
          await world.sleep(3_000);
          if (!life.isDead) done.add(event.data.n);
          return event.data.n;
        }),
      );
    });
    const innocent = Array.from({ length: 50 }, (_, n) => ({ name: "innocent", data: { n } }));
    await world.start();
    await world.asker.send([...innocent, { name: "guilty" }]);
    await world.clock.tick("15m");
    const parked = await world.asker.runs.list({ state: "parked" });
    expect(parked.map((run) => run.function)).toEqual(["guilty"]);
    const completed = await world.asker.runs.list({ state: "completed", limit: 200 });
    expect(completed).toHaveLength(50);
    expect(done.size).toBe(50);
    expect(world.started.count).toBe(6);
  });

  test("counts from the start once anything comes of an entry", async () => {
    const entries: string[] = [];
    const world = supervised((idem, life) => {
      idem.createFunction({ id: "slow", entries: { max: 3 } }, { event: "a/b" }, async ({ step }) => {
        for (const name of ["one", "two"]) {
          await step.run(name, ({ entered }) => {
            entries.push(`${name} ${entered}`);
            return entered < 3 ? life.die() : "done";
          });
        }
        await step.run("three", ({ entered, attempt }) => {
          entries.push(`three ${entered}, attempt ${attempt}`);
          if (attempt === 1) throw new Error("an outcome, too");
        });
      });
    });
    await world.start();
    const runId = await sent(world.asker, "a/b");
    await world.clock.tick("10m");
    expect(await world.asker.runs.get(runId)).toMatchObject({ state: "completed" });
    expect(entries).toEqual([
      "one 1",
      "one 2",
      "one 3",
      "two 1",
      "two 2",
      "two 3",
      "three 1, attempt 1",
      "three 1, attempt 2",
    ]);
  });

  test("is not counted where its process was stopped and handed it back", async () => {
    const entries: number[] = [];
    const world = testIdem();
    const define = (idem: Idem) =>
      idem.createFunction({ id: "long" }, { event: "a/b" }, ({ step }) =>
        step.run("long", ({ entered }) => {
          entries.push(entered);
          return entries.length > 7 ? "done" : new Promise<never>(() => {});
        }),
      );
    define(world.idem);
    await world.idem.start();
    const runId = await sent(world.idem, "a/b");
    await world.clock.tick(10);
    let running = world.idem;
    for (let i = 0; i < 7; i++) {
      const stopping = running.stop({ grace: 0 });
      await world.clock.tick(10);
      await stopping;
      running = world.client();
      define(running);
      await running.start();
      await world.clock.tick("2s");
    }
    expect(entries).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(await running.runs.get(runId)).toMatchObject({ state: "completed", lost: null });
    await running.stop({ grace: 0 });
  });
});

describe("a parked run", () => {
  const parkedRun = async (options: object) => {
    const world = supervised((idem, life) => {
      idem.createFunction({ id: "guilty", entries: { max: 1 }, ...options }, { event: "a/b" }, ({ step }) =>
        step.run("deadly", () => life.die()),
      );
    });
    await world.start();
    const runId = await sent(world.asker, "a/b");
    await world.clock.tick("1m");
    expect(await world.asker.runs.get(runId)).toMatchObject({ state: "parked" });
    return { ...world, runId };
  };

  test("is cancelled by the event that cancels its function's runs", async () => {
    const { asker, clock, runId } = await parkedRun({ cancelOn: [{ event: "a/stop" }] });
    await asker.send({ name: "a/stop" });
    await clock.tick("2s");
    expect(await asker.runs.get(runId)).toMatchObject({ state: "cancelled" });
  });

  test("is ended when the time for its whole life is over", async () => {
    const { asker, clock, runId } = await parkedRun({ timeouts: { finish: "5m" } });
    await clock.tick("3m");
    expect(await asker.runs.get(runId)).toMatchObject({ state: "parked" });
    await clock.tick("2m");
    expect(await asker.runs.get(runId)).toMatchObject({ state: "cancelled", error: { code: "RUN_TIMED_OUT" } });
  });

  test("keeps whoever waits for it waiting, and a rerun of it is a new run", async () => {
    const { asker, clock, runId } = await parkedRun({});
    let ended = false;
    void asker.runs.wait(runId).then(() => {
      ended = true;
    });
    await clock.tick("1h");
    expect(ended).toBe(false);
    const { runId: again } = await asker.runs.rerun(runId);
    expect(again).not.toBe(runId);
    await asker.runs.cancel(runId);
    await clock.tick("2s");
    expect(ended).toBe(true);
    expect(await asker.runs.release(runId)).toEqual({ released: false });
  });
});
