// Random calls of a store from a seed. The generator reads the rows that the calls before have left, so nearly every call concerns a run, job or wait
// that exists. A few do not on purpose: stale fences, ended runs, waits that are gone, and repeats of earlier calls.
//
// Names are few (nine functions, three event names, two keys, five steps), so calls interact often.
import { type LaneCaps, laneText } from "../../flow/lane.ts";
import type { StartFlow } from "../../flow/plan.ts";
import type { NewLog } from "../../model/log-line.ts";
import type { Outcome } from "../../model/step.ts";
import type { NewWait } from "../../model/wait.ts";
import { Chance } from "../../server/fuzz/chance.suite.ts";
import type { AdvanceInput, NestedIngest } from "../advance.ts";
import {
  eventWait,
  failure,
  forever,
  newAttempt,
  newEvent,
  newStep,
  runWait,
  signalWait,
  startFlow,
  startPair,
  timeWait,
  value,
} from "../contract/world.ts";
import type { IngestInput, NewEvent, NewPair, StartPair } from "../ingest.ts";
import type { ResumeInput } from "../waits.ts";

/** Rows of one environment, as far as the generator reads them. */
export interface StoreRows {
  readonly jobs: readonly JobRow[];
  readonly runs: readonly RunRow[];
  readonly waits: readonly WaitRow[];
  readonly steps: readonly StepRow[];
  readonly events: readonly EventRow[];
  readonly claims: readonly ClaimRow[];
  readonly cancels: readonly { readonly event_name: string }[];
  readonly run_logs: readonly { readonly run_id: string; readonly part: string }[];
  readonly decisions: readonly { readonly event_id: string; readonly fn: string; readonly kind: string }[];
}

interface JobRow {
  readonly id: string;
  readonly kind: "run" | "deliver" | "announce";
  readonly run_id: string | null;
  readonly event_id: string | null;
  readonly fence: number;
  readonly leased_by: string | null;
  readonly lost_workers: number;
  readonly parked_at: number | null;
  readonly lane: string | null;
}

interface RunRow {
  readonly id: string;
  readonly fn: string;
  readonly key: string | null;
  readonly ended_state: string | null;
  readonly ended_fence: number | null;
  readonly awaited: number;
  readonly holds_key: number;
  readonly singleton: string | null;
}

interface WaitRow {
  readonly run_id: string;
  readonly step_id: string;
  readonly kind: NewWait["kind"];
  readonly event_name: string | null;
  readonly signal: string | null;
  readonly child_run_id: string | null;
  readonly timeout_at: number | null;
  readonly stamp: number;
}

interface StepRow {
  readonly run_id: string;
  readonly step_id: string;
  readonly worker: string | null;
  readonly stamp: number;
}

interface EventRow {
  readonly id: string;
  readonly name: string;
  readonly stamp: number;
}

interface ClaimRow {
  readonly scope: string;
  readonly key: string;
  readonly state: string;
  readonly held: number;
  readonly ends_at: number;
}

export type AdvancePatch = Omit<AdvanceInput, "seen">;

/**
 * A call, the same for both stores. Stamps differ between them, so an advance says by a word which of its run's outcomes its worker has seen:
 * all that were reported to it, or none.
 */
export type Call =
  | { readonly name: "advance"; readonly input: AdvancePatch; readonly seen: "reported" | "none" }
  | { readonly name: "ingest"; readonly input: IngestInput }
  | { readonly name: "resume"; readonly input: ResumeInput }
  | { readonly name: OtherOperation; readonly input: readonly unknown[] }
  | { readonly name: ReadName; readonly input: readonly unknown[] };

type OtherOperation =
  | "register"
  | "pause"
  | "redecide"
  | "lease"
  | "signal"
  | "cancel"
  | "rerun"
  | "unpark"
  | "release"
  | "heartbeat"
  | "handBack"
  | "sweep";

