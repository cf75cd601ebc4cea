// A person releases or drops an event that waits for one. Only while it waits, and in one commit with the run it starts.
// Repeat: the run's id tells that the answer was lost; otherwise it is no longer pending.
import { isPending } from "../../model/decision.ts";
import type { RedecideAnswer, RedecideInput } from "../flow.ts";
import { Effects } from "./effects.ts";
import { answerFor, findBornLeased, staleRegistration } from "./ingest.ts";
import { recordDecision } from "./record-decision.ts";
import { eventOf } from "./show.ts";
import { decideStart } from "./start-run.ts";
import type { Moment, Tables } from "./tables.ts";

export function redecideEvent(tables: Tables, at: Moment, input: RedecideInput): RedecideAnswer {
  const { eventId, pair, reason, actor } = input;
  const before = tables.decision(eventId, pair.fn);
  if (before === undefined) return { kind: "not-pending" };
  const effects = new Effects();
  if (pair.kind === "start" && before.kind === "started" && before.runId === pair.runId) {
    findBornLeased(tables, effects, eventId, [pair], null);
    return { ...answerFor(tables, at, effects, [eventId]), decisions: [before] };
  }
  // A buffer decides its events by itself.
  if (!isPending(before) || (before.kind !== "paused" && before.kind !== "held")) return { kind: "not-pending" };
  const stale = staleRegistration(tables, input);
  if (stale !== null) return stale;
  if (pair.kind === "start") {
    const { runId, leaseTo } = pair;
    const event = eventOf(tables, eventId);
    decideStart(tables, at, effects, { runId, leaseTo, isBatch: false, items: [{ event, pair, eventClaim: null }] });
  } else {
    const { kind, reason: why } = pair;
    recordDecision(tables, at, effects, { ...before, kind, reason: why, key: null, decidedAt: at.now });
  }
  const action = pair.kind === "dropped" ? "drop-event" : "release-event";
  tables.addAudit(at, { action, subject: `${eventId} ${pair.fn}`, reason, actor });
  return { ...answerFor(tables, at, effects, [eventId]), decisions: [tables.decision(eventId, pair.fn)!] };
}
