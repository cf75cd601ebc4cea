// Events become decisions and runs. The first event with a caller's id and the first run with a function key win; everyone
// after is told who won. A duplicate event does nothing at all.
// Repeat: an event already stored touches no claim and is answered from its stored decisions.
import { askClaim, type Claim, eventScope, functionScope } from "../../model/claim.ts";
import type { Decision } from "../../model/decision.ts";
import type {
  Ingested,
  IngestedEvent,
  IngestInput,
  LeasedJob,
  NestedIngest,
  NewEvent,
  NewPair,
  StaleRegistration,
  StartPair,
} from "../store.ts";
import { bornLeased, createRun, newestRerun } from "./create-run.ts";
import { showLeasedJob } from "./show.ts";
import type { DeliverJob, EventRow, JobRow, Moment, Tables } from "./tables.ts";

export function ingest(tables: Tables, at: Moment, input: IngestInput): Ingested | StaleRegistration {
  const stale = staleRegistration(tables, input);
  // A repeat is answered from what it stored, whatever was registered since; a call is stored whole, so its first event tells.
  if (stale !== null && !tables.events.has(input.events[0]?.id ?? "")) return stale;
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
  const events: IngestedEvent[] = [];
  const decisions: Decision[] = [];
  const leased: LeasedJob[] = [];
  let queued = false;
  input.events.forEach((event, index) => {
    if (!tables.events.has(event.id)) {
      if (event.ifAwaited === true && !isAwaited(tables, event.name)) return;
      const pairs = input.pairs.filter((pair) => pair.event === index);
      for (const job of storeEvent(tables, at, event, pairs, leaseTo)) {
        if (job.leasedBy !== null) leased.push(showLeasedJob(tables, job));
        else if (job.dueAt === null) queued = true;
      }
    } else {
      const pairs = input.pairs.filter((pair) => pair.event === index);
      leased.push(...leasedAgain(tables, event.id, pairs, leaseTo));
    }
    events.push(ingestedEvent(tables, event.id));
    decisions.push(...(tables.decisions.get(event.id) ?? []));
  });
  return { kind: "ingested", now: at.now, events, decisions, firsts: firstsOf(tables, decisions), leased, queued };
}

/** Who was to execute what may have been in an answer that was lost: as long as nothing came of it, it is said again. */
function leasedAgain(tables: Tables, eventId: string, pairs: readonly NewPair[], leaseTo: string | null): LeasedJob[] {
  // A run with a later due time is not born leased.
  const runs = pairs.filter((pair) => pair.kind === "start" && pair.dueAt === null) as StartPair[];
  const born = [
    ...runs.map((pair) => bornLeased(tables, pair.runId, pair.leaseTo)),
    bornLeased(tables, `deliver:${eventId}`, leaseTo),
  ];
  return born.flatMap((job) => (job === null ? [] : showLeasedJob(tables, job)));
}

function ingestedEvent(tables: Tables, id: string): IngestedEvent {
  return { id, firstEventId: tables.events.get(id)!.firstEventId };
}

/** What duplicates of a call can be compared with. */
function firstsOf(tables: Tables, decisions: readonly Decision[]): Ingested["firsts"] {
  const firsts = new Map<string, string>();
  for (const { eventId, firstEventId } of decisions) {
    const first = firstEventId === null ? undefined : tables.events.get(firstEventId);
    if (first !== undefined && first.data !== tables.events.get(eventId)!.data) firsts.set(first.id, first.data);
  }
  return [...firsts].map(([eventId, data]) => ({ eventId, data }));
}

/** Answers with the jobs it created. */
function storeEvent(
  tables: Tables,
  at: Moment,
  event: NewEvent,
  pairs: readonly NewPair[],
  leaseTo: string | null,
): JobRow[] {
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
  const decisions: Decision[] = [];
  const jobs: JobRow[] = [];
  if (asked !== null && !asked.taken) {
    decisions.push(...duplicateDecisions(tables, at, row, asked.claim, pairs));
  } else {
    for (const pair of pairs) {
      const decided = decidePair(tables, at, row, pair, asked?.claim ?? null);
      decisions.push(decided.decision);
      if (decided.job !== null) jobs.push(decided.job);
    }
    if (isAwaited(tables, event.name)) jobs.push(createDeliverJob(tables, at, event.id, leaseTo));
  }
  putDecisions(tables, event.id, decisions);
  return jobs;
}