export const readNames = ["run", "waitPaths", "waitCandidates", "cancelCandidates"] as const;
type ReadName = (typeof readNames)[number];

/** The batches of the hot path. */
export const batchKinds = ["saves", "ends", "suspensions", "invokes", "resumes", "ingests", "reads"] as const;
/** "single": calls that no batch takes. */
export type GroupKind = (typeof batchKinds)[number] | "single";

/** Calls that are submitted at once, or one after another where no batch takes them. */
export interface Group {
  readonly kind: GroupKind;
  readonly calls: readonly Call[];
  /** Time that passes before them. */
  readonly afterMs: number;
}

/** Each is named after its flow option. */
const functionNames = [
  "plain",
  "keyed",
  "slots",
  "spaced",
  "rated",
  "single",
  "gathered",
  "settled",
  "stoppable",
] as const;
type FunctionName = (typeof functionNames)[number];

/** Only these are looked up by their names, when a buffer is flushed. */
const buffered = ["gathered", "settled"] as const satisfies readonly FunctionName[];

export const eventNames = ["paid", "shipped", "stop"] as const;
const keys = ['"k1"', '"k2"'] as const;
const callerIds = ["c1", "c2"] as const;
const signals = ["s1", "s2"] as const;
const stepIds = ["a", "b", "c", "d", "e"] as const;
const waitIds = ["v", "w", "x", "y"] as const;

const throttle = { limit: 1, periodMs: 40, burst: 2 } as const;
const capsOf: Readonly<Partial<Record<FunctionName, LaneCaps>>> = {
  slots: { slots: [2], throttle: null },
  spaced: { slots: [3], throttle },
  single: { slots: [1], throttle: null },
};

/** How long a worker lives after its last heartbeat. */
const workerTermMs = 2_000;
const logTextBytes = { usual: 20, large: 150_000 } as const;

export class RandomCalls {
  private readonly random: Chance;
  private counter = 0;
  private now = 0;
  private readonly times = new Set<number>();
  private workers: string[];
  /** The newest that a call was answered with. */
  registration = 0;
  private before: Group | null = null;
  /** Names of events that runs wait for. */
  private awaited: readonly string[] = [];
  private logs: StoreRows["run_logs"] = [];
  /** How many groups are still for runs that lost a worker. */
  private lostGroups = 0;
  /** Groups that come next, whatever is drawn. */
  private readonly planned: Group[];

  constructor(
    seed: number,
    private readonly env: string,
  ) {
    // Seeds that follow each other begin far apart.
    this.random = new Chance(Math.imul(seed + 1, 0x9e3779b1));
    this.workers = [this.newWorker(), this.newWorker()];
    const register: Call = { name: "register", input: [this.registrationInput()] };
    this.planned = [this.single(register, ...this.workers.map((worker) => this.heartbeat(worker)))];
  }

  /** `now`: when the group before was executed. */
  next(rows: StoreRows, now: number): Group {
    const afterMs = 1 + this.random.below(12);
    this.now = now + afterMs;
    this.awaited = rows.waits.flatMap(({ event_name }) => event_name ?? []);
    this.logs = rows.run_logs;
    const group = this.planned.shift() ?? this.chooseGroup(rows, afterMs);
    if (group.kind !== "reads") this.before = group;
    return group;
  }

