import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import { testIdem } from "../testing/test-idem.ts";
import { Idem } from "./client.ts";

const define = (options: object, trigger: unknown = { event: "a/b" }, handler: unknown = async () => null) =>
  testIdem().idem.createFunction(options as any, trigger as any, handler as any);

const refusal = (make: () => unknown): IdemError => {
  try {
    make();
  } catch (error) {
    if (error instanceof IdemError) return error;
    throw error;
  }
  throw new Error("it was accepted");
};

test("both forms define the same function", () => {
  const three = define({ id: "fn", retries: 2 }, [{ event: "a/b" }, { event: "a/*", if: "event.data.n > 1" }]);
  const two = testIdem().idem.createFunction(
    { id: "fn", retries: 2, triggers: [{ event: "a/b" }, { event: "a/*", if: "event.data.n > 1" }] },
    async () => null,
  );
  expect(two.code.config).toEqual(three.code.config);
  expect(three).toMatchObject({ id: "fn", slug: "test-fn" });
});

const batch = { maxSize: 2, timeout: "1s" };

test("limits, spacing, buffers, order and cancellation are part of the function's configuration", () => {
  const { idem } = testIdem();
  const fn = idem.createFunction(
    {
      id: "fn",
      concurrency: [{ limit: 5 }, { limit: 1, key: "event.data.user", scope: "env" }],
      throttle: { limit: 10, period: "1m", burst: 2 },
      rateLimit: { limit: 100, period: "1h" },
      debounce: { period: "5s", timeout: "1m", key: "event.data.user" },
      priority: { run: "event.data.vip ? 60 : 0" },
      singleton: { mode: "cancel", key: "event.data.user" },
      cancelOn: [{ event: "user/deleted", match: "data.user", timeout: "1d" }],
      idempotency: "event.data.id",
      triggers: [{ event: "a/b" }, { cron: "TZ=Europe/Paris 0 9 * * 1", jitter: "10s", missed: { all: 3 } }],
    },
    async () => null,
  );
  expect(fn.code.config).toMatchObject({
    triggers: [
      { event: "a/b" },
      { cron: "TZ=Europe/Paris 0 9 * * 1", jitterMs: 10_000, missed: { kind: "all", max: 3 } },
    ],
    concurrency: [
      { limit: 5, key: null, scope: "fn" },
      { limit: 1, key: "event.data.user", scope: "env" },
    ],
    throttle: { limit: 10, periodMs: 60_000, burst: 2, key: null },
    rateLimit: { limit: 100, periodMs: 3_600_000, key: null },
    debounce: { periodMs: 5_000, timeoutMs: 60_000, key: "event.data.user" },
    priority: "event.data.vip ? 60 : 0",
    singleton: { mode: "cancel", key: "event.data.user" },
    cancelOn: [{ event: "user/deleted", if: "event.data.user == async.data.user", timeoutMs: 86_400_000 }],
    idempotency: { key: "event.data.id" },
  });
});

test("a plain function's configuration has no word about them", () => {
  expect(Object.keys(define({ id: "fn" }).code.config)).toEqual([
    "id",
    "name",
    "triggers",
    "retries",
    "idempotency",
    "startTimeoutMs",
    "finishTimeoutMs",
  ]);
});

test("a function may say why it has no key, and only the reason is kept", () => {
  const { config } = define({ id: "fn", idempotency: { none: "each tick is new work" } }).code;
  expect(config).toMatchObject({ idempotency: null, unkeyed: "each tick is new work" });
});

test("the companion for failures has none of the function's limits", () => {
  const { idem } = testIdem();
  idem.createFunction({ id: "fn", concurrency: 1, onFailure: () => null }, { cron: "0 9 * * *" }, async () => null);
  const companion = (idem as any).codes.find((code: any) => code.handlesEnd);
  expect(companion.config).not.toHaveProperty("concurrency");
});

