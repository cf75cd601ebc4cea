// Several nodes over one store. Everything here holds with every hint lost; hints only make it sooner.
import { describe, expect, onTestFinished, test } from "vitest";
import type { Logger } from "../execute/function-code.ts";
import type { Platform } from "../platform/platform.ts";
import type { Idem } from "../sdk/client.ts";
import { defineFunction } from "../sdk/create-function.ts";
import type { Beats, StoreHint } from "../store/sharing.ts";
import { held } from "../testing/one-run.suite.ts";
import { type Handle, type SharedStoreOptions, sharedStore } from "../testing/shared-store.suite.ts";
import { type TestClock, testIdem } from "../testing/test-idem.ts";
import { Engine } from "./engine.ts";
import { limits } from "./limits.ts";
import { Telling } from "./telling.ts";

interface Node {
  readonly idem: Idem;
  readonly handle: Handle;
}

interface Nodes {
  readonly clock: TestClock;
  readonly platform: Platform;
  readonly hints: readonly StoreHint[];
  node(define?: (idem: Idem) => void): Node;
  handle(): Handle;
}

function nodes(options: SharedStoreOptions = {}): Nodes {
  const world = testIdem<any>();
  const { platform } = world.idem as unknown as { platform: Platform };
  const { handle, hints } = sharedStore(platform, options);
  return {
    clock: world.clock,
    platform,
    hints,
    handle,
    node: (define = () => {}) => {
      const made = handle();
      const idem = world.client({ id: "shop", store: made.store });
      define(idem);
      onTestFinished(() => idem.stop({ grace: 0 }));
      return { idem, handle: made };
    },
  };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** An engine in the role of a node, without a client around it. */
function engineOf(
  { platform, handle }: Nodes,
  role: "all" | "api" | "worker",
  made = handle(),
  logger: Logger = silent,
) {
  const engine = new Engine({
    store: made.store,
    platform,
    env: "default",
    app: "shop",
    telling: new Telling({ logger, platform }),
    runsInFlight: 10,
    leaseTermMs: limits.leaseTermSharedMs,
    eventWindowMs: 60_000,
    checkEvents: async () => {},
    about: { node: `the ${role}`, version: "1.2.3", role },
  });
  onTestFinished(() => engine.stop(0));
  return engine;
}

const soon = { name: "what was hinted", loses: () => false, within: 1 };
const late = { name: "what no hint told of", loses: () => true, within: "1s" } as const;

describe.each([soon, late])("$name", ({ loses, within }) => {
  test("a run that one node accepted is executed by another that has its code", async () => {
    const { clock, node } = nodes({ loses });
    const executed: string[] = [];
    const worker = node((idem) => {
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, ({ event }) => executed.push(event.data.id));
    });
    await worker.idem.start();
    await clock.tick(1);
    const sender = node();
    const { decisions } = await sender.idem.send({ name: "order/paid", data: { id: "o1" } });
    expect(decisions).toMatchObject([{ kind: "started" }]);
    await clock.tick(within);
    expect(executed).toEqual(["o1"]);
    expect(await sender.idem.runs.get(decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  });

  test("a run's end is heard on the node that did not execute it", async () => {
    const { clock, node } = nodes({ loses });
    const worker = node((idem) => {
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
        await step.sleep("a while", "10s");
        return "billed";
      });
    });
    await worker.idem.start();
    const sender = node();
    const { decisions } = await sender.idem.send({ name: "order/paid" });
    const end = sender.idem.runs.wait(decisions[0]!.runId!);
    await clock.tick("12s");
    expect(await end).toMatchObject({ state: "completed", output: "billed" });
  });

  test("a run that ends soon is heard of as soon by whoever looks so soon", async () => {
    const world = nodes({ loses });
    const { clock, node } = world;
    const worker = node((idem) => {
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, ({ step }) => step.sleep("a moment", "100ms"));
    });
    await worker.idem.start();
    const { decisions } = await worker.idem.send({ name: "order/paid" });
    const heard: string[] = [];
    const listen = async (name: string, lookAfterMs?: number) => {
      await engineOf(world, "api").ends.wait(decisions[0]!.runId!, { lookAfterMs });
      heard.push(name);
    };
    const both = Promise.all([listen("usual"), listen("soon", 50)]);
    await clock.tick(400);
    expect(heard).toEqual(["soon"]);
    await clock.tick("1s");
    await both;
  });

  test("functions registered on one node are known on the other", async () => {
    const world = nodes({ loses });
    const other = engineOf(world, "all");
    let told = 0;
    Object.assign((other as unknown as { options: object }).options, { onRegistered: () => told++ });
    await other.register([]);
    await other.start();
    expect(other.registry.all).toEqual([]);
    const { idem } = world.node((client) => client.createFunction({ id: "bill" }, { event: "order/paid" }, () => 1));
    await idem.start();
    await world.clock.tick(within);
    expect(other.registry.all.map(({ fn }) => fn)).toEqual(["shop-bill"]);
    expect(told).toBe(1);
  });

  test("a function paused on one node starts nothing on the other", async () => {
    const { clock, node } = nodes({ loses });
    const define = (idem: Idem) => idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => 1);
    const [one, other] = [node(define), node(define)];
    await one.idem.start();
    await other.idem.start();
    await clock.tick(1);
    await one.idem.functions.pause("bill");
    const { decisions } = await other.idem.send({ name: "order/paid" });
    expect(decisions).toMatchObject([{ kind: "paused" }]);
    await one.idem.functions.resume("bill");
    expect((await other.idem.send({ name: "order/paid" })).decisions).toMatchObject([{ kind: "started" }]);
  });
});