  private chooseGroup(rows: StoreRows, afterMs: number): Group {
    const lost = rows.jobs.filter(({ lost_workers, leased_by }) => lost_workers > 0 && leased_by !== null);
    if (lost.length > 0 && this.lostGroups > 0) {
      this.lostGroups--;
      const kind = this.random.of(["saves", "saves", "suspensions", "invokes", "ends"] as const);
      const calls = this.callsOf(kind, { ...rows, jobs: lost });
      if (calls !== null) return { kind, calls, afterMs };
    }
    for (;;) {
      const kind = this.weighted({
        ingests: rows.runs.length < 4 ? 40 : rows.waits.some(({ kind }) => kind === "event") ? 14 : 8,
        lease: 10,
        saves: 11,
        ends: rows.runs.some(isAwaitedOpen) ? 24 : 10,
        suspensions: 14,
        invokes: 13,
        resumes: 30,
        reads: 3,
        other: 26,
        repeat: 6,
      });
      const calls = this.callsOf(kind, rows);
      if (calls === null || calls.length === 0) continue;
      if (kind === "repeat") return { kind: this.before!.kind, calls, afterMs };
      return { kind: kind === "lease" || kind === "other" ? "single" : kind, calls, afterMs };
    }
  }

  /** Null where there is nothing to call. */
  private callsOf(kind: string, rows: StoreRows): readonly Call[] | null {
    switch (kind) {
      case "ingests":
        return this.several(3, () => this.ingest()).flatMap((call) =>
          this.random.is(0.1) ? [call, { ...call }] : [call],
        );
      case "lease":
        return [this.lease()];
      case "saves":
        // Steps that run in parallel end together.
        return this.ofLeased(rows, 6, (job) => this.save(job), 0.4);
      case "ends":
        return this.ofLeased(this.random.is(0.5) ? onlyAwaited(rows) : rows, 6, (job) => this.end(job));
      case "suspensions":
        return this.ofLeased(rows, 5, (job) => this.suspend(job));
      case "invokes":
        return this.ofLeased(rows, 5, (job) => this.invoke(job));
      case "resumes":
        return this.resumes(rows);
      case "reads":
        return this.reads(rows);
      case "repeat":
        return this.before === null || this.before.kind === "single" ? null : this.some(this.before.calls);
      default: {
        const call = this.other(rows);
        return call === null ? null : [call];
      }
    }
  }

  // -------------------------------------------------------------------------------------------- the batches' calls

  private ingest(): Call {
    const events: NewEvent[] = [];
    const pairs: NewPair[] = [];
    const count = 1 + Number(this.random.is(0.25));
    for (let event = 0; event < count; event++) {
      events.push(this.event(0.15));
      const starts = new Set(Array.from({ length: this.random.below(4) }, () => this.random.of(functionNames)));
      for (const fn of starts) pairs.push(this.random.is(0.06) ? this.held(event, fn) : this.start(event, fn));
    }
    const input: IngestInput = {
      env: this.env,
      registration: this.anyRegistration(),
      events,
      pairs,
      leaseTo: this.random.is(0.8) ? this.worker() : null,
      ...(this.random.is(0.05) ? { byHand: { actor: "operator", reason: "by hand" } } : {}),
    };
    return { name: "ingest", input };
  }

  private save(job: JobRow): Call {
    const stepId = this.random.of(stepIds);
    const step = newStep(stepId, {
      outcome: this.outcome(),
      input: this.random.is(0.2) ? `[${this.random.below(9)}]` : null,
      attempt: 1 + this.random.below(2),
      startedAt: this.now - 1,
      endedAt: this.now,
    });
    return this.advance(job, { steps: [step], ...this.maybeLog(job, 0.45) });
  }

  private end(job: JobRow): Call {
    return this.advance(job, { next: this.endOf(false), ingest: this.maybeEndEvents(), ...this.maybeLog(job, 0.35) });
  }

  private suspend(job: JobRow): Call {
    return this.advance(job, {
      waits: [this.random.is(0.35) ? this.timeWait() : this.eventWait()],
      next: { kind: "suspend", dueAt: this.random.is(0.2) ? this.later() : null },
      ...(this.random.is(0.08) ? { beside: { turn: this.id(), keep: 0, want: 1, caps: [2] } } : {}),
    });
  }

