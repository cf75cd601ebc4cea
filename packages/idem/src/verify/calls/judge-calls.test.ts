// The table of handlers, row by row; and the behaviour of their callers.
import { describe, expect, test } from "vitest";
import type { Thing } from "../thing.ts";
import { afterAnswer, afterSilence } from "../worker/senders.ts";
import { callPlans } from "./call-plans.ts";
import type { CallOutcome, CallPlan, CallRecord } from "./call-script.ts";
import { judgeCalls } from "./judge-calls.ts";

const thing = (order: string, path = "charges"): Thing => ({
  watcher: "http",
  destination: "pay.example",
  path: [path],
  isAddressed: false,
  state: { order },
  by: "the handler",
  effect: 1,
  made: [],
});

const outcome = (status: number | null, more: Partial<CallOutcome> = {}): CallOutcome => ({
  call: "first",
  tries: 1,
  status,
  isParked: false,
  error: null,
  ...more,
});

const record = (things: readonly Thing[], calls: readonly CallOutcome[] = [outcome(201)]): CallRecord => ({
  schedule: "s",
  seed: 1,
  notHappened: [],
  runs: [],
  wasRerun: false,
  isPastWindow: false,
  isOpen: false,
  parked: [],
  things,
  effects: [],
  sent: [],
  madeIds: [],
  commits: { before: 0, after: 0 },
  commitsOfCode: [],
  steps: [],
  hasWaits: false,
  divergences: [],
  unproven: [],
  absent: [],
  assumptions: [],
  drawn: [],
  timeline: [],
  lifeCount: 1,
  tookMs: 0,
  calls,
  writes: 0,
});

const clean = {
  first: record([thing("7")]),
  twin: record([thing("8")]),
  both: record([thing("7"), thing("7", "mails")]),
};
const reference = { clean, volatile: { isVolatile: () => false, pointers: [] } };
const plan = (more: Partial<CallPlan> = {}): CallPlan => ({
  id: "s",
  arrivals: [],
  adversities: [],
  expected: ["first"],
  ...more,
});
const verdictOf = (world: CallRecord, of: CallPlan = plan()) => judgeCalls(world, of, reference).verdict;

describe("a handler is judged by what the outside holds and what its caller was told", () => {
  const refused = { kind: "refused", effect: 1, status: 500, isAlways: false } as const;

  test.each<[string, CallRecord, CallPlan, string]>([
    ["one of everything", record([thing("7")]), plan(), "HELD"],
    ["two of a thing", record([thing("7"), thing("7")]), plan(), "DOUBLED"],
    ["nothing, and told that all is well", record([]), plan(), "LOST"],
    ["nothing, and told 409 for ever", record([], [outcome(409)]), plan(), "LOST"],
    ["nothing, and nobody answers", record([], [outcome(null)]), plan(), "LOST"],
    ["nothing, parked for a person", record([], [outcome(409, { isParked: true })]), plan(), "HELD"],
    ["nothing, refused outside, and told so", record([], [outcome(500)]), plan({ adversities: [refused] }), "HELD"],
    ["nothing, refused outside, and told 200", record([]), plan({ adversities: [refused] }), "LOST"],
    ["a part, and told 500", record([thing("7")], [outcome(500)]), plan({ expected: ["both"] }), "HALF"],
    ["a part, and told 200", record([thing("7")]), plan({ expected: ["both"] }), "HALF"],
    ["other work beside it", record([thing("7"), thing("8")]), plan({ expected: ["first", "twin"] }), "HELD"],
    ["no other work", record([thing("7")]), plan({ expected: ["first", "twin"] }), "LOST"],
    ["the next tick's work", record([thing("7"), thing("7")]), plan({ expected: ["first", "first"] }), "HELD"],
    ["not the next tick's work", record([thing("7")]), plan({ expected: ["first", "first"] }), "LOST"],
    [
      "another body under the key, refused",
      record([thing("7")], [outcome(201), outcome(422, { call: "other-body" })]),
      plan({ refused: "other-body" }),
      "HELD",
    ],
    [
      "another body under the key, answered as the first",
      record([thing("7")], [outcome(201), outcome(201, { call: "other-body" })]),
      plan({ refused: "other-body" }),
      "LOST",
    ],
    [
      "a bad signature with an effect",
      record([thing("7"), thing("7")], [outcome(200, { call: "spoilt" }), outcome(200)]),
      plan({ refused: "spoilt" }),
      "DOUBLED",
    ],
    [
      "a bad signature that took the claim",
      record([], [outcome(401, { call: "spoilt" }), outcome(200)]),
      plan({ refused: "spoilt" }),
      "LOST",
    ],
    ["what nobody watches", { ...record([thing("7")]), unproven: ["a socket"] }, plan(), "UNPROVEN"],
    ["the same body under another key", record([thing("7")]), plan({ expected: ["first", "twin"], note: "n" }), "HELD"],
  ])("%s", (_, world, of, verdict) => {
    expect(verdictOf(world, of)).toBe(verdict);
  });
});

