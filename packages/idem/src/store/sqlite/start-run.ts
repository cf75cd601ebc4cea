// The one place where a run is created for an event, at once, from a buffer, by release or by a tick. Everything that may refuse it
// is asked first and taken afterwards: a decision that creates no run takes no key, no part of a rate limit, no singleton.

import type { SingletonRule } from "../../flow/singleton/plan.ts";
import { singletonAsk, singletonScope } from "../../flow/singleton/plan.ts";
import { askClaim, functionKeyAsk, functionScope } from "../../model/claim.ts";
import type { Decision } from "../../model/decision.ts";
import { keyTaken, rateLimited, singletonTaken } from "../../model/decision-reasons.ts";
import type { Event } from "../../model/event.ts";
import type { StartPair } from "../ingest.ts";
import { cancelHolder } from "../rules/cancel-run.ts";
import { countStart, frees } from "../rules/limit-starts.ts";
import { type Start, startBy } from "../rules/new-run.ts";
import { answersForKey } from "../rules/read-memo.ts";
import { noteFirst } from "../rules/record-decision.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Writing } from "../writing.ts";
import { countAsking, findClaim, writeClaim } from "./claim-key.ts";
import { openRun } from "./open-run.ts";
import type { Transaction } from "./transaction.ts";

export function startRun(tx: Transaction, env: string, start: Start, out: Writing): Decision {
  const { event, pair } = start;
  const { flow } = pair;
  const base = { eventId: event.id, fn: pair.fn, decidedAt: tx.at.now, key: pair.key, firstEventId: null };
  const found = pair.key === null ? null : findClaim(tx, env, functionScope(pair.fn), pair.key);
  const asked =
    pair.key === null ? null : askClaim(found?.claim ?? null, functionKeyAsk(pair, pair.key, pair.runId), tx.at);
  if (asked !== null && !asked.taken) {
    countAsking(tx, found!);
    return {
      ...base,
      ...duplicateKey(tx, env, event, pair.key!, asked.claim.holder, out),
      windowEndsAt: asked.claim.endsAt,
    };
  }
  if (flow !== null) {
    const refused = refusal(tx, env, pair, out);
    if (refused !== null) return { ...base, ...refused, windowEndsAt: null };
  }
  if (asked !== null) writeClaim(tx, env, { ...asked.claim, state: "in-flight" }, found);
  const opened = openRun(tx, env, {
    id: pair.runId,
    fn: pair.fn,
    eventId: event.id,
    key: pair.key,
    subject: pair.subject,
    generation: asked?.claim.generation ?? start.generation,
    previousRunId: found?.claim.holder ?? null,
    rerunOf: null,
    rerunFrom: null,
    inputs: {},
    rootRunId: pair.runId,
    rank: pair.rank,
    dueAt: pair.dueAt,
    leaseTo: pair.leaseTo,
    holdsKey: pair.hold,
    lane: flow?.lane ?? null,
    startBy: startBy(tx.at, event, flow),
    cancelOn: flow?.cancelOn ?? [],
    singleton: flow?.singleton?.key ?? null,
    carried: null,
  });
  if (opened.fence !== null) {
    out.leased.push({
      kind: "run",
      jobId: pair.runId,
      fence: opened.fence,
      lostWorkers: 0,
      memo: { run: opened.run, event, events: [event], steps: [], attempts: [], waits: [], inputs: {} },
    });
  } else if (opened.run.dueAt !== null) {
    out.dueAt = out.dueAt === null ? opened.run.dueAt : Math.min(out.dueAt, opened.run.dueAt);
  } else {
    out.queued = true;
  }
  return {
    ...base,
    kind: "started",
    reason: pair.reason,
    runId: pair.runId,
    windowEndsAt: asked?.claim.endsAt ?? start.windowEndsAt,
  };
}

function duplicateKey(tx: Transaction, env: string, event: Event, key: string, holder: string, out: Writing) {
  const { runId, ended, firstEventId } = driveAtOnce(answersForKey(tx, env, holder, key));
  if (firstEventId !== null) driveAtOnce(noteFirst(tx, env, out, event.data, firstEventId));
  return { kind: "duplicate-key", reason: keyTaken(key, runId, ended), runId, firstEventId } as const;
}

export type Refusal = Pick<Decision, "kind" | "reason" | "runId">;

/** Rate limit, then singleton; what lets the run in is taken. */
export function refusal(tx: Transaction, env: string, { fn, runId, flow }: StartPair, out: Writing): Refusal | null {
  if (flow === null) return null;
  const { rateLimit, singleton } = flow;
  if (rateLimit !== null) {
    const freesAt = driveAtOnce(frees(tx, env, rateLimit));
    if (freesAt !== null) {
      return { kind: "rate-limited", reason: rateLimited(rateLimit, freesAt), runId: null };
    }
  }
  if (singleton !== null) {
    const holder = takeSingleton(tx, env, fn, runId, singleton, out);
    if (holder !== null) {
      return { kind: "singleton-skipped", reason: singletonTaken(holder), runId: holder };
    }
  }
  if (rateLimit !== null) driveAtOnce(countStart(tx, env, rateLimit, runId));
  return null;
}

/** Null when the run has the key now; else the run that keeps it. */
function takeSingleton(
  tx: Transaction,
  env: string,
  fn: string,
  runId: string,
  rule: SingletonRule,
  out: Writing,
): string | null {
  const scope = singletonScope(fn);
  const ask = singletonAsk(fn, rule.key, runId);
  let found = findClaim(tx, env, scope, rule.key);
  let asked = askClaim(found?.claim ?? null, ask, tx.at);
  if (!asked.taken) {
    if (rule.mode === "skip") {
      countAsking(tx, found!);
      return asked.claim.holder;
    }
    driveAtOnce(cancelHolder(tx, env, asked.claim.holder, rule, out));
    found = findClaim(tx, env, scope, rule.key);
    asked = askClaim(found?.claim ?? null, ask, tx.at);
  }
  writeClaim(tx, env, asked.claim, found);
  return null;
}
