// The one place where a run is created for an event, at once, from a buffer, by release or by a tick. Everything that may refuse it
// is asked first and taken afterwards: a decision that creates no run takes no key and nothing of what may refuse it.

import { askClaim, functionKeyAsk, functionScope } from "../../model/claim.ts";
import { type Decision, keyTaken } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import { flowOfRun, type Start } from "../rules/new-run.ts";
import { answersForKey } from "../rules/read-memo.ts";
import { noteFirst } from "../rules/record-decision.ts";
import { refuseStart } from "../rules/refuse-start.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Writing } from "../writing.ts";
import { countAsking, findClaim, writeClaim } from "./claim-key.ts";
import { openRun } from "./open-run.ts";
import type { Transaction } from "./transaction.ts";

export function startRun(tx: Transaction, env: string, start: Start, out: Writing): Decision {
  const { event, pair } = start;
  const { flow } = pair;
  const found = pair.key === null ? null : findClaim(tx, env, functionScope(pair.fn), pair.key);
  const asked =
    pair.key === null ? null : askClaim(found?.claim ?? null, functionKeyAsk(pair, pair.key, pair.runId), tx.at);
  if (asked !== null && !asked.taken) {
    countAsking(tx, found!);
    const why = duplicateKey(tx, env, event, pair.key!, asked.claim.holder, out);
    return { ...baseOf(tx, start), ...why, windowEndsAt: asked.claim.endsAt };
  }
  if (flow !== null) {
    const refused = driveAtOnce(refuseStart(tx, env, pair, out));
    if (refused !== null) return { ...baseOf(tx, start), ...refused, windowEndsAt: null };
  }
  if (asked !== null) writeClaim(tx, env, asked.claim, found);
  // Named one by one, here and below: on the path of every run a spread costs more than what it spreads (docs/performance.md#objects).
  const { lane, startBy, cancelOn, singleton } = flowOfRun(tx.at, event, flow);
  const windowEndsAt = asked?.claim.endsAt ?? start.windowEndsAt;
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
    code: pair.code ?? null,
    holdsKey: pair.hold,
    lane,
    startBy,
    cancelOn,
    singleton,
    carried: null,
    windowEndsAt,
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
    eventId: event.id,
    fn: pair.fn,
    kind: "started",
    reason: pair.reason,
    runId: pair.runId,
    key: pair.key,
    windowEndsAt,
    firstEventId: null,
    decidedAt: tx.at.now,
  };
}

const baseOf = (tx: Transaction, { event, pair: { fn, key } }: Start) =>
  ({ eventId: event.id, fn, key, firstEventId: null, decidedAt: tx.at.now }) as const;

function duplicateKey(tx: Transaction, env: string, event: Event, key: string, holder: string, out: Writing) {
  const { runId, ended, firstEventId } = driveAtOnce(answersForKey(tx, env, holder, key));
  if (firstEventId !== null) driveAtOnce(noteFirst(tx, env, out, event.data, firstEventId));
  return { kind: "duplicate-key", reason: keyTaken(key, runId, ended), runId, firstEventId } as const;
}