  private invoke(job: JobRow): Call {
    const fn = this.random.is(0.5) ? "keyed" : "plain";
    return this.advance(job, {
      ingest: {
        registration: this.anyRegistration(),
        events: [this.event(0.04)],
        pairs: [this.start(0, fn, this.random.is(0.3))],
      },
      waits: [this.runWait(0)],
      next: forever,
    });
  }

  private resumes(rows: StoreRows): readonly Call[] | null {
    const reachedBy = ({ name, stamp }: EventRow) =>
      rows.waits.filter((wait) => wait.event_name === name && wait.stamp < stamp);
    const leased = rows.jobs.filter(({ kind, leased_by }) => kind === "deliver" && leased_by !== null);
    const eventOf = (job: JobRow) => rows.events.find(({ id }) => id === job.event_id)!;
    // Most deliveries are for events that only a rule that cancels waits for: a few of them are enough.
    const deliveries = leased.filter((job) => reachedBy(eventOf(job)).length > 0 || this.random.is(0.1));
    if (deliveries.length === 0) return null;
    return this.several(Math.min(4, deliveries.length + 1), () => {
      const job = this.random.of(deliveries);
      const event = eventOf(job);
      const reached = reachedBy(event);
      const waits = [...this.some(reached, 0.8)];
      const others = rows.waits.filter(({ kind }) => kind === "event");
      if (others.length > 0 && this.random.is(0.15)) waits.push(this.random.of(others));
      const named = new Map(waits.map((wait) => [`${wait.run_id} ${wait.step_id}`, wait]));
      const input: ResumeInput = {
        env: this.env,
        jobId: job.id,
        fence: this.random.is(0.9) ? job.fence : job.fence + 1,
        waits: [...named.values()].map(({ run_id, step_id }) => ({ runId: run_id, stepId: step_id })),
        outcome: value(event.id),
      };
      if (this.random.is(0.1)) return { name: "resume", input: { ...input, waits: [...input.waits, gone] } };
      return { name: "resume", input };
    });
  }

  private reads(rows: StoreRows): readonly Call[] | null {
    if (rows.events.length === 0 || rows.runs.length === 0) return null;
    return this.several(8, (): Call => {
      const event = this.random.of(rows.events);
      const probes = this.random.is(0.5) ? [{ path: "event.data.n", value: "1" }] : [];
      switch (this.random.of(readNames)) {
        case "run":
          return { name: "run", input: [this.env, this.random.is(0.9) ? this.random.of(rows.runs).id : "none"] };
        case "waitPaths":
          return { name: "waitPaths", input: [this.env, this.random.of(eventNames)] };
        case "waitCandidates":
          return { name: "waitCandidates", input: [this.env, event.id, probes] };
        default:
          return { name: "cancelCandidates", input: [this.env, event.id, probes] };
      }
    });
  }

  // -------------------------------------------------------------------------------------------- calls that no batch takes

