import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdemError } from "../model/errors.ts";
import { compileExpression } from "../model/expression.ts";
import { evaluateFilter } from "../model/expression-outcome.ts";
import { readTriggers } from "../model/function-options.ts";
import { matchExpression } from "../model/match-expression.ts";
import { readFlow } from "./options.ts";

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const refusal = (make: () => unknown): IdemError => {
  try {
    make();
  } catch (error) {
    if (error instanceof IdemError) return error;
    throw error;
  }
  throw new Error("it was accepted");
};

test("what is not configured is absent", () => {
  expect(readFlow({})).toEqual({});
  expect(Object.keys(readFlow({ concurrency: undefined, cancelOn: [], throttle: undefined }))).toEqual([]);
  expect(readFlow({ concurrency: [] })).toEqual({});
});

describe("what an author may write is put into one shape", () => {
  const fn = { key: null, scope: "fn" };
  const account = { limit: 1, key: '"openai"', scope: "account" };
  test.each<[object, object]>([
    [{ concurrency: 5 }, { concurrency: [{ limit: 5, ...fn }] }],
    [{ concurrency: { limit: 5 } }, { concurrency: [{ limit: 5, ...fn }] }],
    [
      { concurrency: { limit: 1, key: "event.data.x", scope: "env" } },
      { concurrency: [{ limit: 1, key: "event.data.x", scope: "env" }] },
    ],
    [{ concurrency: [{ limit: 10 }, account] }, { concurrency: [{ limit: 10, ...fn }, account] }],
    [
      { concurrency: [{ limit: 10 }, { limit: 2, key: "event.data.x" }] },
      {
        concurrency: [
          { limit: 10, ...fn },
          { limit: 2, key: "event.data.x", scope: "fn" },
        ],
      },
    ],
    [{ concurrency: { fn: [{ limit: 9 }], step: [account] } }, { concurrency: [{ limit: 9, ...fn }, account] }],
    [{ concurrency: { fn: [{ limit: 9 }], step: [{ limit: 3 }] } }, { concurrency: [{ limit: 3, ...fn }] }],
    [{ concurrency: { step: [] } }, {}],
    [{ concurrency: { limit: 5, parallelSteps: true } }, { concurrency: [{ limit: 5, ...fn, parallelSteps: true }] }],
    [{ concurrency: { limit: 5, parallelSteps: false } }, { concurrency: [{ limit: 5, ...fn }] }],
    [
      { throttle: { limit: 3, period: "1h30m" } },
      { throttle: { limit: 3, periodMs: 1.5 * hourMs, burst: 1, key: null } },
    ],
    [
      { throttle: { limit: 1, period: 1_000, burst: 5, key: "event.data.x" } },
      { throttle: { limit: 1, periodMs: secondMs, burst: 5, key: "event.data.x" } },
    ],
    [{ throttle: { limit: 1, period: "7d" } }, { throttle: { limit: 1, periodMs: 7 * dayMs, burst: 1, key: null } }],
    [{ rateLimit: { limit: 10, period: "24h" } }, { rateLimit: { limit: 10, periodMs: dayMs, key: null } }],
    [{ debounce: { period: "5s" } }, { debounce: { periodMs: 5_000, timeoutMs: null, key: null } }],
    [
      { debounce: { period: "5s", timeout: "5s", key: "event.data.x" } },
      { debounce: { periodMs: 5_000, timeoutMs: 5_000, key: "event.data.x" } },
    ],
    [
      { batchEvents: { maxSize: 100, timeout: "1s" } },
      { batch: { maxSize: 100, timeoutMs: secondMs, key: null, if: null } },
    ],
    [
      { batchEvents: { maxSize: 2, timeout: "7d", key: "event.data.x", if: "event.data.small" } },
      { batch: { maxSize: 2, timeoutMs: 7 * dayMs, key: "event.data.x", if: "event.data.small" } },
    ],
    [{ priority: { run: "event.data.vip ? 120 : 0" } }, { priority: "event.data.vip ? 120 : 0" }],
    [{ singleton: { mode: "skip" } }, { singleton: { mode: "skip", key: null } }],
    [{ singleton: { mode: "cancel", key: "event.data.x" } }, { singleton: { mode: "cancel", key: "event.data.x" } }],
    [{ cancelOn: [{ event: "a/gone" }] }, { cancelOn: [{ event: "a/gone", if: null, timeoutMs: null }] }],
    [
      { cancelOn: [{ event: "a/gone", match: "data.x", timeout: "1h" }] },
      { cancelOn: [{ event: "a/gone", if: "event.data.x == async.data.x", timeoutMs: hourMs }] },
    ],
    [
      { cancelOn: [{ event: "a/gone", match: "data.x", if: "async.data.a || async.data.b" }] },
      {
        cancelOn: [
          {
            event: "a/gone",
            if: "event.data.x == async.data.x && (async.data.a || async.data.b)",
            timeoutMs: null,
          },
        ],
      },
    ],
  ])("%j", (fields, flow) => {
    expect(readFlow(fields)).toEqual(flow);
  });

  test("everything that may stand together", () => {
    const all = {
      concurrency: 1,
      throttle: { limit: 1, period: "1s" },
      rateLimit: { limit: 1, period: "1s" },
      debounce: { period: "1s" },
      priority: { run: "1" },
      singleton: { mode: "skip" },
      cancelOn: [{ event: "a/gone" }],
    };
    expect(Object.keys(readFlow(all)).sort()).toEqual(Object.keys(all).sort());
    const { debounce, priority, singleton, cancelOn, ...beside } = all;
    const batchEvents = { maxSize: 2, timeout: "1s" };
    expect(Object.keys(readFlow({ ...beside, batchEvents }))).toEqual([
      "concurrency",
      "throttle",
      "rateLimit",
      "batch",
    ]);
  });
});

