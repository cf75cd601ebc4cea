// The world a contract test builds: one store, a clock that moves only when told, and rows with ordinary contents, so that a
// test says only what it is about.
import { expect, onTestFinished, test } from "vitest";
import { type LaneUse, laneText } from "../../flow/lane.ts";
import type { StartFlow } from "../../flow/plan.ts";
import type { ThrottleRule } from "../../flow/throttle/plan.ts";
import type { Decision } from "../../model/decision.ts";
import type { EndState } from "../../model/run.ts";
import type { Outcome } from "../../model/step.ts";
import type { NewWait } from "../../model/wait.ts";
import { dayMs } from "../../model/window.ts";
import type { AdvanceAnswer, Advanced, AdvanceInput, EndRun, NewFailedAttempt, NewStep } from "../advance.ts";
import type { Tick } from "../flow.ts";
import type { DecidedPair, Ingested, IngestInput, NewEvent, NewPair, StartPair } from "../ingest.ts";
import type { LeaseAnswer, LeasedJob, LeaseInput } from "../leases.ts";
import type { Store } from "../store.ts";

export interface TestClock {
  wallMs(): number;
  monoMs(): number;
  /** Time passes. */
  advance(ms: number): void;
  /** Somebody sets the wall clock; no time passes. */
  stepWall(ms: number): void;
}

export type OpenStore = () => Promise<{ readonly store: Store; readonly clock: TestClock }>;

export const env = "test";
export const fn = "shop-bill";
export const forever = { kind: "suspend", dueAt: null } as const;
export const keepGoing = { kind: "continue", collect: false } as const;
export const collect = { kind: "continue", collect: true } as const;

export const value = (json: unknown): Outcome => ({ kind: "value", json: JSON.stringify(json) });
export const failure = (json: unknown): Outcome => ({ kind: "error", json: JSON.stringify(json) });

export const newEvent = (id: string, over: Partial<NewEvent> = {}): NewEvent => ({
  id,
  callerId: null,
  windowMs: dayMs,
  name: "order/paid",
  data: '{"total":10}',
  ts: 5,
  extra: null,
  sourceRunId: null,
  ...over,
});

export const startPair = (runId: string, over: Partial<StartPair> = {}): StartPair => ({
  kind: "start",
  event: 0,
  fn,
  runId,
  key: null,
  windowMs: dayMs,
  hold: false,
  subject: `subject of ${runId}`,
  generation: `generation of ${runId}`,
  rank: 0,
  dueAt: null,
  leaseTo: null,
  reason: null,
  flow: null,
  ...over,
});

/** Nothing in its way: what a test names is added. */
export const startFlow = (over: Partial<StartFlow> = {}): StartFlow => ({
  buffer: null,
  rateLimit: null,
  singleton: null,
  lane: null,
  cancelOn: [],
  startWithinMs: null,
  ...over,
});

/** A lane that takes these slots, each with its cap. */
export const laneOf = (
  slots: Readonly<Record<string, number>>,
  over: { readonly fn?: string; readonly throttle?: readonly [string, ThrottleRule] } = {},
): LaneUse => {
  const [throttle, rule] = over.throttle ?? [null, null];
  return {
    name: laneText({ fn: over.fn ?? fn, slots: Object.keys(slots), throttle }),
    caps: { slots: Object.values(slots), throttle: rule },
  };
};

export const newTick = (cron: string, tickAt: number, over: Partial<StartPair> = {}): Tick => ({
  fn: over.fn ?? fn,
  cron,
  tickAt,
  event: newEvent(`tick of ${over.fn ?? fn} at ${tickAt}`, { name: "idem/scheduled.timer" }),
  pair: startPair(`run of ${cron} at ${tickAt}`, over),
  speaksFor: null,
});

/** Input of a rerun of a function without limits. */
export const plainRerun = { lane: null, cancelOn: [] };

export const decidedPair = (over: Partial<DecidedPair> = {}): DecidedPair => ({
  kind: "filtered",
  event: 0,
  fn,
  reason: "its filter was false",
  ...over,
});

