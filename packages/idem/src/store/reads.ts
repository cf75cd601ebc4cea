// Reads of a store: lists and pages for people, look-ups for the engine. Nothing here changes anything, and every page may be
// asked of a store of any size.
import type { Claim, EventIdScope } from "../model/claim.ts";
import type { Decision, DecisionKind, EventOutcome } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import type { Run, RunState } from "../model/run.ts";
import type { Alert, AlertFilter, AlertPair, ArrivalFilter, Arrivals, RadarPosition } from "./alerts.ts";
import type { AuditFilter, AuditRow } from "./audit.ts";
import type { ChannelRow, MessagePage, PageRoom } from "./channels.ts";
import type {
  CountFilter,
  EventNames,
  GroupRun,
  HourCounts,
  LastFailure,
  LiveCountFilter,
  LiveCounts,
  RunPayload,
  RunStart,
  Slip,
  SlipFilter,
} from "./counts.ts";
import type { EndCount, EndFilter } from "./ends.ts";
import type { FoundValue, ValueFilter } from "./event-values.ts";
import type { BufferUse, CancelCandidate, CronRow, DecidedCounts, LimitUse } from "./flow.ts";
import type { RegisteredFunction } from "./functions.ts";
import type { RunMemo } from "./leases.ts";
import type { Metadata } from "./metadata.ts";
import type { RunSort } from "./run-sort.ts";
import type { Setting } from "./settings.ts";
import type { WorkerRow } from "./sharing.ts";
import type { LastOutcome, RunLog, StepGiven } from "./steps.ts";
import type { WaitCandidate } from "./waits.ts";

export interface RunFilter {
  readonly fn?: string;
  readonly state?: RunState;
  readonly eventId?: string;
  /** Ids before this one, newest first. */
  readonly before?: string;
  readonly limit: number;
}

export interface EventFilter {
  readonly name?: string;
  readonly before?: string;
  readonly limit: number;
}

export interface ClaimFilter {
  readonly scope?: string;
  /** Only scopes that begin so, "effect:" say; not beside `scope`. */
  readonly under?: string;
  /** Continue after this scope and key. */
  readonly after?: { readonly scope: string; readonly key: string };
  readonly limit: number;
}

export interface ClaimNow {
  readonly claim: Claim | null;
  readonly now: number;
  /** By which this claim's window is to be judged (`Instant.windowNow`). */
  readonly windowNow: number;
  /** By which a lease is to be judged: behind `now` for a moment after the clock was set ahead, so that the living can say so. */
  readonly leaseNow: number;
}

/** Behind every scope that begins so: no character is above it, in the order of bytes. */
export const afterScopes = (under: string): string => `${under}\u{10FFFF}`;

export interface HeldRun {
  readonly worker: string;
  readonly fence: number;
  readonly stepCount: number;
  /** Of them: work that is put off. */
  readonly deferCount: number;
  /** Of their outcomes. */
  readonly bytes: number;
}

