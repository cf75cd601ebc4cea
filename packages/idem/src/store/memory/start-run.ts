// The one place where a run begins for an event: at once, from a buffer, by release or by a tick. Everything that may refuse it is
// asked first and taken afterwards, so a decision that creates no run takes no key, no part of a rate limit, no singleton.

import { inBatch, keyInBatch } from "../../flow/batch/plan.ts";
import { rateLimited } from "../../flow/rate-limit/plan.ts";
import { singletonTaken } from "../../flow/singleton/plan.ts";
import { askClaim, type Claim, functionKeyAsk, functionScope, isTaken } from "../../model/claim.ts";
import { type Decision, keyTaken } from "../../model/decision.ts";
import { publicEventId } from "../../model/event.ts";
import type { StartPair } from "../ingest.ts";
import { createRun, newestRerun } from "./create-run.ts";
import type { Effects } from "./effects.ts";
import { countStart, freesAt } from "./rate-limit.ts";
import { recordDecision } from "./record-decision.ts";
import { countSkipped, singletonHolder, takeSingleton } from "./singleton.ts";
import type { EventRow, Moment, Tables } from "./tables.ts";

export interface StartItem {
  readonly event: EventRow;
  readonly pair: StartPair;
  /** The window of the sender's id, if it was opened just now. */
  readonly eventClaim: Claim | null;
}

interface Start {
  readonly runId: string;
  /** In order. More than one only in a batch. */
  readonly items: readonly StartItem[];
  readonly isBatch: boolean;
  readonly leaseTo: string | null;
}

export function decideStart(tables: Tables, at: Moment, effects: Effects, start: Start): void {
  const { runId, isBatch, leaseTo } = start;
  const { carried, repeated } = askForKeys(tables, at, effects, start.items);
  const [first] = carried;
  if (first === undefined) return;
  const { fn, flow } = first.pair;
  const refusal = refuse(tables, at, first.pair);
  if (refusal !== null) {
    const of = [...carried, ...repeated];
    for (const item of of) recordDecision(tables, at, effects, { ...base(item, at), ...refusal });
    return;
  }
  const previous = first.pair.key === null ? null : tables.claim(functionScope(fn), first.pair.key);
  const claims = carried.map(({ pair }) => (pair.key === null ? null : askForKey(tables, at, pair, pair.key, runId)));
  if (flow !== null && flow.rateLimit !== null) countStart(tables, at, flow.rateLimit);
  if (flow !== null && flow.singleton !== null) takeSingleton(tables, at, effects, fn, runId, flow.singleton);
  const job = createRun(tables, at, {
    id: runId,
    fn,
    eventId: first.event.id,
    events: carried.map(({ event }) => event.id),
    key: isBatch ? null : first.pair.key,
    keys: carried.flatMap(({ pair }) => pair.key ?? []),
    subject: isBatch ? batchSubject(carried) : first.pair.subject,
    generation: isBatch ? first.event.id : ((claims[0] ?? first.eventClaim)?.generation ?? first.pair.generation),
    previousRunId: isBatch ? null : (previous?.holder ?? null),
    rerunOf: null,
    rerunFrom: null,
    inputs: {},
    rootRunId: runId,
    singleton: flow?.singleton?.key ?? null,
    rank: first.pair.rank,
    // A batch has its own time.
    dueAt: isBatch ? null : first.pair.dueAt,
    leaseTo,
    code: first.pair.code ?? null,
    lane: flow?.lane ?? null,
    startBy: startBy(at, first.event, flow),
    cancelOn: flow?.cancelOn ?? [],
  });
  effects.jobs.add(job.id);
  carried.forEach((item, n) => {
    recordDecision(tables, at, effects, {
      ...base(item, at),
      kind: "started",
      reason: isBatch ? inBatch(carried.length, item.pair.reason) : item.pair.reason,
      runId,
      windowEndsAt: (claims[n] ?? item.eventClaim)?.endsAt ?? null,
    });
  });
  for (const item of repeated) {
    const claim = askForKey(tables, at, item.pair, item.pair.key!, runId);
    const reason = keyInBatch(item.pair.key!, runId);
    recordDecision(tables, at, effects, { ...duplicateOf(tables, at, item, claim), reason });
  }
}