export const newStep = (stepId: string, over: Partial<NewStep> = {}): NewStep => ({
  stepId,
  name: `name of ${stepId}`,
  repeat: 0,
  kind: "run",
  outcome: value(`from ${stepId}`),
  attempt: 1,
  startedAt: 1,
  endedAt: 2,
  ...over,
});

export const newAttempt = (
  stepId: string,
  attempt: number,
  over: Partial<NewFailedAttempt> = {},
): NewFailedAttempt => ({
  stepId,
  name: `name of ${stepId}`,
  attempt,
  error: `"attempt ${attempt} failed"`,
  startedAt: 1,
  endedAt: 2,
  retryAt: 3,
  ...over,
});

const waitBase = (stepId: string) => ({
  stepId,
  name: `name of ${stepId}`,
  repeat: 0,
  timeoutAt: null as number | null,
  onTimeout: value("timed out"),
});

export const timeWait = (stepId: string, timeoutAt: number): NewWait => ({
  ...waitBase(stepId),
  kind: "time",
  stepKind: "sleep",
  timeoutAt,
});

type EventWait = Extract<NewWait, { kind: "event" }>;
export const eventWait = (stepId: string, over: Partial<EventWait> = {}): NewWait => ({
  ...waitBase(stepId),
  kind: "event",
  stepKind: "wait-for-event",
  eventName: "order/shipped",
  path: "",
  value: "",
  rest: null,
  ...over,
});

type SignalWait = Extract<NewWait, { kind: "signal" }>;
export const signalWait = (stepId: string, signal: string, over: Partial<SignalWait> = {}): NewWait => ({
  ...waitBase(stepId),
  kind: "signal",
  stepKind: "wait-for-signal",
  signal,
  onTaken: failure("taken"),
  ...over,
});

type RunWait = Extract<NewWait, { kind: "run" }>;
export const runWait = (stepId: string, over: Partial<RunWait> = {}): NewWait => ({
  ...waitBase(stepId),
  kind: "run",
  stepKind: "invoke",
  pair: 0,
  onRefused: failure("refused"),
  ...over,
});

export const end = (state: EndState, result = `"${state}"`, releaseKey = false): EndRun => ({
  kind: "end",
  state,
  result,
  releaseKey,
});

/** The part of an advance that a test is about. */
export type Patch = Partial<AdvanceInput>;

export class World {
  constructor(
    readonly store: Store,
    readonly clock: TestClock,
  ) {}

  async ingest(events: NewEvent[], pairs: NewPair[] = [], over: Partial<IngestInput> = {}): Promise<Ingested> {
    const input = { env, registration: null, events, pairs, leaseTo: null, ...over };
    const answer = await this.store.ingest(input);
    if (answer.kind !== "ingested") throw new Error(`not ingested: ${answer.kind}`);
    return answer;
  }

  /** One event, one pair, one decision. */
  async start(runId: string, over: Partial<StartPair> = {}, event: Partial<NewEvent> = {}) {
    const { decisions } = await this.ingest([newEvent(`event of ${runId}`, event)], [startPair(runId, over)]);
    return decisions[0]!;
  }

  /** A run born leased to `w1`, whose fence is 1. */
  startLeased(runId: string, over: Partial<StartPair> = {}) {
    return this.start(runId, { leaseTo: "w1", ...over });
  }

  tryAdvance(runId: string, { next = keepGoing, ...patch }: Patch = {}): Promise<AdvanceAnswer> {
    return this.store.advance({
      env,
      worker: "w1",
      runId,
      jobId: runId,
      fence: 1,
      steps: [],
      attempts: [],
      waits: [],
      ingest: null,
      seen: 0,
      ...patch,
      next,
    });
  }

  async advance(runId: string, patch: Patch = {}): Promise<Advanced> {
    const answer = await this.tryAdvance(runId, patch);
    if (answer.kind !== "advanced") throw new Error(`not advanced: ${answer.kind}`);
    return answer;
  }

  /** A run that is suspended in these waits. */
  async startWaiting(runId: string, waits: NewWait[], over: Partial<StartPair> = {}): Promise<void> {
    await this.startLeased(runId, over);
    const { leased } = await this.advance(runId, { waits, next: forever });
    expect(leased).toBe(false);
  }

