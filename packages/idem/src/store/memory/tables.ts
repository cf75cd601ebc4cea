// The tables of the memory store: maps of frozen rows. A row is replaced, never changed, so what was given out stays as it
// was; and every change is journalled, so an operation that throws leaves nothing behind.

import type { CancelRule } from "../../flow/cancel-on/plan.ts";
import type { Beside } from "../../flow/concurrency/beside.ts";
import type { BufferRule } from "../../flow/plan.ts";
import type { Claim, Instant } from "../../model/claim.ts";
import type { Decision } from "../../model/decision.ts";
import type { Event } from "../../model/event.ts";
import type { EventValue } from "../../model/event-values.ts";
import type { NewLog } from "../../model/log-line.ts";
import type { EndState, LostWorkers, Parked, ParkReason, Run } from "../../model/run.ts";
import type { FailedAttempt, Outcome, Step } from "../../model/step.ts";
import type { Wait } from "../../model/wait.ts";
import type { Alert, AlertPair, RadarPosition } from "../alerts.ts";
import type { AuditInput, AuditRow } from "../audit.ts";
import type { NewMessage } from "../channels.ts";
import type { DecisionCount, GroupRun, Slip } from "../counts.ts";
import type { EndCount } from "../ends.ts";
import type { CronRow } from "../flow.ts";
import type { RegisteredFunction } from "../functions.ts";
import type { StartPair } from "../ingest.ts";
import type { Metadata } from "../metadata.ts";
import type { Setting } from "../settings.ts";
import type { WorkerAbout } from "../sharing.ts";

/** When an operation happens: one reading of the store's clock, and stamps that grow. */
export interface Moment extends Instant {
  stamp(): number;
}

/** Its limits are settings. */
export interface FunctionRow extends Omit<RegisteredFunction, "limits"> {
  readonly archived: boolean;
}

export interface EventRow extends Event {
  readonly stamp: number;
}

export interface RunRow extends Omit<Run, "state" | "dueAt" | "parked" | "lost"> {
  readonly endState: EndState | null;
  /** The fence that ended it; tells a repeated end from somebody else's. Null when it was cancelled. */
  readonly endedFence: number | null;
  /** The first run of its chain of reruns: itself unless it is a rerun. */
  readonly rootRunId: string;
  /** The newest run of the chain; kept up to date on the root only. */
  readonly newestRunId: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** The events it carries, its own first; more than one only in a batch. */
  readonly events: readonly string[];
  /** The function keys it took: its own, or those of the events in its batch. */
  readonly keys: readonly string[];
  readonly singleton: string | null;
  /** The lane it was created in, for a job that has to be made again. */
  readonly lane: string | null;
}

export interface WaitRow extends Wait {
  readonly repeat: number;
  readonly onTimeout: Outcome;
  readonly path: string;
  readonly value: string;
  readonly stamp: number;
  readonly input: string | null;
}

/** A step, with facts for people that its memo does not have. */
export interface StepRow extends Step {
  readonly input: string | null;
  readonly childRunId: string | null;
}

export interface AttemptRow extends FailedAttempt {
  readonly input: string | null;
}

/** A rule of an open run, kept until the run ends. */
export interface CancelRow extends CancelRule {
  readonly runId: string;
  readonly stamp: number;
  /** From this instant on it no longer counts; null while the run is open. */
  readonly endsAt: number | null;
}

/** One event that waits for the run of its buffer, and how that run would be started for it. */
export interface BufferItem {
  readonly eventId: string;
  readonly pair: StartPair;
}

export interface BufferRow {
  readonly fn: string;
  readonly kind: BufferRule["kind"];
  readonly key: string;
  readonly firstAt: number;
  readonly dueAt: number;
  /** In the order they arrived. */
  readonly items: readonly BufferItem[];
  readonly bytes: number;
}

interface JobBase {
  readonly id: string;
  readonly rank: number;
  readonly dueAt: number | null;
  readonly fence: number;
  readonly leasedBy: string | null;
  readonly lost: LostWorkers | null;
  /** It lost workers and was put off: its code is not entered before. */
  readonly enterAt: number | null;
  readonly parked: Parked | null;
  /** The reason that a person last let it go on from. */
  readonly released: ParkReason | null;
  /** Leased as it was created. One that was leased later is not to be taken for it: its worker knows. */
  readonly isBornLeased: boolean;
}
/** Of a job that nothing happened to yet. */
export const untroubled = { lost: null, enterAt: null, parked: null, released: null } as const;

