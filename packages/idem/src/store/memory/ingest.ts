// Events become decisions and runs. The first event with a caller's id and the first run with a function key win; later ones
// are answered with the winner. A duplicate event does nothing at all.
// Repeat: an event already stored touches no claim and is answered from its stored decisions.
import { askClaim, type Claim, eventIdAsk } from "../../model/claim.ts";
import { type Decision, decidedOutright } from "../../model/decision.ts";
import type { NestedIngest } from "../advance.ts";
import { sentSubject } from "../audit.ts";
import type {
  Ingested,
  IngestedEvent,
  IngestInput,
  NewEvent,
  NewPair,
  StaleRegistration,
  StartPair,
} from "../ingest.ts";
import { addToBuffer } from "./buffers.ts";
import { bornLeased, newestRerun } from "./create-run.ts";
import { Effects } from "./effects.ts";
import { recordDecision } from "./record-decision.ts";
import { decideStart } from "./start-run.ts";
import { type DeliverJob, type EventRow, type Moment, type Tables, untroubled } from "./tables.ts";

export function ingest(tables: Tables, at: Moment, input: IngestInput): Ingested | StaleRegistration {
  const stale = staleRegistration(tables, input);
  // A repeat is answered from what it stored, whatever was registered since; a call is stored whole, so its first event tells.
  const isRepeat = tables.events.has(input.events[0]?.id ?? "");
  if (stale !== null && !isRepeat) return stale;
  if (input.byHand !== undefined && !isRepeat) {
    tables.addAudit(at, { action: "send-events", subject: sentSubject(input.events), ...input.byHand });
  }
  return storeEvents(tables, at, input, input.leaseTo);
}

export function staleRegistration(
  tables: Tables,
  input: { readonly registration: number | null } | null,
): StaleRegistration | null {
  if (input === null || input.registration === null || input.registration === tables.registration) return null;
  return { kind: "stale-registration", registration: tables.registration };
}

export function storeEvents(
  tables: Tables,
  at: Moment,
  input: Pick<NestedIngest, "events" | "pairs">,
  leaseTo: string | null,
): Ingested {
  for (const { event, fn } of input.pairs) {
    if (input.events[event] === undefined) throw new Error(`The pair of ${fn} names event ${event} of the call: none`);
  }
  const effects = new Effects();
  const stored: string[] = [];
  input.events.forEach((event, index) => {
    const pairs = input.pairs.filter((pair) => pair.event === index);
    if (tables.events.has(event.id)) {
      findBornLeased(tables, effects, event.id, pairs, leaseTo);
    } else {
      if (event.ifAwaited === true && !isAwaited(tables, event.name)) return;
      storeEvent(tables, at, effects, event, pairs, leaseTo);
    }
    stored.push(event.id);
  });
  return answerFor(tables, at, effects, stored);
}

/** The answer for these events at the end of a commit. */
export function answerFor(tables: Tables, at: Moment, effects: Effects, eventIds: readonly string[]): Ingested {
  const decisions = eventIds.flatMap((id) => tables.decisions.get(id) ?? []);
  const redecided = effects.decidedBeside(eventIds);
  return {
    kind: "ingested",
    events: eventIds.map((id) => ingestedEvent(tables, id)),
    decisions,
    firsts: firstsOf(tables, decisions),
    ...effects.told(tables, at),
    ...(redecided === null ? {} : { redecided }),
  };
}

/** A lost answer may have said which jobs its caller was to execute: as long as nothing came of them, it is said again. */
export function findBornLeased(
  tables: Tables,
  effects: Effects,
  eventId: string,
  pairs: readonly NewPair[],
  leaseTo: string | null,
): void {
  // A run with a later due time is not born leased.
  const runs = pairs.filter((pair) => pair.kind === "start" && pair.dueAt === null) as StartPair[];
  const born = [
    ...runs.map((pair) => bornLeased(tables, pair.runId, pair.leaseTo)),
    bornLeased(tables, `deliver:${eventId}`, leaseTo),
  ];
  for (const job of born) if (job !== null) effects.jobs.add(job.id);
}

function ingestedEvent(tables: Tables, id: string): IngestedEvent {
  return { id, firstEventId: tables.events.get(id)!.firstEventId };
}

/** Data of the first events, with which duplicates of a call can be compared. */
function firstsOf(tables: Tables, decisions: readonly Decision[]): Ingested["firsts"] {
  const firsts = new Map<string, string>();
  for (const { eventId, firstEventId } of decisions) {
    const first = firstEventId === null ? undefined : tables.events.get(firstEventId);
    if (first !== undefined && first.data !== tables.events.get(eventId)!.data) firsts.set(first.id, first.data);
  }
  return [...firsts].map(([eventId, data]) => ({ eventId, data }));
}