  private other(rows: StoreRows): Call | null {
    const kind = this.weighted({
      advance: 50,
      cancel: 6,
      signal: rows.waits.some(({ signal }) => signal !== null) ? 25 : 2,
      handBack: 2,
      lose: 12,
      rerun: 4,
      unpark: 4,
      release: 3,
      pause: 2,
      register: 1,
      redecide: 3,
    });
    const ended = rows.runs.filter(({ ended_state }) => ended_state !== null);
    const parked = rows.jobs.filter(({ parked_at }) => parked_at !== null);
    const held = rows.decisions.filter((decision) => decision.kind === "held");
    const { env } = this;
    switch (kind) {
      case "advance":
        return this.ofLeased(rows, 1, (job) => this.otherAdvance(job))?.[0] ?? null;
      case "cancel": {
        if (rows.runs.length === 0) return null;
        const runId = this.random.of(rows.runs).id;
        const ingest = this.maybeEndEvents();
        const releaseKey = this.random.is(0.5);
        return { name: "cancel", input: [{ env, runId, result: '"cancelled"', releaseKey, ingest }] };
      }
      case "signal":
        return { name: "signal", input: [env, this.random.of(signals), this.outcome()] };
      case "handBack":
      case "lose":
        return this.endWorker(kind, rows);
      case "rerun":
        if (ended.length === 0) return null;
        return {
          name: "rerun",
          input: [
            {
              env,
              runId: this.random.of(ended).id,
              newRunId: this.newId(),
              rank: this.id(),
              leaseTo: this.random.is(0.7) ? this.worker() : null,
              lane: null,
              cancelOn: [],
              ...(this.random.is(0.5) ? { from: { stepId: this.random.of(stepIds), name: "a", input: null } } : {}),
            },
          ],
        };
      case "unpark":
        return parked.length === 0
          ? null
          : { name: "unpark", input: [{ env, runId: this.random.of(parked).run_id!, byHand: { reason: "seen" } }] };
      case "release": {
        const scope = "fn:keyed";
        return { name: "release", input: [{ env, scope, key: this.random.of(keys), fence: null, reason: "asked" }] };
      }
      case "pause":
        return {
          name: "pause",
          input: [{ env, fn: this.random.of(buffered), paused: this.random.is(0.5), reason: "" }],
        };
      case "register":
        return { name: "register", input: [this.registrationInput()] };
      default: {
        if (held.length === 0) return null;
        const { event_id: eventId, fn } = this.random.of(held);
        const pair = this.start(0, fn as FunctionName, true, false);
        return { name: "redecide", input: [{ env, registration: null, eventId, pair, reason: "released" }] };
      }
    }
  }

  private otherAdvance(job: JobRow): Call {
    const kind = this.weighted({
      collect: 5,
      attempt: 3,
      signal: 10,
      waits: 6,
      invokeTwo: 8,
      keepAndInvoke: 6,
      news: 4,
      park: 6,
      endWithSteps: 2,
      endAndRelease: 3,
      endAndStart: 2,
      slots: 3,
      enterLater: 1,
    });
    const suspend = { kind: "suspend", dueAt: this.random.is(0.4) ? this.later() : null } as const;
    const keep = { kind: "continue", collect: false } as const;
    switch (kind) {
      case "collect":
        return this.advance(job, {
          steps: this.some(stepIds, 0.3).map((id) => newStep(id)),
          next: { kind: "continue", collect: true },
        });
      case "attempt":
        return this.advance(job, {
          attempts: [newAttempt(this.random.of(stepIds), 1 + this.random.below(3))],
          next: suspend,
          ...this.maybeLog(job, 0.3),
        });
      case "signal": {
        const onTaken = this.random.is(0.5) ? "replace" : failure("taken");
        const wait = signalWait(this.random.of(waitIds), this.random.of(signals), { onTaken });
        return this.advance(job, { waits: [wait], next: suspend });
      }
      case "waits":
        return this.advance(job, {
          waits: [this.timeWait(), this.eventWait()],
          next: this.random.is(0.5) ? suspend : keep,
        });
      case "invokeTwo":
      case "keepAndInvoke": {
        const isTwo = kind === "invokeTwo";
        const pairs = [this.start(0, "plain", this.random.is(0.6)), this.start(1, "keyed", this.random.is(0.6))];
        return this.advance(job, {
          ingest: {
            registration: null,
            events: isTwo ? [this.event(0), this.event(0)] : [this.event(0)],
            pairs: isTwo ? pairs : pairs.slice(0, 1),
          },
          waits: isTwo ? [this.runWait(0, "v"), this.runWait(1, "w")] : [this.runWait(0)],
          next: isTwo && this.random.is(0.6) ? forever : keep,
        });
      }
      case "news":
        return this.advance(job, { steps: [newStep(this.random.of(stepIds))], asNews: true });
      case "park":
        return this.advance(job, {
          waits: this.random.is(0.7) ? [this.eventWait()] : [],
          next: { kind: "park", why: { kind: "entries", reason: "parked" }, dueAt: null },
        });
      case "endWithSteps":
        return this.advance(job, { steps: [newStep(this.random.of(stepIds))], next: this.endOf(false) });
      case "endAndRelease":
        return this.advance(job, { next: this.endOf(true) });
      case "endAndStart":
        return this.advance(job, {
          ingest: { registration: this.registration, events: [this.event(0)], pairs: [this.start(0, "single")] },
          next: this.endOf(false),
        });
      case "slots":
        return this.advance(job, {
          beside: { turn: this.id(), keep: this.random.below(2), want: 1, caps: [2] },
          next: keep,
        });
      default:
        return this.advance(job, { next: { kind: "suspend", dueAt: null, enterAt: this.later() } });
    }
  }