// A run in the middle of a step looks again only now and then, so that is how long it may take without a hint.
const news = [
  { name: "hinted", loses: () => false, within: 1 },
  { name: "not hinted", loses: () => true, within: "10s" },
] as const;

describe.each(news)("news for a run that another node holds, $name", ({ loses, within }) => {
  test("an event accepted elsewhere ends its wait while its step goes on", async () => {
    const { clock, node } = nodes({ loses });
    const end = held();
    const heard: string[] = [];
    const one = node((idem) => {
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
        const long = step.run("long", () => end.promise);
        const approved = step.waitForEvent("approval", { event: "order/approved", timeout: "1h" });
        heard.push(await Promise.race([long.then(() => "long"), approved.then(() => "approved")]));
        await long;
      });
    });
    await one.idem.start();
    await one.idem.send({ name: "order/paid" });
    await clock.tick(1);
    const other = node((idem) => idem.createFunction({ id: "else" }, { event: "else" }, () => 1));
    await other.idem.start();
    await clock.tick(1);
    await other.idem.send({ name: "order/approved" });
    await clock.tick(within);
    expect(heard).toEqual(["approved"]);
    end.release();
  });

  test("a run cancelled elsewhere is told by its step's signal, and what it still brings is dropped", async () => {
    const { clock, node } = nodes({ loses });
    const end = held();
    let isAborted = () => false;
    const one = node((idem) => {
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
        await step.run("long", ({ signal }) => {
          isAborted = () => signal.aborted;
          return end.promise;
        });
        await step.run("next", () => "never");
      });
    });
    await one.idem.start();
    const { decisions } = await one.idem.send({ name: "order/paid" });
    await clock.tick(1);
    const other = node();
    const runId = decisions[0]!.runId!;
    expect(await other.idem.runs.cancel(runId, { reason: "by hand" })).toMatchObject({ cancelled: true });
    await clock.tick(within);
    expect(isAborted()).toBe(true);
    end.release();
    await clock.tick("1s");
    expect(await other.idem.runs.get(runId)).toMatchObject({ state: "cancelled", timeline: [] });
  });
});

describe("schedules", () => {
  test("a cron that three nodes have fires once at each of its instants", async () => {
    const { clock, node } = nodes();
    const fired: string[] = [];
    const define = (name: string) => (idem: Idem) =>
      idem.createFunction({ id: "report" }, { cron: "*/5 * * * *" }, ({ event }) => {
        fired.push(`${event.ts} by ${name}`);
      });
    for (const name of ["one", "two", "three"]) await node(define(name)).idem.start();
    for (let minute = 0; minute < 60; minute++) await clock.tick("1m");
    const instants = fired.map((text) => text.split(" ")[0]);
    expect(instants).toHaveLength(12);
    expect(new Set(instants).size).toBe(12);
  });

  test("an instant whose node is cut off is ticked by another", async () => {
    const { clock, node } = nodes();
    const fired: string[] = [];
    const define = (name: string) => (idem: Idem) =>
      idem.createFunction({ id: "report" }, { cron: "* * * * *" }, () => fired.push(name));
    const [one, two] = [node(define("one")), node(define("two"))];
    await one.idem.start();
    await two.idem.start();
    one.handle.isCut = true;
    await clock.tick("5m");
    expect(fired).toEqual(["two", "two", "two", "two", "two"]);
    one.handle.isCut = false;
    await clock.tick("5m");
    expect(fired).toHaveLength(10);
  });
});

