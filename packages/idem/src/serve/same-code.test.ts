// The same functions, embedded and served: what people see of a run must not depend on where its code lives.
import { expect, onTestFinished, test } from "vitest";
import { NonRetriableError } from "../model/user-errors.ts";
import type { Timeline } from "../observe/timeline.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import { type RunEnd, type RunsApi, runsApi } from "../sdk/reads-api.ts";
import { startServer } from "../server/start-server.ts";
import { syncApp } from "../server/sync-app.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { held } from "../testing/one-run.suite.ts";
import { turns } from "../testing/turns.suite.ts";
import { served as listen } from "./listening.suite.ts";

/** `pace` is how soon a failed attempt is followed by the next; a server has its own. */
type Define = (idem: Idem, pace: { readonly backoff?: () => number }) => void;

interface Lived {
  readonly idem: Idem;
  readonly runs: RunsApi;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function embedded(define: Define, options: Partial<IdemOptions> = {}): Promise<Lived> {
  const idem = new Idem({ id: "shop", store: "memory:", logger: quiet, ...options });
  onTestFinished(() => idem.stop({ grace: 0 }));
  define(idem, { backoff: () => 20 });
  await idem.start();
  return { idem, runs: idem.runs };
}

async function served(define: Define, options: { store?: MemoryStore; keys?: string } = {}): Promise<Lived> {
  const { store, keys } = options;
  const start = { port: 0, store: "memory:", discovery: false, poll: false, retryIntervalMs: 20 } as const;
  const signed = {
    mode: "start",
    signingKeys: [keys!],
    eventKeys: ["9e41c7d20ab85f36"],
    allowHosts: ["127.0.0.1"],
  } as const;
  const server = await startServer(
    { ...start, ...(keys === undefined ? {} : signed) },
    { logger: quiet, ...(store === undefined ? {} : { store }) },
  );
  onTestFinished(() => server.close({ graceMs: 0 }));
  const idem = new Idem({
    id: "shop",
    server: server.origin,
    logger: quiet,
    ...(keys === undefined ? {} : { signingKey: keys, eventKey: "9e41c7d20ab85f36" }),
  });
  define(idem, {});
  const url = await listen(idem);
  await syncApp(server.world, "default", url);
  return { idem, runs: runsApi(() => server.world.engine("default")) };
}

/** The same in every timeline wherever the code lives: not the ids and times of events. */
const told = (timeline: Timeline) =>
  timeline
    .map(({ name, kind, state, output, error, attempts }) => ({
      name,
      kind,
      state,
      output: Object.keys(output ?? {}).some((key) => key === "ids" || key === "ts") ? "an event" : output,
      error: error?.message ?? null,
      attempts: attempts.map((each) => each.error?.message ?? "done"),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

/** The place in the code that threw differs. */
const withoutStack = (end: RunEnd) => (end.error === null ? end : { ...end, error: { ...end.error, stack: "" } });

async function story({ idem, runs }: Lived, event: Record<string, unknown> = {}) {
  const sent = await idem.send({ name: "test/go", data: { k: 7 }, ...event });
  const runId = sent.decisions.find((decision) => decision.function === "fn")!.runId!;
  const end = await runs.wait(runId);
  const run = (await runs.get(runId))!;
  return { runId, end, run, told: told(run.timeline) };
}

/** Runs the function both ways and expects the same story. */
async function bothWays(define: Define) {
  const here = await story(await embedded(define));
  const there = await story(await served(define));
  expect(withoutStack(there.end)).toEqual(withoutStack(here.end));
  expect(there.told).toEqual(here.told);
  return { here, there };
}

const fn =
  (handler: (context: any) => unknown, options: Record<string, unknown> = {}): Define =>
  (idem, pace) => {
    idem.createFunction({ id: "fn", idempotency: "event.data.k", ...pace, ...options }, { event: "test/go" }, handler);
  };

test("steps in a row, side by side and one behind the other have the same timeline and output", async () => {
  const { here } = await bothWays(
    fn(async ({ step, event }) => {
      const first = await step.run("first", () => event.data.k);
      const both = await Promise.all([
        step.run("left", () => "l").then((left: string) => step.run("left again", () => left.toUpperCase())),
        step.run("right", () => "r"),
      ]);
      const again = [await step.run("again", () => 1), await step.run("again", () => 2)];
      return { first, both, again };
    }),
  );
  expect(here.end.output).toEqual({ first: 7, both: ["L", "r"], again: [1, 2] });
});

test("sleeps, waits for events, signals and invoked functions have the same timeline and output", async () => {
  const { here } = await bothWays((idem, pace) => {
    fn(async ({ step }) => {
      await step.sleep("nap", 30);
      const [heard] = await Promise.all([
        step.waitForEvent("heard", { event: "test/said", timeout: "1m", match: "data.k" }),
        step.sendEvent("say", { name: "test/said", data: { k: 7 } }).then(() => null),
      ]);
      const missed = await step.waitForEvent("missed", { event: "test/never", timeout: 30 });
      const child = await step.invoke("child", { function: "child", data: { n: 20 } });
      const failed = await step.invoke("bad child", { function: "bad" }).catch((error: Error) => error.message);
      const nobody = await step.sendSignal("nobody", { signal: "nobody-waits" });
      return { heard: heard.data, missed, child, failed, nobody };
    })(idem, pace);
    idem.createFunction({ id: "child" }, [], async ({ event, step }) => step.run("double", () => event.data.n * 2));
    idem.createFunction({ id: "bad", retries: 0 }, [], () => {
      throw new Error("child failed");
    });
  });
  expect(here.end.output).toEqual({
    heard: { k: 7 },
    missed: null,
    child: 40,
    failed: "child failed",
    nobody: { runId: null },
  });
});

test("failed attempts, a failure for good and a caught one have the same timeline and output", async () => {
  const define: Define = (idem, pace) => {
    const tries = new Map<string, number>();
    const failing = (name: string, times: number) => () => {
      const tried = (tries.get(name) ?? 0) + 1;
      tries.set(name, tried);
      if (tried <= times) throw new Error(`${name} ${tried}`);
      return tried;
    };
    fn(
      async ({ step }) => {
        const flaky = await step.run("flaky", failing("flaky", 2));
        const caught = await step.run("hopeless", failing("hopeless", 9)).catch((error: Error) => error.message);
        const final = await step
          .run("final", () => {
            throw new NonRetriableError("at once");
          })
          .catch((error: Error) => error.message);
        const both = await Promise.all([step.run("x", failing("x", 1)), step.run("y", failing("y", 2))]);
        return { flaky, caught, final, both };
      },
      { retries: 2 },
    )(idem, pace);
  };
  const { here } = await bothWays(define);
  expect(here.end.output).toEqual({ flaky: 3, caught: "hopeless 3", final: "at once", both: [2, 3] });
});

test("a timeline names the tools its steps were made with", async () => {
  const define = fn(async ({ step }) => {
    await step.run("run", () => 1);
    await step.sendEvent("send", { name: "test/other" });
    await step.sendSignal("signal", { signal: "nobody-waits" });
    await step.sleep("sleep", 1);
  });
  const { here, there } = await bothWays(define);
  const kinds = ({ run }: typeof here) => run.timeline.map(({ kind }) => kind);
  expect(kinds(there)).toEqual(kinds(here));
});

test("a race goes on with the winner and does not wait for the loser", async () => {
  const { here } = await bothWays(
    fn(async ({ step }) => {
      const first = await Promise.race([step.run("fast", () => "fast"), step.sleep("slow", "1h")]);
      return step.run("after", () => first);
    }),
  );
  expect(here.end.output).toBe("fast");
});

test("a run that fails for good calls its companion, wherever its code lives", async () => {
  const heard: string[] = [];
  const define = fn(
    async ({ step }) => {
      await step.run("ok", () => 1);
      throw new NonRetriableError("hopeless");
    },
    { onFailure: ({ error }: { error: Error }) => heard.push(error.message) },
  );
  const { here } = await bothWays(define);
  expect(here.end).toMatchObject({ state: "failed", error: { message: "hopeless" } });
  await expect.poll(() => heard).toEqual(["hopeless", "hopeless"]);
});

test("code between steps that fails is entered again, with its attempts counted", async () => {
  const define: Define = (idem, pace) => {
    let entered = 0;
    fn(async ({ step }) => {
      await step.run("a", () => 1);
      if (++entered < 3) throw new Error(`between ${entered}`);
      return entered;
    })(idem, pace);
  };
  const { here } = await bothWays(define);
  expect(here.end.output).toBe(3);
});

test("a rerun over HTTP of a run that was embedded hands its steps the same destination keys", async () => {
  const define = fn(async ({ step }) => ({
    a: await step.run("a", ({ key }: any) => key),
    both: await Promise.all(["b", "b"].map((id) => step.run(id, ({ key }: any) => key))),
    sent: await step.sendEvent("send", { name: "test/other" }).then(() => "sent"),
  }));
  const store = new MemoryStore(nodePlatform);
  const { idem, runs } = await embedded(define, { store });
  const here = await story({ idem, runs });
  await idem.stop();
  const there = await served(define, { store });
  const { runId } = await there.runs.rerun(here.runId);
  const end = await there.runs.wait(runId);
  const run = (await there.runs.get(runId))!;
  expect(end).toEqual(here.end);
  expect(run.rerunOf).toBe(here.runId);
  const keys = (timeline: Timeline) => new Set(timeline.map((entry) => `${entry.name} ${entry.destinationKey}`));
  expect(keys(run.timeline)).toEqual(keys(here.run.timeline));
  expect(run.timeline.find((entry) => entry.name === "a")!.destinationKey).toBe((end.output as { a: string }).a);
});

test("with keys on both sides every call, checkpoint and send goes through signed", async () => {
  const keys = "4f2a9c0e7b1d8356af03c9e2517bd864";
  const lived = await served(
    fn(({ step }) => step.run("a", () => "signed")),
    { keys },
  );
  expect((await story(lived)).end).toMatchObject({ state: "completed", output: "signed" });
});

test("steps nobody waits for are begun and recorded before the run ends", async () => {
  const { here } = await bothWays(
    fn(async ({ step }) => {
      step.run("left", () => 1);
      step.run("right", () => 2);
      return "done";
    }),
  );
  expect(here.told.map(({ name }) => name)).toEqual(["left", "right"]);
});

// ---------------------------------------------------------------------------------------------------- flow control

/** Lives through the same both ways; what it returns must not differ. */
async function alike<Seen>(define: () => Define, live: (lived: Lived) => Promise<Seen>): Promise<Seen> {
  const here = await live(await embedded(define()));
  expect(await live(await served(define()))).toEqual(here);
  return here;
}

const go = ({ idem }: Lived, data: readonly object[]) =>
  idem.send(data.map((each) => ({ name: "test/go", data: each })));

/** Decisions made at once, by event. */
const kindsOf = ({ decisions }: { decisions: readonly { kind: string }[] }) => decisions.map(({ kind }) => kind);

/** A function without a key. */
const keyless = (handler: (context: any) => unknown, options: Record<string, unknown>): Define =>
  fn(handler, { idempotency: undefined, ...options });

test("a batch is one run with the same events, in every pass of its code", async () => {
  const numbers = (events: readonly { data: { n: number } }[]) => events.map(({ data }) => data.n);
  const define = () =>
    keyless(
      async ({ event, events, step }) => {
        const inStep = await step.run("look", () => numbers(events));
        await step.sleep("nap", 20);
        return { first: event.data.n, inStep, afterwards: numbers(events) };
      },
      { batchEvents: { maxSize: 3, timeout: "1h" } },
    );
  const seen = await alike(define, async (lived) => {
    const sent = await go(lived, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    const { runId } = sent.decisions.at(-1)!;
    const { output } = await lived.runs.wait(runId!);
    const events = await Promise.all(sent.ids.map((id) => lived.idem.events.get(id)));
    const decided = events.flatMap((event) => event!.decisions.map(({ kind, reason }) => [kind, reason]));
    return { kinds: kindsOf(sent), output, decided };
  });
  expect(seen.output).toEqual({ first: 1, inStep: [1, 2, 3], afterwards: [1, 2, 3] });
  expect(seen.decided).toEqual([1, 2, 3].map(() => ["started", expect.stringContaining("batch of 3")]));
});

test("with a concurrency of one, one step at a time is at work", async () => {
  const define = (): Define => (idem, pace) => {
    const open: number[] = [];
    const most = { open: 0 };
    const work =
      ({ event }: any) =>
      async () => {
        open.push(event.data.n);
        most.open = Math.max(most.open, open.length);
        await turns(20);
        open.splice(open.indexOf(event.data.n), 1);
      };
    keyless(
      async (context) => {
        await context.step.run("one", work(context));
        await Promise.all(["left", "right"].map((id) => context.step.run(id, work(context))));
        return most.open;
      },
      { concurrency: { limit: 1, key: "event.data.k" } },
    )(idem, pace);
  };
  const most = await alike(define, async (lived) => {
    const { decisions } = await go(
      lived,
      [1, 2, 3, 4].map((n) => ({ n, k: 1 })),
    );
    const ends = await Promise.all(decisions.map(({ runId }) => lived.runs.wait(runId!)));
    return Math.max(...ends.map(({ output }) => output as number));
  });
  expect(most).toBe(1);
});

test("in a limit of two that counts steps, two of five steps side by side are at work, embedded and served", async () => {
  const define = (): Define => (idem, pace) => {
    const at = { work: 0, most: 0 };
    const both = held();
    keyless(
      async ({ step }) => {
        await Promise.all(
          [1, 2, 3, 4, 5].map((n) =>
            step.run(`s${n}`, async () => {
              at.most = Math.max(at.most, ++at.work);
              // The first one waits for a second one. A third one would have 20 turns of the loop to begin.
              if (at.work === 2) both.release();
              await both.promise;
              await turns(20);
              at.work--;
            }),
          ),
        );
        return at.most;
      },
      { concurrency: { limit: 2, parallelSteps: true } },
    )(idem, pace);
  };
  const most = await alike(define, async (lived) => {
    const { decisions } = await go(lived, [{ n: 1 }, { n: 2 }]);
    const ends = await Promise.all(decisions.map(({ runId }) => lived.runs.wait(runId!)));
    return Math.max(...ends.map(({ output }) => output as number));
  });
  expect(most).toBe(2);
});

test.each([
  ["skip", ["started", "singleton-skipped", "started"], ["completed", "completed", "completed"]],
  ["cancel", ["started", "started", "started"], ["cancelled", "completed", "completed"]],
])("a singleton that is open is dealt with alike: %s", async (mode, kinds, states) => {
  const define = () =>
    keyless(({ step }) => step.waitForEvent("w", { event: "test/end", timeout: "1h", match: "data.k" }), {
      singleton: { mode, key: "event.data.k" },
    });
  const seen = await alike(define, async (lived) => {
    const before = await go(lived, [{ k: 1 }]);
    const { runId } = before.decisions[0]!;
    await expect.poll(async () => (await lived.runs.get(runId!))!.state).toBe("waiting");
    const after = await go(lived, [{ k: 1 }, { k: 2 }]);
    const runs = [before, after].flatMap(({ decisions }) => decisions.map((decision) => decision.runId!));
    for (const run of new Set(runs)) {
      await expect.poll(async () => (await lived.runs.get(run))!.state).toMatch(/waiting|cancelled/);
    }
    await lived.idem.send([1, 2].map((k) => ({ name: "test/end", data: { k } })));
    const ends = await Promise.all(runs.map((run) => lived.runs.wait(run)));
    return { kinds: [...kindsOf(before), ...kindsOf(after)], states: ends.map(({ state }) => state) };
  });
  expect(seen).toEqual({ kinds, states });
});

test("an event cancels the run it matches, wherever its code lives", async () => {
  const define = () =>
    keyless(({ step }) => step.sleep("long", "1h"), { cancelOn: [{ event: "test/stop", match: "data.k" }] });
  const seen = await alike(define, async (lived) => {
    const { decisions } = await go(lived, [{ k: 1 }, { k: 2 }]);
    const [one, two] = decisions.map(({ runId }) => runId!);
    for (const run of [one!, two!]) await expect.poll(async () => (await lived.runs.get(run))!.state).toBe("waiting");
    await lived.idem.send({ name: "test/stop", data: { k: 2 } });
    const { state } = await lived.runs.wait(two!);
    return { state, other: (await lived.runs.get(one!))!.state };
  });
  expect(seen).toEqual({ state: "cancelled", other: "waiting" });
});

/** The step is renamed once it is done: the code of the next pass asks for another. */
const renamed =
  (did: string[]): Parameters<typeof fn>[0] =>
  async ({ step }: any) => {
    const id = did.includes("charge") ? "charge-card" : "charge";
    await step.run(id, async () => {
      await turns(20);
      did.push(id);
    });
    await step.sleep("nap", 20);
    return "done";
  };

test("code that no longer asks for a step it has done is noticed wherever it lives", async () => {
  const here: string[] = [];
  const there: string[] = [];
  const a = await story(await embedded(fn(renamed(here))));
  const b = await story(await served(fn(renamed(there))));
  for (const { end, told } of [a, b]) {
    expect(end).toMatchObject({ state: "completed", output: "done" });
    expect(told.filter(({ kind }) => kind === "diverged")).toMatchObject([
      { name: "charge", output: { asked: "charge-card" } },
    ]);
  }
  expect([here, there]).toEqual([
    ["charge", "charge-card"],
    ["charge", "charge-card"],
  ]);
});

test("a renamed step keeps its record and key, and two steps that claim one id park the run, wherever it lives", async () => {
  for (const lives of [embedded, served]) {
    const seen: string[] = [];
    let isRenamed = false;
    const code = fn(async ({ step }) => {
      const id = isRenamed ? { id: "charge-card", was: "charge" } : "charge";
      await step.run(id, ({ key }: any) => seen.push(key));
      await step.waitForSignal("go", { signal: "go", timeout: "1m" });
      await step.run("charge", ({ key }: any) => seen.push(key));
    });
    const { idem, runs } = await lives(code);
    const sent = await idem.send({ name: "test/go", data: { k: 7 } });
    const runId = sent.decisions[0]!.runId!;
    const stateOf = async () => (await runs.get(runId))!.state;
    await expect.poll(stateOf).toBe("waiting");
    isRenamed = true;
    await idem.sendSignal({ signal: "go" });
    await expect.poll(stateOf).toBe("parked");
    expect((await runs.get(runId))!.parked).toMatchObject({ kind: "renamed" });
    expect(seen).toHaveLength(1);
  }
});

test('with onDiverged: "fail" it ends the run before anything is done in that step\'s place, wherever it lives', async () => {
  const here: string[] = [];
  const there: string[] = [];
  const a = await story(await embedded(fn(renamed(here), { onDiverged: "fail" })));
  const b = await story(await served(fn(renamed(there), { onDiverged: "fail" })));
  for (const { end } of [a, b]) expect(end).toMatchObject({ state: "failed", error: { code: "RUN_DIVERGED" } });
  expect([here, there]).toEqual([["charge"], ["charge"]]);
});