test("options that functions for Inngest carry and that mean nothing here are passed over", () => {
  const carried = { description: "x", checkpointing: true, optimizeParallelism: true };
  expect(define({ id: "fn", ...carried }).code.config).toEqual(define({ id: "fn" }).code.config);
});

describe("a function that cannot be registered is refused where it is defined, with the option that is wrong", () => {
  test.each([
    ["no options", undefined, "id"],
    ["no id", {}, "id"],
    ["an empty id", { id: "" }, "id"],
    ["an id with blanks", { id: "a b" }, "id"],
    ["an id too long", { id: "a".repeat(129) }, "id"],
    ["a symbol for an id", { id: Symbol("x") }, "id"],
    ["half a retry", { id: "fn", retries: 1.5 }, "retries"],
    ["too many retries", { id: "fn", retries: 21 }, "retries"],
    ["negative retries", { id: "fn", retries: -1 }, "retries"],
    ["retries in words", { id: "fn", retries: "3" }, "retries"],
    ["a name that is no text", { id: "fn", name: 7 }, "name"],
    ["a broken key", { id: "fn", idempotency: "event.data.(" }, "event.data.("],
    ["an empty key", { id: "fn", idempotency: "" }, "empty"],
    ["no key", { id: "fn", idempotency: {} }, "idempotency.key"],
    ["no reason for no key", { id: "fn", idempotency: { none: "" } }, "idempotency.none"],
    ["true for a reason", { id: "fn", idempotency: { none: true } }, "idempotency.none"],
    ["a key and none", { id: "fn", idempotency: { none: "each is new", key: "event.id" } }, "idempotency.none"],
    ["null for a key", { id: "fn", idempotency: null }, "idempotency"],
    ["a number for a key", { id: "fn", idempotency: 7 }, "idempotency"],
    ["an endless window", { id: "fn", idempotency: { key: "event.id", window: "forever" } }, "forever"],
    ["a window of nothing", { id: "fn", idempotency: { key: "event.id", window: 0 } }, "idempotency.window"],
    [
      "an odd afterFailure",
      { id: "fn", idempotency: { key: "event.id", afterFailure: "explode" } },
      "idempotency.afterFailure",
    ],
    ["an odd onMissing", { id: "fn", idempotency: { key: "event.id", onMissing: "drop" } }, "idempotency.onMissing"],
    ["a timeout in words", { id: "fn", timeouts: "5m" }, "timeouts"],
    ["an unreadable timeout", { id: "fn", timeouts: { finish: "soon" } }, "timeouts.finish"],
    ["a timeout of nothing", { id: "fn", timeouts: { start: 0 } }, "timeouts.start"],
    ["a backoff that is no function", { id: "fn", backoff: 5_000 }, "backoff"],
    ["an onFailure that is no function", { id: "fn", onFailure: "tell me" }, "onFailure"],
    ["middleware that is no list", { id: "fn", middleware: {} }, "middleware"],
    ["a limit of nothing", { id: "fn", concurrency: 0 }, "concurrency"],
    ["a limit without a period", { id: "fn", throttle: { limit: 1 } }, "throttle.period"],
    ["what cannot stand together", { id: "fn", batchEvents: batch, singleton: { mode: "skip" } }, "singleton"],
  ])("%s", (_, options, named) => {
    const error = refusal(() => define(options as object));
    expect(error.code).toBe("FUNCTION_INVALID");
    expect(error.message).toContain(named);
  });

  test.each([
    ["no name", {}],
    ["an empty name", { event: "" }],
    ["a star in the middle", { event: "a*/b" }],
    ["a star that ends no part", { event: "shop/order*" }],
    ["a star alone", { event: "*" }],
    ["a broken filter", { event: "a/b", if: "event.(" }],
    ["a filter that is no text", { event: "a/b", if: true }],
    ["null", [null]],
    ["a word", "a/b"],
    ["eleven of them", Array.from({ length: 11 }, (_, i) => ({ event: `a/${i}` }))],
  ])("a trigger with %s", (_, trigger) => {
    expect(refusal(() => define({ id: "fn" }, trigger)).code).toBe("FUNCTION_INVALID");
  });

  test("no handler", () => {
    expect(refusal(() => define({ id: "fn" }, { event: "a/b" }, null)).code).toBe("FUNCTION_INVALID");
  });

  test("an id used twice in one client", () => {
    const { idem } = testIdem();
    idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => null);
    const error = refusal(() => idem.createFunction({ id: "fn" }, { event: "a/c" }, async () => null));
    expect(error.code).toBe("FUNCTION_INVALID");
  });

  test("a cron that cannot be read names its fault", () => {
    const broken = refusal(() => define({ id: "fn" }, { cron: "every day" }));
    expect((broken.cause as IdemError).code).toBe("CRON_INVALID");
  });

  test("a batch of ticks", () => {
    const error = refusal(() => define({ id: "fn", batchEvents: batch }, { cron: "0 9 * * *" }));
    expect(error.message).toContain("only cron triggers");
  });
});