  /** A worker with work stops, or is silent for too long. Another one takes its place and its work. */
  private endWorker(how: "handBack" | "lose", rows: StoreRows): Call {
    const jobs = (of: string) => rows.jobs.filter(({ leased_by }) => leased_by === of).length;
    const worker = this.workers.toSorted((a, b) => jobs(b) - jobs(a))[0]!;
    const others = this.workers.filter((each) => each !== worker);
    const successor = this.newWorker();
    this.workers = [...others, successor];
    const arrival = this.heartbeat(successor);
    if (how === "handBack") {
      this.planned.push(this.single(arrival));
      return { name: "handBack", input: [worker] };
    }
    this.lostGroups = 2;
    const sweep: Call = { name: "sweep", input: [{ max: 100, repair: false }] };
    const beats = others.map((other) => this.heartbeat(other));
    this.planned.push({ ...this.single(...beats, sweep, arrival, this.lease()), afterMs: workerTermMs + 1 });
    return this.heartbeat(worker);
  }

  private lease(): Call {
    return {
      name: "lease",
      input: [
        {
          env: this.env,
          worker: this.worker(),
          functions: functionNames,
          caps: capsOf,
          max: 100,
          codes: { plain: "c1" },
        },
      ],
    };
  }

  private heartbeat(worker: string): Call {
    return { name: "heartbeat", input: [worker, workerTermMs, { node: "n", version: "1", role: "worker" }] };
  }

  private registrationInput() {
    const config = JSON.stringify({ version: this.id() });
    return { env: this.env, app: "shop", functions: buffered.map((fn) => ({ fn, id: fn, config, crons: [] })) };
  }

  // -------------------------------------------------------------------------------------------- parts of calls

  /** Calls for runs at work; a few for runs that have ended, or with a fence or worker that is not the holder's. */
  private ofLeased(rows: StoreRows, max: number, make: (job: JobRow) => Call, sameRun = 0.12): readonly Call[] | null {
    const leased = rows.jobs.filter(({ kind, leased_by }) => kind === "run" && leased_by !== null);
    if (leased.length === 0) return null;
    const ended = rows.runs.filter(({ ended_state }) => ended_state !== null);
    const calls: Call[] = [];
    const left = [...leased];
    for (let count = 1 + this.random.below(max); calls.length < count; ) {
      const isAgain = this.random.is(sameRun);
      const job = isAgain ? this.random.of(leased) : left.splice(this.random.below(left.length), 1)[0];
      if (job === undefined) break;
      if (ended.length > 0 && this.random.is(0.06)) {
        const { id, ended_fence } = this.random.of(ended);
        calls.push(make({ ...job, id, run_id: id, fence: ended_fence ?? 1 }));
      } else if (this.random.is(0.07)) {
        calls.push(make(this.random.is(0.5) ? { ...job, fence: job.fence - 1 } : { ...job, leased_by: "stranger" }));
      } else calls.push(make(job));
      // The same call again while the first one is on its way.
      if (this.random.is(0.07)) calls.push({ ...calls.at(-1)! });
    }
    return calls;
  }