describe("what cannot hold is refused with the option's path and what is allowed", () => {
  const batchEvents = { maxSize: 5, timeout: "1s" };
  const gone = { event: "a/gone" };
  const atLeast1 = "whole number of at least 1";
  const week = "1 second to 7 days";
  test.each<[object, string, string]>([
    [{ concurrency: 0 }, "concurrency", `${atLeast1}, or left out for no limit`],
    [{ concurrency: -1 }, "concurrency", atLeast1],
    [{ concurrency: 1.5 }, "concurrency", atLeast1],
    [{ concurrency: Number.NaN }, "concurrency", atLeast1],
    [{ concurrency: Number.POSITIVE_INFINITY }, "concurrency", atLeast1],
    [{ concurrency: "5" }, "concurrency", "{ limit, key?, scope?, parallelSteps? }"],
    [{ concurrency: null }, "concurrency", "{ limit, key?, scope?, parallelSteps? }"],
    [{ concurrency: true }, "concurrency", "{ limit, key?, scope?, parallelSteps? }"],
    [{ concurrency: {} }, "concurrency.limit", atLeast1],
    [{ concurrency: { limit: 0 } }, "concurrency.limit", "left out for no limit"],
    [{ concurrency: { limit: "5" } }, "concurrency.limit", atLeast1],
    [{ concurrency: { limit: 5, key: 7 } }, "concurrency.key", "CEL expression"],
    [{ concurrency: { limit: 5, key: "event.(" } }, "concurrency.key", "Expected IDENTIFIER"],
    [{ concurrency: { limit: 5, scope: "app" } }, "concurrency.scope", '"fn", "env" or "account"'],
    [{ concurrency: { limit: 5, parallelSteps: "yes" } }, "concurrency.parallelSteps", "it must be true"],
    [
      { concurrency: [{ limit: 5 }, { limit: 5, key: "1", parallelSteps: 1 }] },
      "concurrency[1].parallelSteps",
      "or false",
    ],
    [{ concurrency: { limit: 5, scope: "env" } }, "concurrency.key", 'scope "env" needs one'],
    [
      { concurrency: [{ limit: 5 }, { limit: 5, scope: "account" }] },
      "concurrency[1].key",
      'scope "account" needs one',
    ],
    [{ concurrency: [5] }, "concurrency[0]", "limit, key, scope, parallelSteps"],
    [{ concurrency: [{ limit: 1 }, { limit: 2, key: "1" }, { limit: 3, key: "2" }] }, "concurrency", "at most 2"],
    [{ concurrency: [{ limit: 1 }, { limit: 1 }] }, "concurrency", "same key and scope"],
    [{ concurrency: [{ limit: 1 }, { limit: 2 }] }, "concurrency", "same key and scope"],
    [{ concurrency: { fn: 5 } }, "concurrency.fn", "a list"],
    [{ concurrency: { fn: [{ limit: 0 }] } }, "concurrency.fn[0].limit", atLeast1],
    [{ concurrency: { step: [{ limit: 1 }, { limit: 1 }] } }, "concurrency.step", "same key and scope"],
    [
      { concurrency: { fn: [{ limit: 1 }, { limit: 1, key: "1" }], step: [{ limit: 1, key: "2" }] } },
      "concurrency",
      "at most 2",
    ],
    [{ throttle: 5 }, "throttle", "limit, period, burst, key"],
    [{ throttle: null }, "throttle", "limit, period, burst, key"],
    [{ throttle: [] }, "throttle", "limit, period, burst, key"],
    [{ throttle: { period: "1s" } }, "throttle.limit", atLeast1],
    [{ throttle: { limit: 0, period: "1s" } }, "throttle.limit", atLeast1],
    [{ throttle: { limit: 1 } }, "throttle.period", `it is missing; it must be ${week}`],
    [{ throttle: { limit: 1, period: "999ms" } }, "throttle.period", week],
    [{ throttle: { limit: 1, period: "8d" } }, "throttle.period", week],
    [{ throttle: { limit: 1, period: "soon" } }, "throttle.period", '"30s", "10m"'],
    [{ throttle: { limit: 1, period: null } }, "throttle.period", "neither a string nor a number"],
    [{ throttle: { limit: 1, period: "1s", burst: 0 } }, "throttle.burst", atLeast1],
    [{ throttle: { limit: 1, period: "1s", key: "evnt.id" } }, "throttle.key", "only event and async are known"],
    [{ rateLimit: { limit: 0, period: "1s" } }, "rateLimit.limit", atLeast1],
    [{ rateLimit: { limit: 1, period: "25h" } }, "rateLimit.period", "1 second to 24 hours"],
    [{ rateLimit: { limit: 1, period: 0 } }, "rateLimit.period", "1 second to 24 hours"],
    [{ rateLimit: { limit: 1, period: "1h", key: "" } }, "rateLimit.key", "empty"],
    [{ debounce: {} }, "debounce.period", week],
    [{ debounce: { period: "10ms" } }, "debounce.period", week],
    [{ debounce: { period: "8d" } }, "debounce.period", week],
    [{ debounce: { period: "1m", timeout: "59s" } }, "debounce.timeout", "at least as long as debounce.period"],
    [{ debounce: { period: "1m", timeout: "8d" } }, "debounce.timeout", week],
    [{ debounce: { period: "1m", key: "event.data." } }, "debounce.key", "Expected IDENTIFIER"],
    [{ batchEvents: { timeout: "1s" } }, "batchEvents.maxSize", "whole number from 2 to 100"],
    [{ batchEvents: { maxSize: 1, timeout: "1s" } }, "batchEvents.maxSize", "whole number from 2 to 100"],
    [{ batchEvents: { maxSize: 101, timeout: "1s" } }, "batchEvents.maxSize", "a run carries every event of its batch"],
    [{ batchEvents: { maxSize: 5 } }, "batchEvents.timeout", week],
    [{ batchEvents: { maxSize: 5, timeout: "8d" } }, "batchEvents.timeout", week],
    [{ batchEvents: { ...batchEvents, key: "event.(" } }, "batchEvents.key", "Expected IDENTIFIER"],
    [{ batchEvents: { ...batchEvents, if: true } }, "batchEvents.if", "CEL expression"],
    [{ batchEvents, cancelOn: [gone] }, "batchEvents", '"cancelOn"'],
    [{ batchEvents, debounce: { period: "1s" } }, "batchEvents", '"debounce"'],
    [{ batchEvents, singleton: { mode: "skip" } }, "batchEvents", '"singleton"'],
    [{ batchEvents, priority: { run: "1" } }, "batchEvents", '"priority"'],
    [{ priority: "event.data.p" }, "priority", "it must be an object of run"],
    [{ priority: {} }, "priority.run", "CEL expression"],
    [{ priority: { run: 5 } }, "priority.run", "CEL expression"],
    [{ priority: { run: "event.(" } }, "priority.run", "Expected IDENTIFIER"],
    [{ singleton: {} }, "singleton.mode", '"skip"'],
    [{ singleton: { key: "event.id" } }, "singleton.mode", '"cancel"'],
    [{ singleton: { mode: "wait" } }, "singleton.mode", '"skip"'],
    [{ cancelOn: gone }, "cancelOn", "a list of { event, if?, match?, timeout? }"],
    [{ cancelOn: Array.from({ length: 6 }, () => gone) }, "cancelOn", "at most 5"],
    [{ cancelOn: [gone, "a/gone"] }, "cancelOn[1]", "event, if, match, timeout"],
    [{ cancelOn: [{}] }, "cancelOn[0].event", "whole name of an event"],
    [{ cancelOn: [{ event: "" }] }, "cancelOn[0].event", "whole name of an event"],
    [{ cancelOn: [{ event: "a/*" }] }, "cancelOn[0].event", "without *"],
    [{ cancelOn: [{ event: "x".repeat(257) }] }, "cancelOn[0].event", "whole name of an event"],
    [{ cancelOn: [{ ...gone, if: "event.(" }] }, "cancelOn[0].if", "Expected IDENTIFIER"],
    [{ cancelOn: [{ ...gone, match: 7 }] }, "cancelOn[0].match", '"data.orderId"'],
    [{ cancelOn: [{ ...gone, match: "event.data.x" }] }, "cancelOn[0].match", 'without "event" before it'],
    [{ cancelOn: [{ ...gone, timeout: 0 }] }, "cancelOn[0].timeout", "longer than 0"],
    [{ cancelOn: [{ ...gone, timeout: "2030-03-17T17:46:40.000Z" }] }, "cancelOn[0].timeout", "not a date"],
    [{ cancelOn: [{ ...gone, timeout: new Date(0) }] }, "cancelOn[0].timeout", "not a date"],
    [{ cancelOn: [{ ...gone, timeout: "later" }] }, "cancelOn[0].timeout", '"30s", "10m"'],
  ])("%j", (fields, option, allowed) => {
    const error = refusal(() => readFlow(fields));
    expect(["OPTION_INVALID", "EXPRESSION_INVALID", "DURATION_INVALID"]).toContain(error.code);
    expect(error.message).toContain(error.code === "OPTION_INVALID" ? `Option "${option}"` : `(in ${option})`);
    expect(error.message).toContain(allowed);
  });
});

