import { Inngest } from "inngest";
import { describe, expect, test } from "vitest";
import type { FlowConfig } from "../flow/options.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { defineFunction } from "../sdk/create-function.ts";
import { writeFunction } from "./app-registration.ts";
import { readFunctions } from "./register-request.ts";

const url = "http://localhost:13000/api/inngest";

const carried = (written: unknown): FunctionConfig =>
  readFunctions("shop", JSON.parse(JSON.stringify([written])))[0]!.config;

/** Read from a registration the SDK itself wrote. */
function fromSdk(options: object): FunctionConfig {
  const inngest = new Inngest({ id: "shop", isDev: true });
  const fn = inngest.createFunction(
    { id: "pay", triggers: [{ event: "order/paid" }], ...options } as any,
    async () => null,
  );
  return carried((fn as any).getConfig({ baseUrl: new URL(url), appPrefix: "shop" })[0]);
}

/** Read from a registration somebody else wrote. */
const fromWire = (over: object): FunctionConfig =>
  carried({
    id: "shop-pay",
    name: "pay",
    triggers: [{ event: "order/paid" }],
    steps: { step: { id: "step", name: "step", runtime: { type: "http", url } } },
    ...over,
  });

const flowOf = (config: FunctionConfig): FlowConfig => {
  const { id, name, triggers, retries, idempotency, startTimeoutMs, finishTimeoutMs, runtime, ...flow } = config;
  return flow;
};

describe("what the SDK writes for an option is what its author meant", () => {
  const fn = { key: null, scope: "fn" };
  test.each<[object, object]>([
    [{ concurrency: 5 }, { concurrency: [{ limit: 5, ...fn }] }],
    [{ concurrency: 0 }, {}],
    [
      { concurrency: { limit: 5, key: "event.data.x", scope: "env" } },
      { concurrency: [{ limit: 5, key: "event.data.x", scope: "env" }] },
    ],
    [
      { concurrency: [{ limit: 5 }, { limit: 1, key: '"openai"', scope: "account" }] },
      {
        concurrency: [
          { limit: 5, ...fn },
          { limit: 1, key: '"openai"', scope: "account" },
        ],
      },
    ],
    [{ concurrency: [{ limit: 5 }, { limit: 0, key: "event.data.x" }] }, { concurrency: [{ limit: 5, ...fn }] }],
    [{ concurrency: { fn: [{ limit: 3 }], step: [{ limit: 5 }] } }, { concurrency: [{ limit: 3, ...fn }] }],
    [
      { throttle: { limit: 5, period: "1h30m", burst: 2, key: "event.data.x" } },
      { throttle: { limit: 5, periodMs: 5_400_000, burst: 2, key: "event.data.x" } },
    ],
    [{ throttle: { limit: 5, period: "10s" } }, { throttle: { limit: 5, periodMs: 10_000, burst: 1, key: null } }],
    [{ rateLimit: { limit: 5, period: "24h" } }, { rateLimit: { limit: 5, periodMs: 86_400_000, key: null } }],
    [
      { debounce: { period: "5s", timeout: "1m", key: "event.data.x" } },
      { debounce: { periodMs: 5_000, timeoutMs: 60_000, key: "event.data.x" } },
    ],
    [
      { batchEvents: { maxSize: 50, timeout: "5s", key: "event.data.x", if: "event.data.y == 1" } },
      { batch: { maxSize: 50, timeoutMs: 5_000, key: "event.data.x", if: "event.data.y == 1" } },
    ],
    [
      { priority: { run: "event.data.p" }, singleton: { mode: "skip", key: "event.data.x" } },
      { priority: "event.data.p", singleton: { mode: "skip", key: "event.data.x" } },
    ],
    [
      {
        cancelOn: [
          { event: "a/c", match: "data.x" },
          { event: "a/d", if: "event.data.x == async.data.y", timeout: "1h" },
          { event: "a/e", timeout: 60_000 },
          { event: "a/f", match: "data['a b']" },
        ],
      },
      {
        cancelOn: [
          { event: "a/c", if: "event.data.x == async.data.x", timeoutMs: null },
          { event: "a/d", if: "event.data.x == async.data.y", timeoutMs: 3_600_000 },
          { event: "a/e", if: null, timeoutMs: 60_000 },
          { event: "a/f", if: "event.data['a b'] == async.data['a b']", timeoutMs: null },
        ],
      },
    ],
  ])("%j", (options, flow) => {
    expect(flowOf(fromSdk(options))).toEqual(flow);
  });

  test("crons", () => {
    const triggers = [{ cron: "*/5 * * * *", jitter: "30s" }, { cron: "TZ=Europe/Paris 0 9 * * 1" }, { event: "a/b" }];
    expect(fromSdk({ triggers }).triggers).toEqual([
      { cron: "*/5 * * * *", jitterMs: 30_000 },
      { cron: "TZ=Europe/Paris 0 9 * * 1" },
      { event: "a/b" },
    ]);
  });

  test("a key replaces a rate limit, unread", () => {
    const config = fromSdk({ idempotency: "event.data.id", rateLimit: { limit: 1, period: "99d" } });
    expect(config.idempotency).toMatchObject({ key: "event.data.id" });
    expect(flowOf(config)).toEqual({});
  });

  test("a date for the end of a cancellation is refused, because it counts from each run", () => {
    const cancelOn = [{ event: "a/c", timeout: new Date(1_900_000_000_000) }];
    expect(() => fromSdk({ cancelOn })).toThrow(/cancelOn\[0\]\.timeout.*not a date/);
  });
});