  private advance(job: JobRow, patch: Partial<AdvancePatch>): Call {
    const { env } = this;
    const input: AdvancePatch = {
      env,
      worker: job.leased_by!,
      runId: job.run_id!,
      jobId: job.id,
      fence: job.fence,
      steps: [],
      attempts: [],
      waits: [],
      ingest: null,
      next: { kind: "continue", collect: false },
      ...patch,
    };
    return { name: "advance", input, seen: this.random.is(0.93) ? "reported" : "none" };
  }

  private event(callerChance: number): NewEvent {
    const id = this.newId("e");
    return newEvent(id, {
      callerId: this.random.is(callerChance) ? this.random.of(callerIds) : null,
      windowMs: this.random.of([40, 60_000]),
      name: this.random.of(this.awaited.length > 0 && this.random.is(0.6) ? this.awaited : eventNames),
      data: `{"n":${this.random.below(3)}}`,
      ts: this.now - this.random.below(20),
      ...(this.random.is(0.1) ? { values: [{ path: "event.data.n", word: "1", value: "1" }] } : {}),
    });
  }

  private held(event: number, fn: FunctionName): NewPair {
    return { kind: "held", event, fn, reason: "held by an operator" };
  }

  private start(event: number, fn: FunctionName, isLeased = this.random.is(0.65), hasFlow = true): StartPair {
    const key = fn === "keyed" || (fn === "gathered" && this.random.is(0.5)) ? this.random.of(keys) : null;
    return startPair(this.newId(), {
      event,
      fn,
      key,
      windowMs: this.random.of([30, 60_000]),
      hold: key !== null && this.random.is(0.3),
      rank: this.id(),
      dueAt: hasFlow && this.random.is(0.08) ? this.later() : null,
      leaseTo: isLeased ? this.worker() : null,
      ...(this.random.is(0.3) ? { code: "c2" } : {}),
      flow: hasFlow ? this.flow(fn) : null,
    });
  }

  private flow(fn: FunctionName): StartFlow | null {
    const { env } = this;
    switch (fn) {
      case "slots": {
        const lane = { name: laneText({ fn, slots: [`${env} slots`], throttle: null }), caps: capsOf.slots! };
        return startFlow({ lane, startWithinMs: this.random.is(0.3) ? 60 : null });
      }
      case "spaced": {
        const name = laneText({ fn, slots: [`${env} spaced`], throttle: `${env} spaced` });
        return startFlow({ lane: { name, caps: capsOf.spaced! } });
      }
      case "rated":
        return startFlow({ rateLimit: { id: "rated", limit: 2, periodMs: 60 } });
      case "single": {
        const key = this.random.of(keys);
        const releaseKey = this.random.is(0.5);
        const lane = { name: laneText({ fn, slots: [`${env} single`], throttle: null }), caps: capsOf.single! };
        return startFlow({
          lane,
          singleton: this.random.is(0.4)
            ? { key, mode: "skip" }
            : { key, mode: "cancel", result: '"replaced"', releaseKey },
        });
      }
      case "gathered":
        return startFlow({ buffer: { kind: "batch", key: "all", maxSize: 3, timeoutMs: 50, bytesMax: 1_000 } });
      case "settled":
        return startFlow({ buffer: { kind: "debounce", key: "all", periodMs: 25, timeoutMs: 60 } });
      case "stoppable": {
        const lastsMs = this.random.is(0.3) ? 40 : null;
        return startFlow({ cancelOn: [{ eventName: "stop", path: "", value: "", rest: null, lastsMs }] });
      }
      default:
        return null;
    }
  }

  private timeWait(): NewWait {
    const at = this.random.is(0.15) ? this.now - this.random.below(3) : this.later();
    return { ...timeWait(this.random.of(waitIds), at), input: this.random.is(0.2) ? '["10ms"]' : null };
  }