test("a field that nobody knows is passed over where it may come from something newer", () => {
  const fields = {
    throttle: { limit: 1, period: "1s", smoothing: "none" },
    cancelOn: [{ event: "a/gone", reason: "x" }],
    concurrency: { limit: 1, mode: "x" },
  };
  expect(readFlow(fields)).toEqual({
    concurrency: [{ limit: 1, key: null, scope: "fn" }],
    throttle: { limit: 1, periodMs: 1_000, burst: 1, key: null },
    cancelOn: [{ event: "a/gone", if: null, timeoutMs: null }],
  });
});

describe("batches and debounces are made of events", () => {
  const batchEvents = { maxSize: 2, timeout: "1s" };
  const crons = readTriggers([{ cron: "0 9 * * *" }]);
  test.each<[string, object]>([
    ["batchEvents", { batchEvents }],
    ["debounce", { debounce: { period: "1s" } }],
  ])("%s of a function that only ticks is refused", (option, fields) => {
    const error = refusal(() => readFlow(fields, { triggers: crons }));
    expect(error.message).toContain(`Option "${option}"`);
    expect(error.message).toContain("add an event trigger");
    expect(readFlow(fields, { triggers: [] })).not.toEqual({});
    expect(readFlow(fields, { triggers: [...crons, { event: "a/b" }] })).not.toEqual({});
  });

  test("what limits runs holds for ticks too", () => {
    const fields = { concurrency: 1, singleton: { mode: "skip" }, cancelOn: [{ event: "a/gone" }] };
    expect(Object.keys(readFlow(fields, { triggers: crons }))).toEqual(["concurrency", "singleton", "cancelOn"]);
  });
});

