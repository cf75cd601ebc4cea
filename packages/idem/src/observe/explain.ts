// "Why did this run?" and "why did it not?": what the rows know of one event, one run or one key. The sentences are made in stories/.
import { functionScope, isTaken } from "../model/claim.ts";
import { type Decision, isPending } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import type { Run } from "../model/run.ts";
import type { StoreReads } from "../store/reads.ts";
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
}

export interface ExplainedKey {
  readonly kind: "key";
  readonly function: string;
  readonly key: string;
  readonly holder: Run | null;
  /** Requests for the key, the first included. On PostgreSQL it may be one second behind. */
  readonly askedCount: number;
  readonly takenAt: number | null;
  readonly windowEndsAt: number | null;
  readonly isOpen: boolean;
  readonly spared: readonly ExplainedDecision[];
  readonly earlier: readonly Run[];
}

// As much as a person reads in one go; the rest is in the lists of the API.
const listMax = 100;

export async function explainEvent(
  reads: StoreReads,
  env: string,
  event: Event,
  outlook: Outlook | null = null,
): Promise<ExplainedEvent> {
  const first = event.firstEventId === null ? null : await reads.event(env, event.firstEventId);
  const duplicates = await reads.duplicatesOf(env, event.id, listMax);
  const decisions = await withDifferences(reads, env, await reads.decisionsOfEvent(env, event.id));
  return { kind: "event", event, first, duplicates, decisions, pending: await pendingOf(event, decisions, outlook) };
}

export async function pendingOf(
  event: Event,
  decisions: readonly Decision[],
  outlook: Outlook | null,
): Promise<ExplainedPending[]> {
  const pending: ExplainedPending[] = [];
  for (const decision of decisions.filter(isPending)) {
    pending.push({ fn: decision.fn, buffer: (await outlook?.buffer(event, decision)) ?? null });
  }
  return pending;
}

export async function explainRun(
  reads: StoreReads,
  env: string,
  run: Run,
  outlook: Outlook | null = null,
): Promise<ExplainedRun> {
  const memo = await reads.runMemo(env, run.id);
  const event = memo?.event ?? null;
  const events = memo?.events ?? [];
  const line = outlook === null || event === null ? [] : await outlook.line(run, event);
  const cancelOn = (await outlook?.cancels(run)) ?? [];
  const spared = await withDifferences(reads, env, await reads.duplicatesOfRun(env, run.id, listMax));
  return { kind: "run", event, run, events, line, cancelOn, spared };
}

export async function explainKey(
  reads: StoreReads,
  env: string,
  fn: string,
  key: string,
  now: number,
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
  return {
    kind: "key",
    function: fn,
    key,
    holder,
    askedCount: claim?.asked ?? 0,
    takenAt: claim?.takenAt ?? null,
    windowEndsAt: claim?.endsAt ?? null,
    isOpen: claim !== null && isTaken(claim, now),
    spared,
    earlier,
  };
}

/** Where a duplicate's payload was not the first one's: computed when asked for, kept nowhere. */
export async function withDifferences(
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