  private eventWait(): NewWait {
    const [path, match] = this.random.is(0.3) ? ["event.data.n", "1"] : ["", ""];
    return eventWait(this.random.of(waitIds), {
      eventName: this.random.of(eventNames),
      path,
      value: match,
      rest: this.random.is(0.2) ? "async.data.n > 0" : null,
      timeoutAt: this.random.is(0.4) ? this.later() : null,
      onTimeout: this.outcome(),
    });
  }

  private runWait(pair: number, stepId: string = this.random.of(waitIds)): NewWait {
    const timeoutAt = this.random.is(0.05) ? this.now - 1 : this.random.is(0.3) ? this.later() : null;
    return runWait(stepId, { pair, timeoutAt, input: this.random.is(0.2) ? '["child"]' : null });
  }

  private endOf(releaseKey: boolean) {
    const state = this.random.of(["completed", "completed", "failed", "cancelled"] as const);
    return { kind: "end", state, result: `"${state} ${this.id()}"`, releaseKey } as const;
  }

  /** What an end sends for whoever waits for it. */
  private maybeEndEvents(): NestedIngest | null {
    if (this.random.is(0.5)) return null;
    const events = this.several(2, () => ({ ...this.event(0), ifAwaited: true }));
    return { registration: this.anyRegistration(), events, pairs: [] };
  }

  private maybeLog({ run_id }: JobRow, probability: number): { readonly log: NewLog } | Record<string, never> {
    if (!this.random.is(probability)) return {};
    const brought = this.logs.filter((log) => log.run_id === run_id);
    if (brought.length > 0 && this.random.is(0.4)) {
      return { log: { part: this.random.of(brought).part, text: "l".repeat(logTextBytes.usual) } };
    }
    const bytes = this.random.is(0.25) ? logTextBytes.large : logTextBytes.usual;
    return { log: { part: `p${this.id()}`, text: "l".repeat(bytes) } };
  }

  private anyRegistration(): number | null {
    return this.weighted({ none: 50, current: 42, stale: 8 } as const) === "none"
      ? null
      : this.random.is(0.85)
        ? this.registration
        : this.registration - 1;
  }

  private outcome(): Outcome {
    return this.random.is(0.8) ? value(this.id()) : failure(this.id());
  }

  private worker(): string {
    return this.random.of(this.workers);
  }

  private newWorker(): string {
    return `${this.env} w${this.id()}`;
  }

  /** A time to come that nothing else is due at: which of two jobs of one rank is leased first is not defined. */
  private later(): number {
    let at = this.now + 5 + this.random.below(60);
    while (this.times.has(at)) at++;
    this.times.add(at);
    return at;
  }

  private id(): number {
    return ++this.counter;
  }

  /** In another order than that of creation: locks are taken in the order of ids. */
  private newId(prefix = "r"): string {
    return `${prefix}${this.random.of(["a", "b", "c", "d", "e", "f"])}${this.id()}`;
  }

  private several<T>(max: number, make: () => T): T[] {
    return Array.from({ length: 1 + this.random.below(max) }, make);
  }

  private some<T>(of: readonly T[], probability = 0.6): T[] {
    return of.filter(() => this.random.is(probability));
  }

  private single(...calls: readonly Call[]): Group {
    return { kind: "single", calls, afterMs: 1 };
  }

  private weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.random.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [kind, weight] of entries) {
      left -= weight;
      if (left < 0) return kind;
    }
    return entries[0]![0];
  }
}

const isAwaitedOpen = ({ awaited, ended_state }: RunRow): boolean => awaited === 1 && ended_state === null;

/** Ends wake runs that wait for them. */
function onlyAwaited(rows: StoreRows): StoreRows {
  const awaited = new Set(rows.runs.filter(isAwaitedOpen).map(({ id }) => id));
  const jobs = rows.jobs.filter(({ id }) => awaited.has(id));
  return jobs.length === 0 ? rows : { ...rows, jobs };
}

const gone = { runId: "none", stepId: "none" };