describe("match is written out as an expression over both events", () => {
  const data = { x: 1, in: 2, "my-id": 3, "a b": 4, items: [{ id: 5 }], é: 6, $ref: 7 };
  test.each([
    ["data.x", "event.data.x == async.data.x"],
    ["data.in", 'event.data["in"] == async.data["in"]'],
    ["data.my-id", 'event.data["my-id"] == async.data["my-id"]'],
    ["data['a b']", "event.data['a b'] == async.data['a b']"],
    ['data["a b"]', 'event.data["a b"] == async.data["a b"]'],
    ["data.items[0].id", "event.data.items[0].id == async.data.items[0].id"],
    ["data.é", 'event.data["é"] == async.data["é"]'],
    ["data.$ref", 'event.data["$ref"] == async.data["$ref"]'],
  ])("%s", (path, expression) => {
    expect(matchExpression(path)).toEqual({ ok: true, expression });
    const filter = compileExpression(expression);
    expect(evaluateFilter(filter, { event: { data }, async: { data } }).pass).toBe(true);
    // Nothing equals nothing nowhere: a run without the field is not cancelled by every event without it.
    expect(evaluateFilter(filter, { event: { data: {} }, async: { data: {} } }).pass).toBe(false);
  });

  test.each([
    "",
    ".",
    "data.",
    "data..x",
    ".data.x",
    "data.a b",
    "data[x]",
    "[0].x",
    "data['x",
    "data.x == 1",
    "data.0",
    "async.data.x",
  ])("%j is refused", (path) => {
    expect(matchExpression(path)).toMatchObject({ ok: false, why: expect.stringContaining("data.orderId") });
  });

  test("whatever the path, it is refused or an expression that can be compiled", () => {
    const piece = fc.oneof(fc.constantFrom("data", "in", "[0]", "['a']", ".", "x-y", '"', "\\", "]"), fc.string());
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const matching = matchExpression(pieces.join(""));
        if (matching.ok) compileExpression(matching.expression);
      }),
    );
  });
});