test("whatever the options are, the answer is a function or an IdemError, and the client goes on", async () => {
  const { idem } = testIdem();
  const odd = fc.oneof(fc.anything(), fc.constantFrom("24h", "1s", "event.id", 0, 5, true));
  let count = 0;
  fc.assert(
    fc.property(
      fc.record(
        {
          id: fc.oneof(fc.constant("ok"), fc.string({ unit: "binary" }), fc.anything()),
          retries: odd,
          idempotency: fc.oneof(odd, fc.record({ key: odd, window: odd, afterFailure: odd, onMissing: odd })),
          timeouts: fc.oneof(odd, fc.record({ start: odd, finish: odd })),
          backoff: odd,
          name: odd,
          middleware: odd,
          onFailure: odd,
        },
        { requiredKeys: ["id"] },
      ),
      fc.oneof(fc.record({ event: odd, if: odd }, { requiredKeys: [] }), fc.record({ cron: odd }), fc.anything()),
      (options, trigger) => {
        try {
          const id = options.id === "ok" ? `ok-${count++}` : options.id;
          idem.createFunction({ ...options, id } as any, trigger as any, (async () => null) as any);
        } catch (error) {
          expect(error).toBeInstanceOf(IdemError);
        }
      },
    ),
    { numRuns: 500 },
  );
  idem.createFunction({ id: "sane" }, { event: "a/sane" }, async () => "ran");
  await idem.start();
  const { decisions } = await idem.send({ name: "a/sane" });
  const sane = decisions.find((decision) => decision.function === "sane");
  expect(await idem.runs.wait(sane!.runId!)).toMatchObject({ output: "ran" });
});

describe("a client that cannot be made is refused with the option that is wrong", () => {
  test.each([
    ["no id", {}],
    ["an empty id", { id: "" }],
    ["an id with a slash", { id: "a/b" }],
    ["no runs at all", { id: "a", runsInFlight: 0 }],
    ["half a run", { id: "a", runsInFlight: 1.5 }],
    ["a window of nothing", { id: "a", eventWindow: 0 }],
    ["an unreadable window", { id: "a", eventWindow: "soon" }],
  ])("%s", (_, options) => {
    expect(() => new Idem(options as any)).toThrow(IdemError);
  });

  test.each([
    "",
    "redis://x",
    "mysql://u:secret@h/db",
    "postgres://u:secret@h/db?pool=none",
    "sqlite:",
    "memory",
    "sqlite",
    "postgres",
  ])("store %s", async (store) => {
    const idem = new Idem({ id: "a", store });
    const error = await idem.send({ name: "a/b" }).catch((caught) => caught);
    expect(error).toMatchObject({ code: "STORE_URL_INVALID" });
    expect(error.message).not.toContain("secret");
  });
});