test("parallelSteps is a word of Idem's own SDK; what else stands under that name is passed over", () => {
  const strange = [
    { limit: 5, parallelSteps: "yes" },
    { limit: 2, key: "event.data.x", parallelSteps: false },
  ];
  for (const concurrency of [strange, { fn: strange }, { fn: strange.slice(0, 1), step: strange.slice(1) }]) {
    expect(fromWire({ concurrency }).concurrency).toEqual([
      { limit: 5, key: null, scope: "fn" },
      { limit: 2, key: "event.data.x", scope: "fn" },
    ]);
  }
  const alone = { limit: 5, parallelSteps: 1 };
  expect(fromWire({ concurrency: alone }).concurrency).toEqual([{ limit: 5, key: null, scope: "fn" }]);
});

test("what is empty, zero or new on the wire is as good as absent", () => {
  const config = fromWire({
    throttle: { limit: 1, period: "1s", burst: 0, key: "", later: true },
    debounce: { period: "1s", key: "", timeout: "" },
    priority: { run: "" },
    concurrency: { limit: 0 },
    cancel: [],
    checkpoint: { batch_steps: 3 },
    triggers: [
      { event: "a/b", expression: "", cron: "" },
      { cron: "0 9 * * *", jitter: "", event: "", expression: "" },
    ],
  });
  expect(config.triggers).toEqual([{ event: "a/b" }, { cron: "0 9 * * *" }]);
  expect(flowOf(config)).toEqual({
    throttle: { limit: 1, periodMs: 1_000, burst: 1, key: null },
    debounce: { periodMs: 1_000, timeoutMs: null, key: null },
  });
  expect(flowOf(fromWire({ concurrency: { fn: [{ limit: 0 }], step: null } }))).toEqual({});
});

describe("what Idem's own SDK registers is read as it was configured", () => {
  const keyed = "event.data.id";
  test.each<[object]>([
    [{}],
    [{ concurrency: 1 }],
    [{ concurrency: { limit: 3, parallelSteps: true } }],
    [{ concurrency: [{ limit: 5 }, { limit: 1, key: keyed, scope: "account" }] }],
    [{ throttle: { limit: 3, period: 12_345, burst: 4, key: keyed } }],
    [{ throttle: { limit: 3, period: "1w" } }],
    [{ rateLimit: { limit: 3, period: "1h", key: keyed } }],
    [{ rateLimit: { limit: 3, period: "1h" }, idempotency: keyed }],
    [{ rateLimit: { limit: 3, period: "1h" }, idempotency: { key: keyed, window: "7d", afterFailure: "release" } }],
    [{ idempotency: keyed }],
    [{ idempotency: { none: "each tick is new work" } }],
    [{ debounce: { period: 1_001, timeout: "1h", key: keyed } }],
    [{ batchEvents: { maxSize: 7, timeout: "1m30s", key: keyed, if: "event.data.n > 1" } }],
    [{ priority: { run: "event.data.p" }, singleton: { mode: "cancel", key: keyed } }],
    [{ cancelOn: [{ event: "a/c", match: "data.my-id", if: "async.data.ok", timeout: 1 }, { event: "a/d" }] }],
    [{ triggers: [{ cron: "0 9 * * *", jitter: 1_500, missed: { all: 7 } }] }],
    [{ triggers: [{ cron: "0 9 * * *", missed: "skip" }, { cron: "1 9 * * *", missed: "last" }, { event: "a/*" }] }],
  ])("%j", (options) => {
    const { triggers = [{ event: "order/paid" }], ...rest } = options as { triggers?: any };
    const [code] = defineFunction("shop", { id: "pay", ...rest }, triggers, async () => null);
    const read = carried(writeFunction(code!, "shop", url));
    expect(read).toEqual({ ...code!.config, runtime: { kind: "http", url } });
  });
});