describe("cron triggers", () => {
  test.each<[object, object]>([
    [{ cron: "0 9 * * 1" }, { cron: "0 9 * * 1" }],
    [
      { cron: "TZ=Europe/Paris 0 9 * * 1", jitter: "30s" },
      { cron: "TZ=Europe/Paris 0 9 * * 1", jitterMs: 30_000 },
    ],
    [
      { cron: "* * * * *", jitter: 300_000, missed: "skip" },
      { cron: "* * * * *", jitterMs: 300_000, missed: { kind: "skip" } },
    ],
    [
      { cron: "* * * * *", missed: "last" },
      { cron: "* * * * *", missed: { kind: "last" } },
    ],
    [
      { cron: "* * * * *", missed: "all" },
      { cron: "* * * * *", missed: { kind: "all", max: 100 } },
    ],
    [
      { cron: "* * * * *", missed: { all: 1_000 } },
      { cron: "* * * * *", missed: { kind: "all", max: 1_000 } },
    ],
  ])("%j", (given, trigger) => {
    expect(readTriggers([given])).toEqual([trigger]);
  });

  test.each<[readonly object[], string, string]>([
    [[{ cron: "every day" }], "every day", "five fields"],
    [[{ cron: 5 }], "number", "five fields"],
    [[{ cron: "* * * * *", event: "a/b" }], "trigger", "one trigger for each"],
    [[{ cron: "* * * * *", if: "true" }], "trigger.if", "no event to filter"],
    [[{ cron: "* * * * *", jitter: "500ms" }], "trigger.jitter", "1 second to 5 minutes"],
    [[{ cron: "* * * * *", jitter: "6m" }], "trigger.jitter", "1 second to 5 minutes"],
    [[{ cron: "* * * * *", jitter: "soon" }], "trigger.jitter", '"30s", "10m"'],
    [[{ cron: "* * * * *", missed: "some" }], "trigger.missed", '"skip", "last", "all" or { all: n }'],
    [[{ cron: "* * * * *", missed: { all: 0 } }], "trigger.missed", "1 to 1000"],
    [[{ cron: "* * * * *", missed: { all: 1_001 } }], "trigger.missed", "1 to 1000"],
    [[{ cron: "* * * * *", missed: null }], "trigger.missed", "1 to 1000"],
    [[{ event: "a/b", jitter: "1s" }], "trigger.jitter", "beside a cron"],
    [[{ event: "a/b", missed: "all" }], "trigger.missed", "beside a cron"],
    [[{ cron: "0 9 * * MON" }, { cron: "TZ=UTC 0  9 * * mon", jitter: "1s" }], "triggers", "twice"],
  ])("%j is refused", (triggers, named, allowed) => {
    const error = refusal(() => readTriggers(triggers));
    expect(error.message).toContain(named);
    expect(error.message).toContain(allowed);
  });

  test("may stand beside each other and beside events", () => {
    expect(readTriggers([{ cron: "0 9 * * *" }, { cron: "TZ=Europe/Paris 0 9 * * *" }, { event: "a/b" }])).toHaveLength(
      3,
    );
  });
});