export function storeEvent(
  tables: Tables,
  at: Moment,
  effects: Effects,
  event: NewEvent,
  pairs: readonly NewPair[],
  leaseTo: string | null,
): void {
  const twice = pairs.find(({ fn }, n) => pairs.some((other, m) => m > n && other.fn === fn));
  if (twice !== undefined)
    throw new Error(`Event ${event.id} has two pairs of ${twice.fn}; each has exactly one decision`);
  const asked = event.callerId === null ? null : askForCallerId(tables, at, event, event.callerId);
  const row: EventRow = {
    id: event.id,
    callerId: event.callerId,
    name: event.name,
    data: event.data,
    ts: event.ts,
    extra: event.extra,
    receivedAt: at.now,
    firstEventId: asked === null || asked.taken ? null : asked.claim.holder,
    sourceRunId: event.sourceRunId,
    stamp: at.stamp(),
  };
  tables.events.put(row.id, row);
  if (event.values !== undefined && event.values.length > 0) tables.values.put(row.id, event.values);
  if (asked !== null && !asked.taken) {
    for (const decision of duplicateDecisions(tables, at, row, asked.claim, pairs)) {
      recordDecision(tables, at, effects, decision);
    }
    return;
  }
  for (const pair of pairs) decidePair(tables, at, effects, row, pair, asked?.claim ?? null);
  if (isAwaited(tables, event.name)) effects.jobs.add(createDeliverJob(tables, at, event.id, leaseTo).id);
}

function askForCallerId(tables: Tables, at: Moment, event: NewEvent, callerId: string) {
  const ask = eventIdAsk(event, callerId);
  const answer = askClaim(tables.claim(ask.scope, ask.key), ask, at);
  // The event row is the outcome, so there is nothing left to wait for.
  tables.putClaim(answer.taken ? { ...answer.claim, state: "settled" } : answer.claim);
  return answer;
}

function duplicateDecisions(
  tables: Tables,
  at: Moment,
  event: EventRow,
  claim: Claim,
  pairs: readonly NewPair[],
): Decision[] {
  const answered = (fn: string, runId: string | null, key: string | null): Decision => ({
    eventId: event.id,
    fn,
    kind: "duplicate-event",
    reason: duplicateReason(event, tables.events.get(claim.holder)),
    runId: runId === null ? null : newestRerun(tables, runId),
    key,
    windowEndsAt: claim.endsAt,
    firstEventId: claim.holder,
    decidedAt: at.now,
  });
  const first = tables.decisions.get(claim.holder) ?? [];
  const known = new Set(first.map((decision) => decision.fn));
  return [
    ...first.map((decision) => answered(decision.fn, decision.runId, decision.key)),
    ...pairs.filter((pair) => !known.has(pair.fn)).map((pair) => answered(pair.fn, null, null)),
  ];
}

/** Names the other event name where there is one: one id under two names is usually a mistake of the sender. */
function duplicateReason(event: EventRow, first: EventRow | undefined): string {
  const under = first === undefined || first.name === event.name ? "" : ` under the name ${JSON.stringify(first.name)}`;
  return `event id ${JSON.stringify(event.callerId)} was first used by event ${first?.id ?? "unknown"}${under}`;
}

function decidePair(
  tables: Tables,
  at: Moment,
  effects: Effects,
  event: EventRow,
  pair: NewPair,
  eventClaim: Claim | null,
): void {
  if (pair.kind !== "start") {
    recordDecision(tables, at, effects, decidedOutright(pair, event.id, at.now));
  } else if (pair.flow !== null && pair.flow.buffer !== null) {
    addToBuffer(tables, at, effects, event, pair, pair.flow.buffer);
  } else {
    const { runId, leaseTo } = pair;
    decideStart(tables, at, effects, { runId, leaseTo, isBatch: false, items: [{ event, pair, eventClaim }] });
  }
}

const isAwaited = (tables: Tables, eventName: string): boolean =>
  tables.waits.all().some((waits) => waits.some((wait) => wait.eventName === eventName)) ||
  tables.cancelRules.all().some((rules) => rules.some((rule) => rule.eventName === eventName));

function createDeliverJob(tables: Tables, at: Moment, eventId: string, leaseTo: string | null): DeliverJob {
  const job: DeliverJob = {
    id: `deliver:${eventId}`,
    kind: "deliver",
    eventId,
    rank: at.now,
    dueAt: null,
    fence: leaseTo === null ? 0 : 1,
    isBornLeased: leaseTo !== null,
    leasedBy: leaseTo,
    ...untroubled,
  };
  tables.jobs.put(job.id, job);
  return job;
}
