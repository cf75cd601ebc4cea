import { Inngest } from "inngest";
import { describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import { readFunctions, readInBandReply, readRegisterRequest } from "./register-request.ts";

const url = "http://127.0.0.1:13000/api/inngest";

const step = (
  fnId: string,
  retries?: unknown,
  runtime: unknown = { type: "http", url: `${url}?fnId=${fnId}&stepId=step` },
) => ({
  step: { id: "step", name: "step", runtime, ...(retries === undefined ? {} : { retries }) },
});

const fn = (over: object = {}) => ({
  id: "shop-pay",
  name: "Pay",
  triggers: [{ event: "order/paid" }],
  steps: step("shop-pay"),
  ...over,
});

const batch = { maxSize: 5, timeout: "1s" };

const refusal = (make: () => unknown): IdemError => {
  try {
    make();
  } catch (error) {
    if (error instanceof IdemError) return error;
    throw error;
  }
  throw new Error("it was accepted");
};

const config = (over: object = {}) => readFunctions("shop", [fn(over)])[0]!.config;

test("a registration as the SDK sends it is read whole", () => {
  const read = readRegisterRequest({
    url: `${url}?deployId=dep1`,
    deployType: "ping",
    framework: "nodejs",
    appName: "shop",
    sdk: "js:v4.24.0",
    v: "0.1",
    deployId: "dep1",
    appVersion: "v9",
    capabilities: { trust_probe: "v1", connect: "v1" },
    featureObservations: { sendEvents: {} },
    functions: [
      fn({
        triggers: [{ event: "order/paid", expression: "event.data.x == 1" }, { event: "order/*" }],
        steps: step("shop-pay", { attempts: 5 }),
        idempotency: "event.data.id",
        timeouts: { start: "10s", finish: "1m" },
      }),
      {
        id: "shop-pay-failure",
        name: "Pay (failure)",
        triggers: [{ event: "inngest/function.failed", expression: "event.data.function_id == 'shop-pay'" }],
        steps: step("shop-pay-failure", { attempts: 1 }),
      },
    ],
  });
  const served = "http://localhost:13000/api/inngest";
  expect(read).toEqual({
    app: "shop",
    formerApps: [],
    url: served,
    sdk: "js:v4.24.0",
    framework: "nodejs",
    appVersion: "v9",
    functions: [
      {
        fn: "shop-pay",
        config: {
          id: "pay",
          name: "Pay",
          triggers: [{ event: "order/paid", if: "event.data.x == 1" }, { event: "order/*" }],
          retries: 5,
          idempotency: {
            key: "event.data.id",
            windowMs: 86_400_000,
            untilFinished: false,
            afterFailure: "keep",
            onMissing: "run",
          },
          startTimeoutMs: 10_000,
          finishTimeoutMs: 60_000,
          runtime: { kind: "http", url: served },
        },
      },
      {
        fn: "shop-pay-failure",
        config: {
          id: "pay-failure",
          name: "Pay (failure)",
          triggers: [{ event: "inngest/function.failed", if: "event.data.function_id == 'shop-pay'" }],
          retries: 1,
          idempotency: null,
          startTimeoutMs: null,
          finishTimeoutMs: null,
          runtime: { kind: "http", url: served },
        },
      },
    ],
  });
});

test("an in-band answer names its app in another field and says the same", () => {
  const body = { url, functions: [fn()], sdk: "js:v4.24.0", framework: "nodejs", appVersion: "v9" };
  expect(readInBandReply({ ...body, app_id: "shop" })).toEqual(readRegisterRequest({ ...body, appName: "shop" }));
});

test("what the SDK itself writes for a function can be registered", () => {
  const inngest = new Inngest({ id: "My shop", isDev: true });
  const odd = inngest.createFunction(
    { id: "Zahlung/prüfen €", triggers: [{ event: "a/b", if: "event.data.n > 1" }], retries: 0, onFailure: () => {} },
    async () => null,
  );
  const invokeOnly = inngest.createFunction({ id: "invoke only", triggers: [] }, async () => null);
  const written = [odd, invokeOnly].flatMap((each) =>
    (each as any).getConfig({ baseUrl: new URL(url), appPrefix: "My shop" }),
  );
  const read = readFunctions("My shop", JSON.parse(JSON.stringify(written)));
  expect(read.map((each) => each.fn)).toEqual([
    "My shop-Zahlung/prüfen €",
    "My shop-Zahlung/prüfen €-failure",
    "My shop-invoke only",
  ]);
  expect(read.map((each) => each.config.retries)).toEqual([0, 1, 4]);
});

describe("steps.step.retries.attempts is the number of retries", () => {
  test.each([
    [undefined, 4],
    [null, 4],
    [{}, 4],
    [{ attempts: null }, 4],
    [{ attempts: 0 }, 0],
    [{ attempts: 20 }, 20],
    [{ attempts: 99 }, 20],
  ])("%j is %i", (retries, read) => {
    expect(config({ steps: step("shop-pay", retries) }).retries).toBe(read);
  });
});

test("a worker's socket is told from a URL by its scheme, whatever its type says", () => {
  const connect = (type: string) => ({ type, url: "wss://connect/?fnId=shop-pay&stepId=step" });
  expect(config({ steps: step("shop-pay", undefined, connect("ws")) }).runtime).toEqual({ kind: "connect" });
  expect(config({ steps: step("shop-pay", undefined, connect("http")) }).runtime).toEqual({ kind: "connect" });
});

test("schemas of events are kept for those that start the function, and one that cannot be read is left out", () => {
  const dataSchemas = {
    "order/paid": '{"type":"object","properties":{"a":{"default":null}}}',
    "user/gone": "{}",
    "order/list": "[]",
    "order/text": "{",
    "order/object": { type: "object" },
    "order/deep": `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    "order/large": JSON.stringify({ description: "x".repeat(33_000) }),
  };
  const read = config({ triggers: [{ event: "order/*" }], dataSchemas });
  expect(read.dataSchemas).toEqual({ "order/paid": dataSchemas["order/paid"] });
  for (const given of [7, "x", [], {}, { "order/paid": 7 }]) {
    expect(config({ dataSchemas: given })).not.toHaveProperty("dataSchemas");
  }
});

test("null is as good as absent, as SDKs of other languages write it", () => {
  const nothing = { idempotency: null, timeouts: { start: null }, concurrency: null, cancel: [], name: null };
  const triggers = [{ event: "order/paid", expression: null, cron: null }];
  expect(config({ ...nothing, triggers })).toEqual({ ...config(), name: "pay" });
});

describe("a function that cannot be registered is named with the field and the reason", () => {
  test.each([
    ["an id of another app", { id: "other-pay" }, '"shop-"'],
    ["an id with nothing after the app", { id: "shop-" }, '"shop-"'],
    ["an id with a line break", { id: "shop-a\nb" }, "printable"],
    ["an id too long", { id: `shop-${"x".repeat(257)}` }, "256"],
    ["a name that is no text", { name: 7 }, "name"],
    ["triggers that are no list", { triggers: { event: "a/b" } }, "triggers"],
    ["a trigger of neither kind", { triggers: [{}] }, "trigger.event"],
    ["a trigger that is text", { triggers: ["a/b"] }, "trigger"],
    ["eleven triggers", { triggers: Array.from({ length: 11 }, (_, i) => ({ event: `a/${i}` })) }, "at most 10"],
    ["the same trigger twice", { triggers: [{ event: "a/b" }, { event: "a/b" }] }, "twice"],
    ["a star in the middle", { triggers: [{ event: "a*/b" }] }, "a * may only end"],
    ["a broken filter", { triggers: [{ event: "a/b", expression: "event.(" }] }, "event.("],
    ["a broken cron", { triggers: [{ cron: "@daily" }] }, "@daily"],
    ["no steps", { steps: undefined }, "exactly one, not 0"],
    ["two steps", { steps: { ...step("a"), other: {} } }, "exactly one, not 2"],
    ["no runtime", { steps: { step: {} } }, "runtime"],
    ["another runtime", { steps: step("a", undefined, { type: "docker", url }) }, '"http" or "ws"'],
    ["a file for a URL", { steps: step("a", undefined, { type: "http", url: "file:///etc/passwd" }) }, "file:///"],
    ["no URL", { steps: step("a", undefined, { type: "http", url: "nowhere" }) }, "nowhere"],
    ["half a retry", { steps: step("a", { attempts: 1.5 }) }, "retries"],
    ["negative retries", { steps: step("a", { attempts: -1 }) }, "retries"],
    ["retries in words", { steps: step("a", { attempts: "3" }) }, "retries"],
    ["a broken key", { idempotency: "event.data.(" }, "event.data.("],
    ["an unreadable timeout", { timeouts: { finish: "soon" } }, "timeouts.finish"],
    ["a limit that is none", { concurrency: [{ limit: -1 }] }, "concurrency[0].limit"],
    ["three limits", { concurrency: Array.from({ length: 3 }, () => ({ limit: 1 })) }, "at most 2"],
    ["six cancellations", { cancel: Array.from({ length: 6 }, () => ({ event: "a/c" })) }, "at most 5"],
    ["a batch that can be cancelled", { batchEvents: batch, cancel: [{ event: "a/c" }] }, '"cancelOn"'],
    ["a batch too large", { batchEvents: { maxSize: 500, timeout: "1s" } }, "2 to 100"],
    ["a batch of ticks", { batchEvents: batch, triggers: [{ cron: "0 9 * * *" }] }, "only cron triggers"],
    ["a key too long", { throttle: { limit: 1, period: "1s", key: "x".repeat(5_000) } }, "throttle.key"],
    ["a broken match", { cancel: [{ event: "a/c", if: "event.data.my-id == async.data.my-id" }] }, "cancelOn[0].if"],
    ["former names that are none", { was: [] }, "a list of 1 to 100 names"],
    ["a jitter too long", { triggers: [{ cron: "0 9 * * *", jitter: "1h" }] }, "trigger.jitter"],
  ])("%s", (_, over, why) => {
    const error = refusal(() => readFunctions("shop", [fn({ id: "shop-fine" }), fn(over)]));
    expect(error.code).toBe("FUNCTION_INVALID");
    expect(error.message).toContain(why);
    expect(error.message).toContain(`Function "${((over as any).id ?? "shop-pay").slice(0, 256)}"`);
  });

  test("two of one id", () => {
    expect(refusal(() => readFunctions("shop", [fn(), fn()])).message).toContain("two functions of that id");
  });
});

test("a renamed app and function are registered under the first names they had, and say those of today", () => {
  const given = fn({ id: "billing-pay", was: ["shop-charge", "shop-bill"] });
  const read = readRegisterRequest({ appName: "billing", was: ["shop", "store"], url, functions: [given] });
  expect(read).toMatchObject({
    app: "shop",
    formerApps: ["shop", "store"],
    functions: [{ fn: "shop-charge", config: { id: "pay", app: "billing", was: ["shop-charge", "shop-bill"] } }],
  });
});

describe("a registration that is none", () => {
  test.each([
    ["a list", []],
    ["text", "hello"],
    ["no app", { url, functions: [] }],
    ["an app without letters", { url, appName: "", functions: [] }],
    ["no URL", { appName: "shop", functions: [] }],
    ["an odd URL", { appName: "shop", url: "ftp://x", functions: [] }],
    ["a URL too long", { appName: "shop", url: `http://x/${"y".repeat(2048)}`, functions: [] }],
    ["no functions", { appName: "shop", url }],
    ["former names that are no list", { appName: "shop", url, functions: [], was: "old" }],
    ["former names that cannot be read", { appName: "shop", url, functions: [], was: ["old\n"] }],
    ["more former names than anybody had", { appName: "shop", url, functions: [], was: Array(101).fill("old") }],
  ])("%s", (_, body) => {
    expect(refusal(() => readRegisterRequest(body)).code).toBe("REQUEST_INVALID");
  });

  test.each([null, 7, "x", []])("a function that is %j", (given) => {
    expect(refusal(() => readFunctions("shop", [given])).code).toBe("FUNCTION_INVALID");
  });
});