  async lease(worker = "w1", over: Partial<LeaseInput> = {}): Promise<LeaseAnswer> {
    return this.store.lease({ env, worker, functions: [fn], caps: {}, max: 100, ...over });
  }

  /** The decision on an event for a function, by now. */
  async decision(eventId: string, of = fn): Promise<Decision> {
    const decisions = await this.store.reads.decisionsOfEvent(env, eventId);
    const found = decisions.find((decision) => decision.fn === of);
    if (found === undefined) throw new Error(`event ${eventId} has no decision for ${of}`);
    return found;
  }

  /** Registers functions of one app by their names. */
  register(functions: Readonly<Record<string, readonly string[]>>) {
    const given = Object.entries(functions).map(([name, crons]) => ({ fn: name, id: name, config: "{}", crons }));
    return this.store.register({ env, app: "shop", functions: given });
  }

  async run(runId: string) {
    const run = await this.store.reads.run(env, runId);
    if (run === null) throw new Error(`no run ${runId}`);
    return run;
  }

  async memo(runId: string) {
    const memo = await this.store.reads.runMemo(env, runId);
    if (memo === null) throw new Error(`no run ${runId}`);
    return memo;
  }

  /** A step's outcome; undefined while there is none. */
  async outcome(runId: string, stepId: string): Promise<Outcome | undefined> {
    return (await this.memo(runId)).steps.find((step) => step.stepId === stepId)?.outcome;
  }

  async claimOf(key: string, scope = `fn:${fn}`) {
    const claim = await this.store.reads.claim(env, scope, key);
    if (claim === null) throw new Error(`no claim on ${key}`);
    return claim;
  }

  releaseByHand(key: string, scope = `fn:${fn}`) {
    return this.store.release({ env, scope, key, fence: null, reason: "a person asked" });
  }

  /** Everything the reads show of an environment. Stamps are left out: their order counts, and lists are in that order. */
  async rows(of = env): Promise<unknown> {
    const { reads } = this.store;
    const limit = 1000;
    const runs = await reads.runs(of, { limit });
    const events = await reads.events(of, { limit });
    const rows = {
      functions: await reads.functions(of),
      events,
      decisions: await Promise.all(events.map((event) => reads.decisionsOfEvent(of, event.id))),
      memos: await Promise.all(runs.map((run) => reads.runMemo(of, run.id))),
      claims: await reads.claims(of, { limit }),
      counts: await reads.counts(of),
      crons: await reads.crons(of),
      limits: await reads.limitUses(of, limit),
    };
    return JSON.parse(JSON.stringify(rows, (name, part) => (name === "stamp" ? undefined : part)));
  }
}

export const runJob = (job: LeasedJob | undefined): Extract<LeasedJob, { kind: "run" }> => {
  if (job?.kind !== "run") throw new Error("not a run's job");
  return job;
};

export async function openWorld(open: OpenStore): Promise<World> {
  const { store, clock } = await open();
  onTestFinished(() => store.close());
  return new World(store, clock);
}

/**
 * A write may be called twice: equal answers, equal rows, equal counts; also thrice, and at the same time as itself.
 * `prepare` builds the world and hands back the write. `same` picks what of the answer the repeat promises; null where it
 * promises none, because the first call took away what the second would find.
 */
export function everyWrite<A>(
  open: OpenStore,
  title: string,
  prepare: (world: World) => Promise<() => Promise<A>>,
  same: ((answer: A) => unknown) | null = (answer) => answer,
): void {
  const promise = same === null ? "it changes nothing" : "it gives the same answer and changes nothing";
  test(`${title}: called again, ${promise}`, async () => {
    const world = await openWorld(open);
    const write = await prepare(world);
    const first = await write();
    const rows = await world.rows();
    const later = [await write(), ...(await Promise.all([write(), write()]))];
    expect(await world.rows()).toEqual(rows);

    const other = await openWorld(open);
    const otherWrite = await prepare(other);
    const atOnce = await Promise.all([otherWrite(), otherWrite(), otherWrite()]);
    expect(await other.rows()).toEqual(rows);

    if (same === null) return;
    for (const answer of [...later, ...atOnce]) expect(same(answer)).toEqual(same(first));
  });
}
