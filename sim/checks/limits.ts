// Limits: never exceeded by those who hold a lease, spaced as configured, and nobody refused or put off without a reason.
import type { Entry } from "../ledger.ts";
import type { FunctionFacts } from "../workloads/workload.ts";
import { type Check, type Facts, groupBy, type Run } from "./facts.ts";

interface Span {
  readonly run: string;
  readonly from: number;
  readonly to: number;
}

export const limitChecks = {
  "no more runs hold a slot than its limit"(facts, fail) {
    const spans = facts.ledger.leases.map(({ run, order, endOrder }) => ({ run, from: order, to: endOrder }));
    for (const { slot, count, limit, run } of exceeded(facts, spans, () => true)) {
      fail(`slot ${slot}: ${count} runs had it, ${limit} may; the last was ${run}`);
    }
  },

  "no more steps are at work in a slot than its limit"(facts, fail) {
    const spans = facts.ledger.entries.flatMap((entry) => atWork(facts, entry));
    for (const { slot, count, limit, run } of exceeded(facts, spans, countsSteps)) {
      fail(`slot ${slot}: ${count} steps at work, ${limit} may be; the last was of run ${run}`);
    }
  },

  "throttled starts are spaced"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      const { throttle } = fn;
      if (throttle === undefined) continue;
      const runs = facts.dump.runs.filter((run) => facts.of(run) === fn && run.startedAt !== null);
      for (const [key, ofKey] of groupBy(runs, (run) => throttle.of(facts.data(run)))) {
        const starts = ofKey
          .filter((run) => !facts.neverBegan(run))
          .map((run) => run.startedAt!)
          .sort((a, b) => a - b);
        starts.forEach((from, i) => {
          for (let j = i + 1; j < starts.length; j++) {
            const most = throttle.burst + Math.floor(((starts[j]! - from) * throttle.limit) / throttle.periodMs);
            if (j - i + 1 > most) fail(`${fn.id} ${key}: ${j - i + 1} starts in ${starts[j]! - from} ms`);
          }
        });
      }
    }
  },

  "a rate limit lets in as many as it says, and refuses nobody else"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      const { rateLimit } = fn;
      if (rateLimit === undefined) continue;
      const { limit, periodMs, of } = rateLimit;
      const runs = facts.dump.runs.filter((run) => facts.of(run) === fn && run.rerunOf === null);
      const startsOf = groupBy(runs, (run) => of(facts.data(run)));
      for (const [key, ofKey] of startsOf) {
        const starts = ofKey.map(({ createdAt }) => createdAt).sort((a, b) => a - b);
        starts.forEach((at, i) => {
          const before = starts[i - limit];
          if (before !== undefined && at - before < periodMs) {
            fail(`${fn.id} ${key}: ${limit + 1} runs in ${at - before} ms`);
          }
        });
      }
      for (const decision of facts.dump.decisions) {
        if (facts.of(decision) !== fn || decision.kind !== "rate-limited") continue;
        const { decidedAt, eventId, reason } = decision;
        // An event that a debounce superseded shares the fate of the newest, which may have had another key.
        if (reason?.startsWith("superseded")) continue;
        const starts = (startsOf.get(of(facts.data(decision))) ?? []).map(({ createdAt }) => createdAt);
        const counted = starts.filter((at) => at > decidedAt - periodMs && at <= decidedAt).length;
        if (counted < limit) fail(`event ${eventId} × ${fn.id}: refused for ${counted} starts of ${limit}`);
      }
    }
  },

  "who stands in line for too long is cancelled, and nobody else"(facts, fail) {
    for (const run of facts.dump.runs) {
      const within = facts.of(run)?.startWithinMs;
      if (within === undefined) continue;
      const event = facts.events.get(run.eventId);
      if (run.startedAt === null || event === undefined) continue;
      const waited = run.startedAt - Math.max(run.createdAt, event.ts);
      const isTimedOut = run.result?.includes("RUN_START_TIMED_OUT") === true;
      if (waited > within && facts.entered.has(run.id)) fail(`run ${run.id}: began after ${waited} ms`);
      if (waited <= within && isTimedOut) fail(`run ${run.id}: cancelled after ${waited} ms in line`);
    }
  },
} satisfies Record<string, Check>;

/** The time in which the step's body was at work for a process that surely held its run. */
function atWork({ ledger }: Facts, entry: Entry): Span[] {
  const lease = ledger.leases.find(
    ({ run, process, from, to }) =>
      run === entry.run && process === entry.process && from <= entry.at && (to === null || to > entry.at),
  );
  if (lease === undefined) return [];
  const died = ledger.lostProcesses.find(({ process }) => process === entry.process)?.at;
  const ends = [entry.left?.at, lease.to, died].map((at) => at ?? Number.POSITIVE_INFINITY);
  return [{ run: entry.run, from: entry.at, to: Math.min(...ends) }];
}

/** Instants at which more spans than allowed have one slot. */
function* exceeded(facts: Facts, spans: readonly Span[], counts: (slot: Slot, ofRun: readonly Slot[]) => boolean) {
  const limits = new Map<string, number>();
  const inSlot = new Map<string, Span[]>();
  for (const span of spans) {
    const run = facts.runs.get(span.run);
    if (run === undefined || facts.neverBegan(run)) continue;
    for (const { slot, limit } of slotsOf(facts, run, counts)) {
      limits.set(slot, limit);
      const list = inSlot.get(slot);
      if (list === undefined) inSlot.set(slot, [span]);
      else list.push(span);
    }
  }
  for (const [slot, list] of inSlot) {
    const limit = limits.get(slot)!;
    const moves = list
      .flatMap(({ from, to, run }) => [
        { at: from, by: 1, run },
        { at: to, by: -1, run },
      ])
      // At one instant the slot is given back before it is taken.
      .sort((a, b) => (a.at === b.at ? a.by - b.by : a.at - b.at));
    let count = 0;
    for (const { by, run } of moves) {
      count += by;
      if (by > 0 && count > limit) yield { slot, count, limit, run };
    }
  }
}

type Slot = NonNullable<FunctionFacts["slots"]>[number];

/** Where a limit counts runs and another one steps, a run has one slot of the first, however many steps are at work. */
const countsSteps = ({ isOfSteps }: Slot, ofRun: readonly Slot[]): boolean =>
  isOfSteps === true || ofRun.every((slot) => slot.isOfSteps !== true);

function slotsOf(facts: Facts, run: Run, counts: (slot: Slot, ofRun: readonly Slot[]) => boolean) {
  const slots = facts.of(run)?.slots ?? [];
  return slots.filter((slot) => counts(slot, slots)).map(({ of, limit }) => ({ slot: of(facts.data(run)), limit }));
}