export interface StoreReads {
  /** The store's time, by which its operations decide. */
  now(): Promise<number>;
  functions(env: string): Promise<{ registration: number; functions: readonly RegisteredFunction[] }>;
  run(env: string, runId: string): Promise<Run | null>;
  /** The run's worker, and how much the run has recorded; null when nobody executes it. */
  held(env: string, runId: string): Promise<HeldRun | null>;
  runs(env: string, filter: RunFilter): Promise<readonly Run[]>;
  /** Everything a timeline shows, for the process that continues the run; null when there is no such run. */
  runMemo(env: string, runId: string): Promise<RunMemo | null>;
  /** The same for people and tools, who look at it however long it is. */
  runHistory(env: string, runId: string): Promise<RunMemo | null>;
  /** By step and kind, the run's own first. */
  metadata(env: string, runId: string): Promise<readonly Metadata[]>;
  /** Of these channels, those that are known; in no order. */
  channels(env: string, channels: readonly string[]): Promise<readonly ChannelRow[]>;
  /** Messages of a channel after a place, in the order of places; null for an unknown channel. */
  messages(env: string, channel: string, after: number, room: PageRoom): Promise<MessagePage | null>;
  event(env: string, eventId: string): Promise<Event | null>;
  /** The newest event that carried this caller's id and was not a duplicate, as far as a claim remembers it. */
  eventByCallerId(env: string, callerId: string, scope?: EventIdScope): Promise<Event | null>;
  events(env: string, filter: EventFilter): Promise<readonly Event[]>;
  duplicatesOf(env: string, eventId: string, limit: number): Promise<readonly Event[]>;
  decisionsOfEvent(env: string, eventId: string): Promise<readonly Decision[]>;
  /** Of each of these events, in their order. */
  decisionsOfEvents(env: string, eventIds: readonly string[]): Promise<readonly (readonly Decision[])[]>;
  /** Decisions that name this run without having started it: what it spared. In the order of their events, those after `after`. */
  duplicatesOfRun(env: string, runId: string, limit: number, after?: string): Promise<readonly Decision[]>;
  claim(env: string, scope: string, key: string): Promise<Claim | null>;
  /** With the store's time, by which leases and windows are to be judged: for callers that decide and then amend. */
  claimNow(env: string, scope: string, key: string): Promise<ClaimNow>;
  claims(env: string, filter: ClaimFilter): Promise<readonly Claim[]>;
  /** Distinct equality paths in use by waits and cancelling rules for this event name; empty when nobody waits. */
  waitPaths(env: string, eventName: string): Promise<readonly string[]>;
  /** Names of events that runs wait for, and that those of the newest recorded steps, so many, waited for. Sorted. */
  awaitedNames(env: string, examinedMax: number): Promise<readonly string[]>;
  /** Waits for the event that were registered before it was received and whose equality holds. */
  waitCandidates(
    env: string,
    eventId: string,
    probes: readonly { readonly path: string; readonly value: string }[],
  ): Promise<readonly WaitCandidate[]>;
  /** Open runs that the event may cancel: created before it was received, and whose equality holds. */
  cancelCandidates(
    env: string,
    eventId: string,
    probes: readonly { readonly path: string; readonly value: string }[],
  ): Promise<readonly CancelCandidate[]>;
  crons(env: string): Promise<readonly CronRow[]>;
  /** Slots in use or waited for, the most waited for first. */
  limitUses(env: string, limit: number): Promise<readonly LimitUse[]>;
  /** The events kept for one run; null when there are none. */
  buffer(env: string, fn: string, kind: BufferUse["kind"], key: string): Promise<BufferUse | null>;
  /** Events that wait to be decided, counted by kind. At most `pendingCountedMax` are counted. */
  pendingCounts(env: string): Promise<DecidedCounts>;
  counts(env: string): Promise<StoreCounts>;
  /** Runs that could begin and those at work, by function, or by lane of one function; the longest lines first. */
  lines(env: string, filter: LineFilter): Promise<readonly Line[]>;
  /** Since when the run that has waited longest could have been taken up; null when none is due. */
  oldestDue(env: string): Promise<number | null>;
  /** All of a kind, by name. */
  settings(env: string, kind: string): Promise<readonly Setting[]>;
  /** Entries of the audit, newest first. */
  auditPage(env: string, filter: AuditFilter): Promise<Page<AuditRow, string>>;
  /** Newest first. */
  alerts(env: string, filter: AlertFilter): Promise<readonly Alert[]>;
  alert(env: string, id: string): Promise<Alert | null>;
  /** Newest first, by their later id. */
  alertPairs(
    env: string,
    id: string,
    filter: { readonly before?: string; readonly limit: number },
  ): Promise<readonly AlertPair[]>;
  openAlertCount(env: string): Promise<number>;
  radarPosition(env: string): Promise<RadarPosition | null>;
  /** Events in the order of their ids, with what was decided. */
  arrivals(env: string, filter: ArrivalFilter): Promise<Arrivals>;
  /** Decisions by hour, of the hours that reach into the range; as far as they were counted. */
  hourCounts(env: string, filter: CountFilter): Promise<HourCounts>;
  /** The same from the decisions themselves, by any length of time: for what is not counted yet, and for short ranges. */
  liveCounts(env: string, filter: LiveCountFilter): Promise<LiveCounts>;
  /** Ends of runs, of the stretches that reach into the range, in no order; nothing that was committed is missing. */
  endCounts(env: string, filter: EndFilter): Promise<readonly EndCount[]>;
  /** Newest first, as far as it was counted; later ones come with `liveCounts`. */
  slips(env: string, filter: SlipFilter): Promise<readonly Slip[]>;
  /** The runs that share a window with these, reruns among them; oldest first. At most `limit`. */
  groupRuns(env: string, runIds: readonly string[], limit: number): Promise<readonly GroupRun[]>;
  runStarts(
    env: string,
    runs: readonly { readonly id: string; readonly eventId: string; readonly fn: string }[],
  ): Promise<readonly RunStart[]>;
  /** Of these events, in no order; those that were deleted are left out. */
  eventNames(env: string, eventIds: readonly string[]): Promise<readonly EventNames[]>;
  /** Payloads up to a size, in no order. */
  runPayloads(env: string, runIds: readonly string[], bytesMax: number): Promise<readonly RunPayload[]>;
  /** Of these runs, in no order; one that never failed is left out. */
  lastFailures(env: string, runIds: readonly string[]): Promise<readonly LastFailure[]>;
  /** Inputs of a run's steps and waits, and the runs they are for, in no order; those with neither are left out. */
  stepInputs(env: string, runId: string, bytesMax: number): Promise<readonly StepGiven[]>;
  /** The lines of the run's logger, as `readLog` takes them; null when there is no such run. */
  runLog(env: string, runId: string): Promise<RunLog | null>;
  /** Of one step, whole; null for nothing, and for a step nobody knows. */
  stepInput(env: string, runId: string, stepId: string): Promise<string | null>;
  /** The newest value that the code of each of these runs made, in no order; one that has made nothing yet is left out. */
  lastOutcomes(env: string, runIds: readonly string[]): Promise<readonly LastOutcome[]>;
  /** Environments that have functions, in the order of their names. */
  environments(): Promise<readonly string[]>;
  /** Those that have settings of this kind. */
  settingEnvironments(kind: string): Promise<readonly string[]>;
  /** Workers of all environments in the order they began, those that are gone while their row is kept; their leases of all, or of one. */
  workers(leasedIn?: string): Promise<readonly WorkerRow[]>;
  /** Events by a value of their data, of those that keep such values. */
  valuesFound(env: string, filter: ValueFilter): Promise<readonly FoundValue[]>;
  /** Newest first. */
  runPage(env: string, filter: RunPageFilter): Promise<Page<RunSummary, string>>;
  /** Newest first. */
  eventPage(env: string, filter: EventPageFilter): Promise<Page<EventSummary, string>>;
  /** Newest first, by event and then by function. */
  decisionPage(env: string, filter: DecisionPageFilter): Promise<Page<Decision, DecisionCursor>>;
}

