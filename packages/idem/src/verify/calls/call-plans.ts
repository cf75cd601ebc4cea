// Everything that can go wrong around a handler, from the record of one clean call. Pure.
import { type Adversity, nameOf } from "../schedules.ts";
import type { CallPlan, SenderKind } from "./call-script.ts";

export interface CallFacts {
  readonly effectCount: number;
  readonly writeCount: number;
  readonly commitCount: { readonly before: number; readonly after: number };
  /** Names of calls there are beside `first`. */
  readonly others: readonly string[];
  /** Between two ticks. */
  readonly everyMs: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

const first = { call: "first", afterMs: null } as const;
const once = { arrivals: [first], adversities: [], expected: ["first"] } as const;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

const again = (id: string, second: Partial<CallPlan["arrivals"][number]>): CallPlan => ({
  ...once,
  id,
  arrivals: [first, { ...first, ...second }],
});

function* deaths({ effectCount, writeCount, commitCount }: CallFacts): Generator<CallPlan> {
  const meets = (adversity: Adversity): CallPlan => ({ ...once, id: nameOf(adversity), adversities: [adversity] });
  for (const effect of upTo(effectCount)) {
    yield meets({ kind: "die-at-effect", effect, side: "after", times: 1 });
    yield meets({ kind: "die-at-effect", effect, side: "before", times: 1 });
    yield meets({ kind: "die-at-effect", effect, side: "after", times: 2 });
    yield meets({ kind: "lost-answer", effect });
    yield meets({ kind: "refused", effect, status: 500, isAlways: false });
    yield meets({ kind: "zombie", effect });
  }
  for (const write of upTo(writeCount)) {
    for (const side of ["before", "after"] as const)
      yield { ...once, id: `die-at-write:${write}:${side}`, dieAtWrite: { write, side } };
  }
  for (const side of ["before", "after"] as const) {
    for (const commit of upTo(commitCount[side])) yield meets({ kind: "die-at-commit", commit, side, times: 1 });
  }
  yield { ...once, id: "die-before-answer", diesBeforeAnswer: true };
}

/** Those of a client with an Idempotency-Key. */
function* ofClient({ others }: CallFacts): Generator<CallPlan> {
  yield again("again-after-end", { afterMs: minute });
  yield again("again-an-hour-later", { afterMs: 60 * minute });
  if (others.includes("other-body")) {
    const arrivals = [first, { call: "other-body", afterMs: minute }];
    yield { ...once, id: "other-body", arrivals, refused: "other-body" };
  }
  if (others.includes("other-key")) {
    const arrivals = [first, { call: "other-key", afterMs: minute }];
    const note = "the same body under another key takes no effect";
    yield { ...once, id: "other-key", arrivals, expected: ["first", "other-key"], note };
  }
}

/** Those of a provider of webhooks. */
function* ofProvider({ others }: CallFacts): Generator<CallPlan> {
  yield again("again-after-end", { afterMs: minute });
  yield again("again-after-days", { afterMs: 2 * day });
  const then = (call: string, afterMs: number | null = minute) => ({ call, afterMs });
  if (others.includes("other-name"))
    for (const afterMs of [null, minute]) {
      const id = afterMs === null ? "other-name-at-once" : "other-name-after-end";
      yield { ...once, id, arrivals: [first, then("other-name", afterMs)] };
    }
  if (others.includes("next"))
    yield { ...once, id: "out-of-order", arrivals: [then("next", null), then("first")], expected: ["in-order"] };
  if (others.includes("spoilt"))
    yield { ...once, id: "bad-signature", arrivals: [then("spoilt", null), then("first")], refused: "spoilt" };
}

/** Those of somebody's scheduler. */
function* ofScheduler({ everyMs }: CallFacts): Generator<CallPlan> {
  yield again("again-after-end", { afterMs: minute });
  const next = { ...first, afterMs: everyMs };
  yield { ...once, id: "next-tick", arrivals: [first, next], expected: ["first", "first"] };
  yield { ...once, id: "missed-tick", arrivals: [{ ...first, afterMs: everyMs }] };
  const twoOn = { ...first, afterMs: 2 * everyMs };
  yield { ...once, id: "next-but-one-tick", arrivals: [first, twoOn], expected: ["first", "first"] };
}

/** Every single one. */
export function callPlans(sender: SenderKind, facts: CallFacts): CallPlan[] {
  const own = sender === "client" ? ofClient : sender === "provider" ? ofProvider : ofScheduler;
  const plans = [again("again-at-once", {}), again("again-elsewhere", { isElsewhere: true }), ...own(facts)];
  if (facts.others.includes("twin")) {
    const expected = ["first", "twin"];
    plans.push({ ...once, id: "twin-at-once", arrivals: [first, { call: "twin", afterMs: null }], expected });
    plans.push({ ...once, id: "twin-after-end", arrivals: [first, { call: "twin", afterMs: minute }], expected });
  }
  return [...plans, ...deaths(facts)];
}

/** One call, and nothing goes wrong. */
export const cleanCalls = (...calls: readonly string[]): CallPlan => ({
  ...once,
  id: "clean",
  arrivals: calls.map((call, i) => ({ call, afterMs: i === 0 ? null : minute })),
});
