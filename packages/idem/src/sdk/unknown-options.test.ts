import { describe, expect, test } from "vitest";
import type { Logger } from "../execute/function-code.ts";
import { servedWorld } from "../serve/served-world.suite.ts";
import { oneRun } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { Idem } from "./client.ts";

const listening = () => {
  const lines: string[] = [];
  const add = (...args: unknown[]) => void lines.push(args.map(String).join(" "));
  const logger: Logger = { debug: add, info: add, warn: add, error: add };
  return { lines, logger };
};

const nothing = { id: "shop", store: "memory:" } as const;
const define = (options: object, trigger: object = { event: "a/b" }) =>
  new Idem({ ...nothing, logger: false }).createFunction({ id: "pay", ...options }, trigger as any, () => null);

describe("of a function", () => {
  test.each<[string, object, string]>([
    [
      "an option",
      { idempotencyKey: "event.data.id" },
      'createFunction of "pay": unknown option "idempotencyKey"; did you mean "idempotency"?',
    ],
    ["another spelling", { rate_limit: {} }, 'unknown option "rate_limit"; did you mean "rateLimit"?'],
    [
      "a key's",
      { idempotency: { key: "event.data.id", windw: "1h" } },
      ', idempotency: unknown option "windw"; did you mean "window"?',
    ],
    ["timeouts", { timeouts: { finnish: "1h" } }, ', timeouts: unknown option "finnish"; did you mean "finish"?'],
    ["entries", { entries: { onMx: "fail" } }, ', entries: unknown option "onMx"; did you mean "onMax"?'],
    [
      "a throttle",
      { throttle: { limit: 1, peroid: "1s" } },
      ', throttle: unknown option "peroid"; did you mean "period"?',
    ],
    [
      "a rate limit",
      { rateLimit: { limit: 1, period: "1s", keys: "1" } },
      ', rateLimit: unknown option "keys"; did you mean "key"?',
    ],
    [
      "a debounce",
      { debounce: { period: "1s", timout: "1h" } },
      ', debounce: unknown option "timout"; did you mean "timeout"?',
    ],
    [
      "a batch",
      { batchEvents: { maxsize: 2, timeout: "1s" } },
      ', batchEvents: unknown option "maxsize"; did you mean "maxSize"?',
    ],
    ["a priority", { priority: { runs: "1" } }, ', priority: unknown option "runs"; did you mean "run"?'],
    [
      "a singleton",
      { singleton: { mode: "skip", keey: "1" } },
      ', singleton: unknown option "keey"; did you mean "key"?',
    ],
    [
      "a cancelling event",
      { cancelOn: [{ event: "a/c", matches: "data.id" }] },
      ', cancelOn: unknown option "matches"; did you mean "match"?',
    ],
    ["a concurrency", { concurrency: { limt: 1 } }, ', concurrency: unknown option "limt"; did you mean "limit"?'],
    [
      "one of several concurrencies",
      { concurrency: [{ limit: 1, scop: "env" }] },
      ', concurrency: unknown option "scop"; did you mean "scope"?',
    ],
    [
      "a concurrency of two shapes",
      { concurrency: { fn: [], limit: 1 } },
      ', concurrency: unknown option "limit"; known are fn, step',
    ],
    [
      "a concurrency of steps",
      { concurrency: { step: [{ limit: 1, kay: "1" }] } },
      ', concurrency: unknown option "kay"; did you mean "key"?',
    ],
  ])("%s that is mistyped is refused with the word that was meant", (_, options, message) => {
    expect(() => define(options)).toThrow(message);
    expect(() => define(options)).toThrow("[OPTION_UNKNOWN]");
  });

  test.each<[string, object, string]>([
    ["an event's", { event: "a/b", iff: "event.data.x" }, ', trigger: unknown option "iff"; did you mean "if"?'],
    ["a schedule's", { cron: "0 9 * * *", jiter: "1s" }, ', trigger: unknown option "jiter"; did you mean "jitter"?'],
    [
      "a schedule's missed ticks",
      { cron: "0 9 * * *", missed: { al: 3 } },
      ', trigger.missed: unknown option "al"; did you mean "all"?',
    ],
  ])("%s trigger that is mistyped is refused", (_, trigger, message) => {
    expect(() => define({}, trigger)).toThrow(message);
  });

  test("options that are undefined are not given", () => {
    expect(define({ idempotencyKey: undefined, throttle: undefined }).id).toBe("pay");
  });

  test("options of Inngest's that have no use here are warned of once each, and the function is taken as it is", () => {
    const { lines, logger } = listening();
    const idem = new Idem({ ...nothing, logger });
    const options = { id: "pay", description: "pays", optimizeParallelism: true, checkpointing: { maxRuntime: "5s" } };
    const trigger = { event: "a/b", schema: {} };
    idem.createFunction(options, trigger as any, () => null);
    expect(lines.map((line) => line.match(/option "(\w+)"/)?.[1])).toEqual([
      "description",
      "optimizeParallelism",
      "checkpointing",
      "schema",
    ]);
    expect(lines[0]).toContain('createFunction of "pay"');
  });
});

