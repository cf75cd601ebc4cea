// The one place where a run is created for an event, at once, from a buffer, by release or by a tick. Everything that may refuse it
// is asked first and taken afterwards: a decision that creates no run takes no key and nothing of what may refuse it.

import { askFor, type Claim, functionKeyAsk, functionScope } from "../../model/claim.ts";
import { type Decision, keyTaken } from "../../model/decision.ts";
import type { StartPair } from "../ingest.ts";
import type { Writing } from "../writing.ts";
import type { FoundClaim, RuleTransaction } from "./database.ts";
import { flowOfRun, type NewRun, type OpenedRun, type Start } from "./new-run.ts";
import { openRun } from "./open-run.ts";
import { noteFirst } from "./record-decision.ts";
import { refuseStart } from "./refuse-start.ts";
import type { Rule } from "./rule.ts";

// Small, as all rules on the path of every run: a generator keeps room for each of its variables, and is made anew with every call.
export function* startRun(tx: RuleTransaction, env: string, start: Start, out: Writing): Rule<Decision> {
  const { pair } = start;
  const found = pair.key === null ? null : yield* tx.findClaim(env, functionScope(pair.fn), pair.key);
  const asked = askKey(tx, pair, found);
  if (asked !== null && !asked.taken) return yield* duplicateKey(tx, env, start, found!, asked.claim, out);
  const refused = pair.flow === null ? null : yield* refuseStart(tx, env, pair, out);
  if (refused !== null) return decided(tx, start, refused, null, null);
  const claim = asked?.claim ?? null;
  if (claim !== null) tx.writeClaim(env, claim, found);
  const opened = yield* openRun(tx, env, newRun(tx, start, found, claim));
  tellOpened(opened, start, out);
  return started(tx, start, claim);
}

const askKey = (tx: RuleTransaction, pair: StartPair, found: FoundClaim | null) =>
  pair.key === null ? null : askFor(tx.at, found?.claim ?? null, functionKeyAsk(pair, pair.key, pair.runId));

function* duplicateKey(
  tx: RuleTransaction,
  env: string,
  start: Start,
  found: FoundClaim,
  claim: Claim,
  out: Writing,
): Rule<Decision> {
  const key = start.pair.key!;
  tx.countAsking(env, found);
  const { runId, ended, firstEventId } = yield* tx.answerForKey(env, claim.holder, key);
  if (firstEventId !== null) yield* noteFirst(tx, env, out, start.event.data, firstEventId);
  const reason = keyTaken(key, runId, ended);
  return decided(tx, start, { kind: "duplicate-key", reason, runId }, claim.endsAt, firstEventId);
}

const windowOf = (start: Start, claim: Claim | null): number | null => claim?.endsAt ?? start.windowEndsAt;

function newRun(tx: RuleTransaction, start: Start, found: FoundClaim | null, claim: Claim | null): NewRun {
  const { event, pair } = start;
  // Named one by one: on the path of every run a spread costs more than what it spreads (docs/performance.md#objects).
  const { lane, startBy, cancelOn, singleton } = flowOfRun(tx.at, event, pair.flow);
  return {
    id: pair.runId,
    fn: pair.fn,
    eventId: event.id,
    key: pair.key,
    subject: pair.subject,
    generation: claim?.generation ?? start.generation,
    previousRunId: found?.claim.holder ?? null,
    rerunOf: null,
    rerunFrom: null,
    inputs: {},
    rootRunId: pair.runId,
    rank: pair.rank,
    dueAt: pair.dueAt,
    leaseTo: pair.leaseTo,
    code: pair.code ?? null,
    holdsKey: pair.hold,
    lane,
    startBy,
    cancelOn,
    singleton,
    carried: null,
    windowEndsAt: windowOf(start, claim),
  };
}

function started(tx: RuleTransaction, start: Start, claim: Claim | null): Decision {
  const { reason, runId } = start.pair;
  return decided(tx, start, { kind: "started", reason, runId }, windowOf(start, claim), null);
}

function decided(
  tx: RuleTransaction,
  { event, pair }: Start,
  { kind, reason, runId }: Pick<Decision, "kind" | "reason" | "runId">,
  windowEndsAt: number | null,
  firstEventId: string | null,
): Decision {
  const { fn, key } = pair;
  return { eventId: event.id, fn, kind, reason, runId, key, windowEndsAt, firstEventId, decidedAt: tx.at.now };
}

/** Notes who must execute it: the worker it was born leased to, or the next that leases. */
function tellOpened({ run, fence }: OpenedRun, { event }: Start, out: Writing): void {
  if (fence !== null) {
    const memo = { run, event, events: [event], steps: [], attempts: [], waits: [], inputs: {} };
    out.leased.push({ kind: "run", jobId: run.id, fence, lostWorkers: 0, memo });
  } else if (run.dueAt !== null) out.dueAt = out.dueAt === null ? run.dueAt : Math.min(out.dueAt, run.dueAt);
  else out.queued = true;
}