describe("leases", () => {
  const define = (name: string, entered: string[], end: Promise<void>) => (idem: Idem) =>
    idem.createFunction({ id: "bill", retries: 0 }, { event: "order/paid" }, ({ step }) =>
      step.run("charge", async ({ signal }) => {
        entered.push(name);
        if (name === "one") {
          signal.addEventListener("abort", () => entered.push(`${name} stopped`));
          await end;
        }
        return name;
      }),
    );

  test("a node cut off from the store stops at three quarters of its term, before another takes its runs over", async () => {
    const { clock, node } = nodes();
    const end = held();
    const entered: string[] = [];
    const [one, two] = [node(define("one", entered, end.promise)), node(define("two", entered, end.promise))];
    await one.idem.start();
    const { decisions } = await one.idem.send({ name: "order/paid" });
    await clock.tick(1);
    await two.idem.start();
    await clock.tick("4s");
    one.handle.isCut = true;
    // Its last heartbeat was at its start.
    await clock.tick("10s");
    expect(entered).toEqual(["one"]);
    await clock.tick("2s");
    expect(entered).toEqual(["one", "one stopped"]);
    await clock.tick("14s");
    expect(entered).toEqual(["one", "one stopped", "two"]);
    end.release();
    one.handle.isCut = false;
    await clock.tick("10s");
    expect(await two.idem.runs.get(decisions[0]!.runId!)).toMatchObject({ state: "completed", output: "two" });
  });

  test("a node that was cut off works on under a new name", async () => {
    const { clock, node } = nodes();
    const executed: number[] = [];
    const one = node((idem) => {
      idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => executed.push(1));
    });
    await one.idem.start();
    one.handle.isCut = true;
    await clock.tick("1m");
    one.handle.isCut = false;
    await clock.tick("10s");
    await node().idem.send({ name: "order/paid" });
    await clock.tick("1s");
    expect(executed).toEqual([1]);
    const workers = await one.handle.store.reads.workers();
    expect(workers.map(({ isDead }) => isDead)).toEqual([true, false]);
  });

  test("a node that stops keeps its lease for as long as its grace lasts", async () => {
    const { clock, node } = nodes();
    const end = held();
    const entered: string[] = [];
    const [one, two] = [node(define("one", entered, end.promise)), node(define("two", entered, end.promise))];
    await one.idem.start();
    const { decisions } = await one.idem.send({ name: "order/paid" });
    await clock.tick(1);
    await two.idem.start();
    const stopping = one.idem.stop({ grace: "2m" });
    await clock.tick("1m");
    end.release();
    await clock.tick("1s");
    await stopping;
    expect(entered).toEqual(["one"]);
    expect(await two.idem.runs.get(decisions[0]!.runId!)).toMatchObject({ state: "completed", output: "one" });
  });

  test("runs of a node that died go on elsewhere within 30 seconds", async () => {
    const { clock, node } = nodes();
    const entered: string[] = [];
    const end = held();
    const [one, two] = [node(define("one", entered, end.promise)), node(define("two", entered, end.promise))];
    await one.idem.start();
    await two.idem.start();
    await one.idem.send({ name: "order/paid" });
    await clock.tick("7s");
    one.handle.isCut = true;
    await clock.tick("30s");
    expect(entered).toContain("two");
    end.release();
  });
});