describe("of a client", () => {
  test("a mistyped one is refused with the word that was meant, and no store is opened", () => {
    expect(() => new Idem({ id: "shop", stroe: "memory:" } as any)).toThrow(
      'new Idem: unknown option "stroe"; did you mean "store"?',
    );
  });

  test("those of Inngest's are warned of, and the client is taken as it is", () => {
    const { lines, logger } = listening();
    const idem = new Idem({ ...nothing, logger, isDev: true, baseUrl: "http://x", appVersion: "1" } as any);
    expect(idem.id).toBe("shop");
    expect(lines).toHaveLength(3);
    expect(lines.join()).toContain("the address of a server is the option `server`");
  });

  test("a client made of an instance of a class of its user's own is taken as it is", () => {
    class Config {
      readonly id = "shop";
      readonly store = "memory:";
      readonly comment = "ours";
    }
    expect(new Idem(new Config()).id).toBe("shop");
  });

  test.each<[string, (idem: Idem) => Promise<unknown>, string]>([
    ["send", (idem) => idem.send({ name: "a/b" }, { widow: "1h" } as any), 'did you mean "window"?'],
    ["sendSignal", (idem) => idem.sendSignal({ signal: "s", date: 1 } as any), 'did you mean "data"?'],
    ["stop", (idem) => idem.stop({ garce: "1s" } as any), 'did you mean "grace"?'],
    ["runs.list", (idem) => idem.runs.list({ fucntion: "pay" } as any), 'did you mean "function"?'],
    ["runs.wait", (idem) => idem.runs.wait("r", { singal: null } as any), 'did you mean "signal"?'],
    ["runs.cancel", (idem) => idem.runs.cancel("r", { raeson: "" } as any), 'did you mean "reason"?'],
    ["runs.release", (idem) => idem.runs.release("r", { raeson: "" } as any), 'did you mean "reason"?'],
    ["runs.rerun", (idem) => idem.runs.rerun("r", { formStep: "a" } as any), 'did you mean "fromStep"?'],
    ["events.list", (idem) => idem.events.list({ nmae: "a/b" } as any), 'did you mean "name"?'],
    ["events.release", (idem) => idem.events.release("e", { fn: "pay" } as any), "known are function"],
    ["events.drop", (idem) => idem.events.drop("e", { resaon: "x" } as any), 'did you mean "reason"?'],
    ["functions.pause", (idem) => idem.functions.pause("f", { actr: "x" } as any), 'did you mean "actor"?'],
    ["functions.resume", (idem) => idem.functions.resume("f", { wating: "keep" } as any), 'did you mean "waiting"?'],
    ["effects.list", (idem) => idem.effects.list({ enity: "x" } as any), 'did you mean "entity"?'],
    [
      "effects.doubled",
      (idem) => idem.effects.doubled({ within: "1d", destinaton: "x" } as any),
      'did you mean "destination"?',
    ],
    ["effects.resolve", (idem) => idem.effects.resolve("e", { recipt: "x" } as any), 'did you mean "receipt"?'],
    ["dashboard", async (idem) => idem.dashboard({ bse: "/x" } as any), 'did you mean "base"?'],
  ])("%s refuses what is mistyped, before it does anything", async (call, ask, message) => {
    const { idem } = testIdem();
    const refusal: any = await ask(idem).catch((error: Error) => error as any);
    expect(refusal.message).toMatch(new RegExp(`^${call.replace(".", "\\.")}: unknown option`));
    expect(refusal.message).toContain(message);
    await idem.stop();
  });

  test("what a client asks of a server is refused the same way", async () => {
    const { idem, asked } = servedWorld();
    await expect(idem.runs.list({ fucntion: "pay" } as any)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    expect(asked).toEqual([]);
  });
});

test("serve refuses a mistyped option, and warns of Inngest's", () => {
  expect(() => servedWorld({ serve: { maxruntime: "1s" } as any })).toThrow(
    'serve: unknown option "maxruntime"; did you mean "maxRuntime"?',
  );
  const { saidAtStart } = servedWorld({ serve: { serveOrigin: "https://shop.example", streaming: true } as any });
  expect(saidAtStart.flat().join()).toContain('"serveOrigin"');
});

describe("of a step", () => {
  test.each<[string, (step: any) => unknown, string]>([
    [
      "its id",
      (step) => step.run({ id: "a", timout: "1s" }, () => 1),
      'step "a": unknown option "timout"; did you mean "timeout"?',
    ],
    [
      "waitForEvent",
      (step) => step.waitForEvent("a", { event: "x", timeout: "1s", macth: "data.x" }),
      'step.waitForEvent("a"): unknown option "macth"',
    ],
    [
      "waitForSignal",
      (step) => step.waitForSignal("a", { signal: "x", timeout: "1s", onConflit: "fail" }),
      'did you mean "onConflict"?',
    ],
    ["invoke", (step) => step.invoke("a", { function: "x", dta: {} }), 'did you mean "data"?'],
    ["sendSignal", (step) => step.sendSignal("a", { signal: "x", dat: 1 }), 'did you mean "data"?'],
    ["fetch", (step) => step.fetch("a", "http://localhost/", { boby: "x" }), 'did you mean "body"?'],
    [
      "effect",
      (step) => step.effect("a", { destination: "stripe", entity: "x", acount: "y" }, () => 1),
      'did you mean "account"?',
    ],
  ])("%s: what is mistyped fails the run with the word that was meant, without a retry", async (_, ask, message) => {
    const run = await oneRun(({ step }) => ask(step));
    const { state, error } = await run.end();
    expect(state).toBe("failed");
    expect(error!.message).toContain(message);
    expect((await run.idem.runs.get(run.runId))!.timeline.filter((entry) => entry.attempts.length > 1)).toEqual([]);
  });

  test("one of Inngest's is warned of once for a function, however many runs it has", async () => {
    const { lines, logger } = listening();
    const { idem, clock } = testIdem({ logger });
    idem.createFunction({ id: "one" }, { event: "a/b" }, async ({ step }) => {
      await step.run({ id: "a", parallelMode: "race" } as any, () => 1);
      await step.sleep("nap", "1h");
    });
    await idem.start();
    for (let i = 0; i < 3; i++) await idem.send({ name: "a/b" });
    await clock.advanceToEnd();
    expect(lines.filter((line) => line.includes("parallelMode"))).toHaveLength(1);
    await idem.stop();
  });
});