/**
 * `run`: a few rows by their names, as runs need them while they execute. `page`: as many rows as a list, a count or a search looks at. A store that has a
 * handle to spare answers these apart, so that no commit waits for them.
 */
export const readKinds: Readonly<Record<keyof StoreReads, "run" | "page">> = {
  now: "run",
  functions: "run",
  run: "run",
  held: "run",
  runs: "page",
  runMemo: "run",
  runHistory: "page",
  metadata: "run",
  channels: "run",
  messages: "run",
  event: "run",
  eventByCallerId: "run",
  events: "page",
  duplicatesOf: "page",
  decisionsOfEvent: "run",
  decisionsOfEvents: "page",
  duplicatesOfRun: "page",
  claim: "run",
  claimNow: "run",
  claims: "page",
  waitPaths: "run",
  awaitedNames: "page",
  waitCandidates: "run",
  cancelCandidates: "run",
  crons: "run",
  limitUses: "page",
  buffer: "run",
  pendingCounts: "page",
  counts: "page",
  lines: "page",
  oldestDue: "page",
  settings: "run",
  auditPage: "page",
  alerts: "page",
  alert: "run",
  alertPairs: "page",
  openAlertCount: "run",
  radarPosition: "run",
  arrivals: "page",
  hourCounts: "page",
  liveCounts: "page",
  endCounts: "page",
  slips: "page",
  groupRuns: "page",
  runStarts: "page",
  eventNames: "page",
  runPayloads: "page",
  lastFailures: "page",
  stepInputs: "page",
  runLog: "page",
  stepInput: "run",
  lastOutcomes: "page",
  environments: "run",
  settingEnvironments: "run",
  workers: "page",
  valuesFound: "page",
  runPage: "page",
  eventPage: "page",
  decisionPage: "page",
};