test("whatever is configured, the answer is a configuration or an IdemError", () => {
  const odd = fc.oneof(
    fc.anything(),
    fc.constantFrom("24h", "1s", "event.id", "data.x", "skip", 0, 1, 5, 1_000, true, [], null),
  );
  const object = (...names: string[]) =>
    fc.oneof(odd, fc.record(Object.fromEntries(names.map((name) => [name, odd])), { requiredKeys: [] }));
  const limit = object("limit", "key", "scope");
  const fields = fc.record(
    {
      concurrency: fc.oneof(limit, fc.array(limit, { maxLength: 3 }), fc.record({ fn: fc.array(limit), step: odd })),
      throttle: object("limit", "period", "burst", "key"),
      rateLimit: object("limit", "period", "key"),
      debounce: object("period", "timeout", "key"),
      batchEvents: object("maxSize", "timeout", "key", "if"),
      priority: object("run"),
      singleton: object("mode", "key"),
      cancelOn: fc.array(object("event", "if", "match", "timeout"), { maxLength: 6 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fields, (given) => {
      try {
        // A registration is kept as JSON.
        const flow = readFlow(given);
        expect(JSON.parse(JSON.stringify(flow))).toEqual(flow);
      } catch (error) {
        if (!(error instanceof IdemError)) throw error;
      }
    }),
    { numRuns: 500 },
  );
});