/** The first instant at which it has waited too long. */
const startBy = (at: Moment, { ts }: EventRow, flow: StartPair["flow"]): number | null =>
  flow === null || flow.startWithinMs === null ? null : Math.max(at.now, ts) + flow.startWithinMs + 1;

const base = ({ event, pair }: StartItem, at: Moment) => ({
  eventId: event.id,
  fn: pair.fn,
  key: pair.key,
  windowEndsAt: null,
  firstEventId: null,
  decidedAt: at.now,
});

/** The subject that destination keys of a batch are made of: the same events in any order are the same batch. */
const batchSubject = (items: readonly StartItem[]): string =>
  JSON.stringify(items.map(({ event }) => publicEventId(event)).sort());

/** Decides those whose key another run has. Of those with equal keys the first is carried. */
function askForKeys(tables: Tables, at: Moment, effects: Effects, items: readonly StartItem[]) {
  const carried: StartItem[] = [];
  const repeated: StartItem[] = [];
  const keys = new Set<string>();
  for (const item of items) {
    const { fn, key } = item.pair;
    const claim = key === null ? null : tables.claim(functionScope(fn), key);
    if (claim !== null && isTaken(claim, at.windowNow(claim.takenAt))) {
      const asked: Claim = { ...claim, asked: claim.asked + 1, lastAskedAt: at.now };
      tables.putClaim(asked);
      recordDecision(tables, at, effects, duplicateOf(tables, at, item, asked));
    } else if (key !== null && keys.has(key)) {
      repeated.push(item);
    } else {
      if (key !== null) keys.add(key);
      carried.push(item);
    }
  }
  return { carried, repeated };
}

function duplicateOf(tables: Tables, at: Moment, item: StartItem, { key, holder, endsAt }: Claim): Decision {
  const runId = newestRerun(tables, holder);
  const state = tables.runs.get(runId)?.endState ?? null;
  return {
    ...base(item, at),
    kind: "duplicate-key",
    reason: keyTaken(key, runId, state),
    runId,
    windowEndsAt: endsAt,
    firstEventId: eventOfKey(tables, holder, key),
  };
}

/** The event the key was first asked with: of a batch, the one that brought it. */
function eventOfKey(tables: Tables, runId: string, key: string): string | null {
  const run = tables.runs.get(runId);
  if (run === undefined) return null;
  const brought = (eventId: string) => {
    const decision = tables.decision(eventId, run.fn);
    return decision?.kind === "started" && decision.key === key;
  };
  return run.events.find(brought) ?? run.eventId;
}

type Refusal = Pick<Decision, "kind" | "reason" | "runId">;

function refuse(tables: Tables, at: Moment, { fn, flow }: StartPair): Refusal | null {
  if (flow === null) return null;
  const { rateLimit: rate, singleton } = flow;
  const frees = rate === null ? null : freesAt(tables, at, rate);
  if (rate !== null && frees !== null) {
    return { kind: "rate-limited", reason: rateLimited(rate, frees), runId: null };
  }
  const holder = singleton === null ? null : singletonHolder(tables, fn, singleton);
  if (singleton === null || holder === null || singleton.mode === "cancel") return null;
  countSkipped(tables, at, fn, singleton);
  return {
    kind: "singleton-skipped",
    reason: singletonTaken(holder),
    runId: holder,
  };
}

function askForKey(tables: Tables, at: Moment, pair: StartPair, key: string, runId: string): Claim {
  const ask = functionKeyAsk(pair, key, runId);
  const { claim } = askClaim(tables.claim(ask.scope, key), ask, at);
  tables.putClaim(claim);
  return claim;
}