describe("roles", () => {
  test("a node with the role api accepts and never leases, ticks or sweeps", async () => {
    const world = nodes();
    const worker = world.node((idem) => idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => 1));
    await worker.idem.start();
    await worker.idem.stop();
    const made = world.handle();
    const asked: string[] = [];
    for (const name of ["lease", "sweep", "tick"] as const) {
      const operation = made.store[name] as (input: any) => Promise<any>;
      Object.assign(made.store, {
        [name]: (input: any) => {
          if (name !== "tick" || input.ticks.length > 0) asked.push(name);
          return operation(input);
        },
      });
    }
    const api = engineOf(world, "api", made);
    await api.register([]);
    await api.start();
    const { decisions } = await api.accept([{ name: "order/paid" }], 1_000, []);
    expect(decisions).toMatchObject([{ kind: "started" }]);
    await world.clock.tick("2m");
    expect(asked).toEqual([]);
    expect(await made.store.reads.run("default", decisions[0]!.runId!)).toMatchObject({ state: "queued" });
  });

  test("every node is listed with its role, and its row says so once it is gone", async () => {
    const world = nodes();
    const roles = ["all", "api", "worker"] as const;
    const engines = roles.map((role) => engineOf(world, role));
    for (const engine of engines) await engine.start();
    await world.clock.tick("1m");
    const { reads } = world.handle().store;
    const byNode = async () => [...(await reads.workers())].sort((a, b) => (a.node! < b.node! ? -1 : 1));
    const listed = await byNode();
    expect(listed).toMatchObject(roles.map((role) => ({ node: `the ${role}`, version: "1.2.3", role, isDead: false })));
    for (const { beatAt } of listed) expect(world.clock.now() - beatAt!).toBeLessThanOrEqual(limits.heartbeatMs);
    await engines[1]!.stop(0);
    expect((await byNode()).map(({ isDead }) => isDead)).toEqual([false, true, false]);
  });
});

describe("the heartbeat thread of a node", () => {
  const event = { name: "order/paid" };

  /** A node with one function whose heartbeat thread is played: what happens to both, in its order. */
  function watched(world: Nodes, logger: Logger = silent) {
    const made = world.handle();
    const happened: string[] = [];
    const codes = defineFunction("shop", { id: "bill" }, [{ event: event.name }], ({ step }: any) =>
      step.run("charge", () => void happened.push("entered")),
    );
    const engine = engineOf(world, "all", made, logger);
    const beats = (): Beats => ({
      hold: () => void happened.push(engine.worker.isRunning ? "posted" : "posted before the worker ran"),
      drop: () => {},
      last: () => null,
      close: async () => void happened.push("closed"),
    });
    Object.assign(made.store.shared!, { beats });
    return { engine, codes, happened, made };
  }

  test("has the lease before a run of the backlog is entered", async () => {
    const world = nodes();
    const { engine, codes, happened } = watched(world);
    const api = engineOf(world, "api");
    await api.register(codes);
    await api.accept([event], 1_000, []);
    await engine.register(codes);
    await engine.start();
    await world.clock.tick(1);
    expect(happened).toEqual(["posted before the worker ran", "entered"]);
  });

  test("has the lease before a run is entered that was accepted right after the start", async () => {
    const world = nodes();
    const { engine, codes, happened } = watched(world);
    await engine.register(codes);
    await engine.start();
    await engine.accept([event], 1_000, []);
    await world.clock.tick(1);
    expect(happened).toEqual(["posted before the worker ran", "entered"]);
  });

  test("is closed in a process that is stopped while it starts", async () => {
    const world = nodes();
    const { engine, happened, made } = watched(world);
    const end = held();
    const sweep = made.store.sweep;
    const begun = new Promise<void>((resolve) => {
      Object.assign(made.store, {
        sweep: async (input: Parameters<typeof sweep>[0]) => {
          resolve();
          await end.promise;
          return sweep(input);
        },
      });
    });
    const starting = engine.start();
    await begun;
    await engine.stop(0);
    end.release();
    await starting;
    expect(happened).toEqual(["posted before the worker ran", "closed"]);
    expect(engine.worker.isRunning).toBe(false);
  });

  test("is replaced by the main thread where none can be started, which is logged once", async () => {
    const world = nodes();
    const logged: unknown[] = [];
    const { engine, codes, happened, made } = watched(world, {
      ...silent,
      error: (line: unknown) => void logged.push(line),
    });
    const beats = () => {
      throw new Error("no threads here");
    };
    Object.assign(made.store.shared!, { beats });
    await engine.register(codes);
    await engine.start();
    await world.clock.tick("2m");
    expect(engine.worker.isBeating).toBe(true);
    await engine.accept([event], 1_000, []);
    await world.clock.tick(1);
    expect(happened).toEqual(["entered"]);
    expect(logged).toEqual(["idem: the heartbeat thread (the main thread renews leases until it is restarted) failed"]);
  });
});
