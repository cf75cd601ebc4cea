// "Why did this run?" and "why did it not?": one event's, one run's or one key's story, read from the rows.
import { functionScope } from "../model/claim.ts";
import { type Decision, isPending } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import type { Run } from "../model/run.ts";
import { tickOf } from "../model/tick.ts";
import type { StoreReads } from "../store/reads.ts";
import { decisionSentence, differs, instant } from "./explain-decision.ts";
import { runSentences, tickSentence } from "./explain-run.ts";
import type { CancelOutlook, LimitInLine, Outlook, PendingBuffer } from "./outlook.ts";

export interface ExplainedDecision extends Decision {
  /** Paths at which a duplicate's data differs from the first event's. */
  readonly differs: readonly string[];
}

/** An event that is not decided for a function yet. */
export interface ExplainedPending {
  readonly fn: string;
  /** Null where a person decides. */
  readonly buffer: PendingBuffer | null;
}

export interface ExplainedEvent {
  readonly kind: "event";
  readonly event: Event;
  readonly first: Event | null;
  readonly duplicates: readonly Event[];
  readonly decisions: readonly ExplainedDecision[];
  readonly pending: readonly ExplainedPending[];
  readonly summary: readonly string[];
}

export interface ExplainedRun {
  readonly kind: "run";
  readonly run: Run;
  readonly event: Event | null;
  /** All that it carries, `event` first: more than one only in a batch. */
  readonly events: readonly Event[];
  /** The limits it has to pass; empty for one that does not stand in line. */
  readonly line: readonly LimitInLine[];
  /** The events that would cancel it. */
  readonly cancelOn: readonly CancelOutlook[];
  /** Decisions that were answered with this run instead of starting another. */
  readonly spared: readonly ExplainedDecision[];
  readonly summary: readonly string[];
}

export interface ExplainedKey {
  readonly kind: "key";
  readonly function: string;
  readonly key: string;
  readonly holder: Run | null;
  readonly askedCount: number;
  readonly takenAt: number | null;
  readonly windowEndsAt: number | null;
  readonly isOpen: boolean;
  readonly spared: readonly ExplainedDecision[];
  readonly earlier: readonly Run[];
  readonly summary: readonly string[];
}

// What a person reads in one go; the rest is in the lists of the API.
const listMax = 100;

export async function explainEvent(
  reads: StoreReads,
  env: string,
  event: Event,
  nameOf: (fn: string) => string,
  outlook: Outlook | null = null,
): Promise<ExplainedEvent> {
  const first = event.firstEventId === null ? null : await reads.event(env, event.firstEventId);
  const duplicates = await reads.duplicatesOf(env, event.id, listMax);
  const decisions = await withDifferences(reads, env, await reads.decisionsOfEvent(env, event.id));
  const summary = [`Event ${event.id} "${event.name}" was received at ${instant(event.receivedAt)}.`];
  if (first !== null)
    summary.push(`It is a duplicate of event ${first.id}: id ${JSON.stringify(event.callerId)} was taken.`);
  const tick = tickOf(event);
  if (tick !== null) summary.push(tickSentence(tick));
  if (decisions.length === 0) summary.push("No function has a trigger for this name.");
  const pending: ExplainedPending[] = [];
  for (const decision of decisions) {
    const buffer = isPending(decision) ? ((await outlook?.buffer(event, decision)) ?? null) : null;
    if (isPending(decision)) pending.push({ fn: decision.fn, buffer });
    summary.push(decisionSentence(decision, nameOf(decision.fn), buffer));
  }
  if (duplicates.length > 0) {
    const [events, were] = duplicates.length === 1 ? ["event", "was"] : ["events", "were"];
    summary.push(`${duplicates.length} later ${events} with its id ${were} suppressed.`);
  }
  return { kind: "event", event, first, duplicates, decisions, pending, summary };
}

export async function explainRun(
  reads: StoreReads,
  env: string,
  run: Run,
  nameOf: (fn: string) => string,
  outlook: Outlook | null = null,
): Promise<ExplainedRun> {
  const memo = await reads.runMemo(env, run.id);
  const event = memo?.event ?? null;
  const events = memo?.events ?? [];
  const line = outlook === null || event === null ? [] : await outlook.line(run, event);
  const cancelOn = (await outlook?.cancels(run)) ?? [];
  const spared = await withDifferences(reads, env, await reads.duplicatesOfRun(env, run.id, listMax));
  const facts = { run, events, line, cancelOn, spared };
  return { kind: "run", event, ...facts, summary: runSentences(facts, nameOf(run.fn)) };
}

export async function explainKey(
  reads: StoreReads,
  env: string,
  fn: string,
  key: string,
  now: number,
  nameOf: (fn: string) => string,
): Promise<ExplainedKey> {
  const claim = await reads.claim(env, functionScope(fn), key);
  const holder = claim === null ? null : await reads.run(env, claim.holder);
  const spared =
    holder === null ? [] : await withDifferences(reads, env, await reads.duplicatesOfRun(env, holder.id, listMax));
  const earlier: Run[] = [];
  for (let id = holder?.previousRunId ?? holder?.rerunOf ?? null; id !== null && earlier.length < listMax; ) {
    const run = await reads.run(env, id);
    if (run === null) break;
    earlier.push(run);
    id = run.previousRunId ?? run.rerunOf;
  }
  const isOpen = claim !== null && claim.state !== "released" && (claim.held || now < claim.endsAt);
  const summary =
    claim === null
      ? [`Key ${key} of "${nameOf(fn)}" is free: nobody has it, or its window ended.`]
      : [
          `Key ${key} of "${nameOf(fn)}" is ${isOpen ? "taken" : "free again"}: run ${claim.holder} took it at ${instant(claim.takenAt)}.`,
          `Its window ends at ${instant(claim.endsAt)}; it was asked for ${claim.asked} times.`,
          ...spared.map((decision) => `Event ${decision.eventId} was suppressed${differs(decision)}.`),
        ];
  return {
    kind: "key",
    function: nameOf(fn),
    key,
    holder,
    askedCount: claim?.asked ?? 0,
    takenAt: claim?.takenAt ?? null,
    windowEndsAt: claim?.endsAt ?? null,
    isOpen,
    spared,
    earlier,
    summary,
  };
}

/** Where a duplicate's payload was not the first one's: computed when asked for, kept nowhere. */
async function withDifferences(
  reads: StoreReads,
  env: string,
  decisions: readonly Decision[],
): Promise<ExplainedDecision[]> {
  const data = new Map<string, unknown>();
  const dataOf = async (eventId: string): Promise<unknown> => {
    if (!data.has(eventId)) {
      const event = await reads.event(env, eventId);
      data.set(eventId, event === null ? undefined : fromJson(event.data));
    }
    return data.get(eventId);
  };
  const explained: ExplainedDecision[] = [];
  for (const decision of decisions) {
    const { firstEventId } = decision;
    const differs =
      firstEventId === null
        ? []
        : differingPaths({ data: await dataOf(firstEventId) }, { data: await dataOf(decision.eventId) });
    explained.push({ ...decision, differs });
  }
  return explained;
}