export interface RunJob extends JobBase {
  readonly kind: "run";
  readonly fn: string;
  /** As laneText wrote it; null for a run that takes no slots and is not spaced. */
  readonly lane: string | null;
  /** The lane's slots that it holds beside its own, while it is leased. */
  readonly beside: Beside;
  /** Of the last commit that said so. */
  readonly besideTurn: number;
  /** From then on it is leased past its lane; null once it has begun. */
  readonly startBy: number | null;
}
export interface DeliverJob extends JobBase {
  readonly kind: "deliver";
  readonly eventId: string;
}
/** The end of a run that the store itself cancelled, of which others are still to hear. */
export interface AnnounceJob extends JobBase {
  readonly kind: "announce";
  readonly runId: string;
}
/** A run's job has the run's id. */
export type JobRow = RunJob | DeliverJob | AnnounceJob;

export interface WorkerRow {
  readonly about: WorkerAbout | null;
  readonly startedAt: number;
  readonly beatAt: number | null;
  readonly until: number;
  readonly dead: boolean;
}

/** The due time of a job that only an event, a signal or another run can make due. */
export const never = Number.MAX_SAFE_INTEGER;

export const isDue = (job: Pick<JobRow, "dueAt">, at: Moment): boolean => job.dueAt === null || job.dueAt <= at.now;

export interface Channel {
  readonly base: number;
  readonly floor: number;
  readonly last: number;
  readonly bytes: number;
  readonly at: number;
  readonly messages: readonly (NewMessage & { readonly place: number; readonly size: number; readonly at: number })[];
}

type Journal = (() => void)[];

export class Rows<R> {
  private readonly rows = new Map<string, R>();

  constructor(private readonly journal: Journal) {}

  get(key: string): R | undefined {
    return this.rows.get(key);
  }

  has(key: string): boolean {
    return this.rows.has(key);
  }

  put(key: string, row: R): void {
    this.remember(key);
    this.rows.set(key, freeze(row));
  }

  delete(key: string): void {
    if (!this.rows.has(key)) return;
    this.remember(key);
    this.rows.delete(key);
  }

  /** A list of its own: the table may change while it is walked. In no order. */
  all(): R[] {
    return [...this.rows.values()];
  }

  entries(): [string, R][] {
    return [...this.rows.entries()];
  }

  private remember(key: string): void {
    const before = this.rows.get(key);
    this.journal.push(before === undefined ? () => this.rows.delete(key) : () => this.rows.set(key, before));
  }
}

/** Everything one environment has. Nothing in here can name a row of another one. */
export class Tables {
  readonly meta: Rows<number>;
  readonly functions: Rows<FunctionRow>;
  readonly events: Rows<EventRow>;
  /** By event, in the order of their functions. */
  readonly decisions: Rows<readonly Decision[]>;
  readonly claims: Rows<Claim>;
  readonly runs: Rows<RunRow>;
  /** By run, in the order of their stamps, as are attempts and waits. */
  readonly steps: Rows<readonly StepRow[]>;
  readonly attempts: Rows<readonly AttemptRow[]>;
  /** By run: what each commit brought of its lines, and how much all of it was. */
  readonly logs: Rows<readonly NewLog[]>;
  readonly logBytes: Rows<number>;
  readonly waits: Rows<readonly WaitRow[]>;
  readonly jobs: Rows<JobRow>;
  readonly audit: Rows<AuditRow>;
  /** By run. */
  readonly cancelRules: Rows<readonly CancelRow[]>;
  /** By function, kind and key, as bufferId writes it. */
  readonly buffers: Rows<BufferRow>;
  /** By the rate limit's id: when the runs began that it may still count, the oldest first. */
  readonly rateStarts: Rows<readonly number[]>;
  /** By the throttle's name: when its next start is due if all had come evenly. */
  readonly throttles: Rows<number>;
  /** By function and schedule. */
  readonly crons: Rows<CronRow>;
  /** By kind and name. */
  readonly settings: Rows<Setting>;
  /** By event. */
  readonly values: Rows<readonly EventValue[]>;
  /** By run. */
  readonly metadata: Rows<readonly Metadata[]>;
  /** By hour and function. */
  readonly hourCounts: Rows<DecisionCount>;
  /** By step, stretch and function. */
  readonly endCounts: Rows<EndCount & { readonly step: number }>;
  /** The place up to which decisions are counted, under "". */
  readonly countedTo: Rows<string>;
  readonly slips: Rows<Slip & Pick<GroupRun, "isAfterFailure">>;
  readonly alerts: Rows<Alert>;
  /** The turn of pruning, under "". */
  readonly pruneTurn: Rows<{ readonly by: string; readonly until: number }>;
  /** By alert and later id. */
  readonly alertPairs: Rows<AlertPair & { readonly alertId: string }>;
  readonly radarPosition: Rows<RadarPosition>;
  /** By name, with all that is kept of it. */
  readonly channels: Rows<Channel>;