/** A list for people, which may be asked of a store of any size. */
export interface Page<Row, Cursor> {
  readonly rows: readonly Row[];
  /** The place to continue from; null when nothing older is left. A page can be short, even empty, with more behind it. */
  readonly next: Cursor | null;
}

export interface PageBounds {
  /** Not older than this instant, by the store's clock. */
  readonly since?: number;
  /** Older than this instant. */
  readonly until?: number;
  readonly limit: number;
  /** At most this many rows are looked at for one page: a filter without an index must not hold up the commits of others. */
  readonly examinedMax: number;
}

export interface RunPageFilter extends PageBounds {
  readonly fn?: string;
  readonly state?: RunState;
  /** Only runs that have not ended: found without reading history. */
  readonly isOpen?: true;
  readonly eventId?: string;
  /** Canonical JSON, as runs have it. */
  readonly key?: string;
  /** Only runs that ended then or later, and before then; none that is open. */
  readonly endedSince?: number;
  readonly endedUntil?: number;
  readonly before?: string;
  /**
   * Another order among the rows that are looked at, `examinedMax` of them, newest first as ever: the first `limit` of it. `next` is then
   * where those that were not looked at begin. Runs that have not begun are left out.
   */
  readonly sort?: RunSort;
}

/** A run without its payload. */
export interface RunSummary extends Omit<Run, "result"> {
  /** The first characters of its result. */
  readonly preview: string | null;
}

export interface EventPageFilter extends PageBounds {
  readonly name?: string;
  /** Something was decided for this function. */
  readonly fn?: string;
  readonly outcome?: EventOutcome;
  readonly before?: string;
}

/** An event without its payload. */
export interface EventSummary extends Omit<Event, "data" | "extra"> {
  readonly dataBytes: number;
}

export interface DecisionCursor {
  readonly eventId: string;
  readonly fn: string;
}

export interface DecisionPageFilter extends PageBounds {
  readonly fn?: string;
  readonly kinds?: readonly DecisionKind[];
  /** Only those that somebody or something may still act on: held, paused, in a buffer. Found without reading history. */
  readonly isPending?: true;
  /** The other way round, with `isPending` only and from the oldest on: who decides what a page shows, asks for the next without a cursor. */
  readonly oldestFirst?: true;
  readonly before?: DecisionCursor;
}

/** Beyond it nobody needs the exact number, and commits wait while it is counted. */
export const pendingCountedMax = 100_000;

/** Characters of a result that a summary shows. */
export const previewChars = 80;

export interface OpenCounts {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly parked: number;
  /** Of the queued and waiting: how many could run now. */
  readonly due: number;
}

/** Slots that runs at work hold of their function's first limit and of its second, beside their own (docs/decisions/0053). */
export interface SlotsBeside {
  readonly beside1: number;
  readonly beside2: number;
}

export interface OpenSlots extends OpenCounts, SlotsBeside {}

export const nothingOpen: OpenSlots = { queued: 0, running: 0, waiting: 0, parked: 0, due: 0, beside1: 0, beside2: 0 };

/** Of one function, without what its runs hold. */
export function openOf(byFunction: Readonly<Record<string, OpenSlots>>, fn: string): OpenCounts {
  const { beside1, beside2, ...open } = byFunction[fn] ?? nothingOpen;
  return open;
}

export interface LineFilter {
  /** With it, one line for each of its lanes. */
  readonly fn?: string;
  readonly limit: number;
}

export interface Line extends SlotsBeside {
  readonly fn: string;
  /** As laneText wrote it; null for runs without limits, and where lanes were not asked for. */
  readonly lane: string | null;
  /** Runs that could begin, or go on, if there were room and a worker. */
  readonly queued: number;
  readonly running: number;
  /** The first of the queued; null where there is none. */
  readonly oldestId: string | null;
}

export interface StoreCounts {
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly parked: number;
  /** Due jobs by function, for functions that nobody here can run. */
  readonly dueByFunction: Readonly<Record<string, number>>;
  /** Functions with open runs. */
  readonly byFunction: Readonly<Record<string, OpenSlots>>;
}