test("every kind of caller comes at once, elsewhere and again, and dies around every effect and write; each plan has a name of its own", () => {
  const facts = {
    effectCount: 2,
    writeCount: 1,
    commitCount: { before: 1, after: 1 },
    others: ["twin", "other-body", "other-key", "other-name", "next", "spoilt"],
    everyMs: 3_600_000,
  };
  const ids = (["client", "provider", "scheduler"] as const).map((caller) =>
    callPlans(caller, facts).map(({ id }) => id),
  );
  for (const each of ids) {
    expect(new Set(each).size).toBe(each.length);
    expect(each).toEqual(
      expect.arrayContaining([
        "again-at-once",
        "again-elsewhere",
        "again-after-end",
        "die-before-effect:2",
        "die-after-effect:2",
        "lost-answer:2",
        "zombie:2",
        "die-at-write:1:before",
        "die-at-write:1:after",
        "die-at-commit:1:after",
        "die-before-answer",
      ]),
    );
  }
  const [client, provider, scheduler] = ids as [string[], string[], string[]];
  expect(client).toEqual(expect.arrayContaining(["other-body", "other-key", "twin-at-once", "twin-after-end"]));
  expect(provider).toEqual(
    expect.arrayContaining([
      "again-after-days",
      "other-name-at-once",
      "out-of-order",
      "bad-signature",
      "twin-after-end",
    ]),
  );
  expect(scheduler).toEqual(expect.arrayContaining(["next-tick", "missed-tick"]));
});

test("a caller comes again where no answer came or it is a passing one, later each time, and not for ever", () => {
  const told = (status: number | null, more: object = {}) => ({
    status,
    isParked: false,
    isUnsettled: false,
    retryAfterMs: 0,
    error: null,
    ...more,
  });
  const first = { tries: 1, failures: 0 };
  expect([201, 302, 404, 422].map((status) => afterAnswer("client", told(status), first))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect([409, 429, 503].map((status) => afterAnswer("client", told(status), first))).toEqual([1_000, 1_000, 1_000]);
  expect(afterAnswer("client", told(409, { retryAfterMs: 7_000 }), first)).toBe(7_000);
  expect(afterAnswer("client", told(409, { isParked: true }), first)).toBeNull();
  expect(afterAnswer("client", told(500), { tries: 4, failures: 4 })).toBeNull();
  expect(afterAnswer("client", told(null, { error: "it threw" }), { tries: 4, failures: 4 })).toBeNull();
  expect(afterAnswer("provider", told(401), first)).toBe(5_000);
  expect(afterAnswer("provider", told(200), first)).toBeNull();
  expect(afterAnswer("scheduler", told(0), first)).toBeNull();
  expect(afterAnswer("scheduler", told(0, { isUnsettled: true }), first)).toBe(60_000);
  for (const caller of ["client", "provider", "scheduler"] as const) expect(afterSilence(caller, 50)).toBeNull();
});