  constructor(
    journal: Journal,
    /** Slots are counted over all environments. */
    readonly database: Database,
  ) {
    this.meta = new Rows(journal);
    this.functions = new Rows(journal);
    this.events = new Rows(journal);
    this.decisions = new Rows(journal);
    this.values = new Rows(journal);
    this.claims = new Rows(journal);
    this.runs = new Rows(journal);
    this.steps = new Rows(journal);
    this.attempts = new Rows(journal);
    this.logs = new Rows(journal);
    this.logBytes = new Rows(journal);
    this.waits = new Rows(journal);
    this.jobs = new Rows(journal);
    this.audit = new Rows(journal);
    this.cancelRules = new Rows(journal);
    this.buffers = new Rows(journal);
    this.rateStarts = new Rows(journal);
    this.throttles = new Rows(journal);
    this.crons = new Rows(journal);
    this.settings = new Rows(journal);
    this.metadata = new Rows(journal);
    this.hourCounts = new Rows(journal);
    this.endCounts = new Rows(journal);
    this.countedTo = new Rows(journal);
    this.slips = new Rows(journal);
    this.alerts = new Rows(journal);
    this.pruneTurn = new Rows(journal);
    this.alertPairs = new Rows(journal);
    this.radarPosition = new Rows(journal);
    this.channels = new Rows(journal);
  }

  get registration(): number {
    return this.meta.get("registration") ?? 0;
  }

  claim(scope: string, key: string): Claim | null {
    return this.claims.get(claimKey(scope, key)) ?? null;
  }

  putClaim(claim: Claim): void {
    this.claims.put(claimKey(claim.scope, claim.key), claim);
  }

  deleteClaim(claim: Claim): void {
    this.claims.delete(claimKey(claim.scope, claim.key));
  }

  /** An act of a person, done by hand, and its reason. */
  addAudit(at: Moment, { action, subject, reason, actor = "" }: Omit<AuditInput, "env">): void {
    const id = String(at.stamp());
    this.audit.put(id, { id, at: at.now, actor, action, subject, reason });
  }

  waitsOf(runId: string): readonly WaitRow[] {
    return this.waits.get(runId) ?? [];
  }

  stepsOf(runId: string): readonly StepRow[] {
    return this.steps.get(runId) ?? [];
  }

  decision(eventId: string, fn: string): Decision | undefined {
    return this.decisions.get(eventId)?.find((decision) => decision.fn === fn);
  }

  /** Waits that fit, in the order they were registered. */
  findWaits(fits: (wait: WaitRow) => boolean): WaitRow[] {
    const found = this.waits.all().flatMap((waits) => waits.filter(fits));
    return found.sort((a, b) => a.stamp - b.stamp);
  }
}

export class Database {
  /** Workers hold jobs of any environment. */
  readonly workers: Rows<WorkerRow>;
  private readonly journal: Journal = [];
  private readonly environments = new Map<string, Tables>();

  constructor() {
    this.workers = new Rows(this.journal);
  }

  env(env: string): Tables {
    let tables = this.environments.get(env);
    if (tables === undefined) {
      tables = new Tables(this.journal, this);
      this.environments.set(env, tables);
    }
    return tables;
  }

  environmentsWith(holds: (tables: Tables) => boolean): string[] {
    return [...this.environments].flatMap(([env, tables]) => (holds(tables) ? [env] : [])).sort();
  }

  allEnvironments(): Tables[] {
    return [...this.environments.values()];
  }

  /** All of `change` or nothing of it. */
  transact<T>(change: () => T): T {
    try {
      return change();
    } catch (error) {
      for (const undo of this.journal.toReversed()) undo();
      throw error;
    } finally {
      this.journal.length = 0;
    }
  }
}

// The length makes it unambiguous, whatever characters scope and key have.
const claimKey = (scope: string, key: string): string => `${scope.length}:${scope}${key}`;

export const bufferId = ({ fn, kind, key }: Pick<BufferRow, "fn" | "kind" | "key">): string =>
  `${kind}:${fn.length}:${fn}${key}`;

export const cronId = (fn: string, cron: string): string => `${fn.length}:${fn}${cron}`;

function freeze<T>(row: T): T {
  if (typeof row !== "object" || row === null || Object.isFrozen(row)) return row;
  for (const part of Object.values(row)) freeze(part);
  return Object.freeze(row);
}