function askForCallerId(tables: Tables, at: Moment, event: NewEvent, callerId: string) {
  const ask = {
    scope: eventScope,
    key: callerId,
    holder: event.id,
    generation: event.id,
    windowMs: event.windowMs,
    held: false,
    fingerprint: null,
    leaseMs: null,
  };
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
  event: EventRow,
  pair: NewPair,
  eventClaim: Claim | null,
): { decision: Decision; job: JobRow | null } {
  const base = { eventId: event.id, fn: pair.fn, firstEventId: null, decidedAt: at.now };
  if (pair.kind !== "start") {
    const decision = { ...base, kind: pair.kind, reason: pair.reason, runId: null, key: null, windowEndsAt: null };
    return { decision, job: null };
  }
  const before = pair.key === null ? null : tables.claim(functionScope(pair.fn), pair.key);
  const asked = pair.key === null ? null : askForKey(tables, at, pair, pair.key, before);
  if (asked !== null && !asked.taken) {
    const { holder, endsAt } = asked.claim;
    const decision: Decision = {
      ...base,
      kind: "duplicate-key",
      reason: `key ${pair.key} is taken by run ${holder}`,
      runId: newestRerun(tables, holder),
      key: pair.key,
      windowEndsAt: endsAt,
      firstEventId: tables.runs.get(holder)?.eventId ?? null,
    };
    return { decision, job: null };
  }
  const claim = asked?.claim ?? eventClaim;
  const job = createRun(tables, at, {
    id: pair.runId,
    fn: pair.fn,
    eventId: event.id,
    key: pair.key,
    subject: pair.subject,
    generation: claim?.generation ?? pair.generation,
    previousRunId: before?.holder ?? null,
    rerunOf: null,
    rerunFrom: null,
    inputs: {},
    rootRunId: pair.runId,
    rank: pair.rank,
    dueAt: pair.dueAt,
    leaseTo: pair.leaseTo,
  });
  const decision: Decision = {
    ...base,
    kind: "started",
    reason: pair.reason,
    runId: pair.runId,
    key: pair.key,
    windowEndsAt: claim?.endsAt ?? null,
  };
  return { decision, job };
}

function askForKey(tables: Tables, at: Moment, pair: StartPair, key: string, before: Claim | null) {
  const ask = {
    scope: functionScope(pair.fn),
    key,
    holder: pair.runId,
    generation: pair.runId,
    windowMs: pair.windowMs,
    held: pair.hold,
    fingerprint: null,
    leaseMs: null,
  };
  const answer = askClaim(before, ask, at);
  tables.putClaim(answer.claim);
  return answer;
}

const isAwaited = (tables: Tables, eventName: string): boolean =>
  tables.waits.all().some((waits) => waits.some((wait) => wait.eventName === eventName));

function createDeliverJob(tables: Tables, at: Moment, eventId: string, leaseTo: string | null): DeliverJob {
  const job: DeliverJob = {
    id: `deliver:${eventId}`,
    kind: "deliver",
    eventId,
    rank: at.now,
    dueAt: null,
    fence: leaseTo === null ? 0 : 1,
    leasedBy: leaseTo,
    lostWorkers: 0,
  };
  tables.jobs.put(job.id, job);
  return job;
}

function putDecisions(tables: Tables, eventId: string, decisions: readonly Decision[]): void {
  const sorted = decisions.toSorted((a, b) => (a.fn < b.fn ? -1 : a.fn > b.fn ? 1 : 0));
  const twice = sorted.find((decision, n) => decision.fn === sorted[n + 1]?.fn);
  if (twice !== undefined)
    throw new Error(`Event ${eventId} has two pairs of ${twice.fn}; each has exactly one decision`);
  tables.decisions.put(eventId, sorted);
}
