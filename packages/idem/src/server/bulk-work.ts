// One act on many runs with one request. The work is done by the process that was asked and its progress is in that process's memory; what makes it safe to ask twice is in the store: the request's id is a claim, a run cancelled twice is
// cancelled once, and the run a rerun makes has an id that follows from the request's and the old run's. A request whose
// process died is finished by sending it again.
import { createHash } from "node:crypto";
import { actOnRun, judgeRuns, runsAtOnce } from "../engine/bulk/act-on-runs.ts";
import { type BulkPart, emptyPart, lookAtPart, readingOf, together } from "../engine/bulk/bulk-part.ts";
import { type BulkAction, type LeftOut, type LeftOutReason, oneLeftOut, withLeftOut } from "../engine/bulk/left-out.ts";
import { type BulkFilter as PlainFilter, type RunSelection, selectRuns } from "../engine/bulk/select-runs.ts";
import type { Engine } from "../engine/engine.ts";
import { errors, IdemError } from "../model/errors.ts";
import { compileRunFilter } from "../model/expression.ts";
import { canonicalJson, fromJson } from "../model/json.ts";
import { isEnded, type RunState } from "../model/run.ts";
import { makeUlid } from "../model/ulid.ts";
import { dayMs } from "../model/window.ts";
import type { Audited, ByHand } from "../store/audit.ts";
import type { RunSummary } from "../store/reads.ts";
import { pageWork } from "./api/paging.ts";
import { readInstant } from "./read-input.ts";
import type { World } from "./world.ts";

export interface BulkFilter extends PlainFilter {
  /** As written: "7d" means the seven days before the work was asked for. */
  readonly since?: string;
  readonly until?: string;
}

export interface BulkRequest {
  readonly id: string;
  readonly action: BulkAction;
  readonly filter: BulkFilter;
  /** Why: the error of runs it cancels. */
  readonly reason: string;
  /** How many runs a second at most; absent or null for as many as go. */
  readonly pace?: number | null;
  /** Who asked, for the audit. */
  readonly actor?: string;
  /** The request as it came: what a second one under the same id is compared with. */
  readonly asked: unknown;
}

/**
 * `failed` and `interrupted` did not get to the end; sending the request again goes on with them. `elsewhere`: another node was asked,
 * which alone knows how far it is.
 */
export type BulkState = "running" | "completed" | "cancelled" | "failed" | "interrupted" | "elsewhere";

export interface BulkProgress {
  readonly id: string;
  readonly action: BulkRequest["action"] | null;
  readonly filter: BulkFilter;
  readonly reason: string;
  readonly state: BulkState;
  /** Runs that fit the filter so far; final once the state is. */
  readonly matchedCount: number;
  readonly doneCount: number;
  /** Nothing was to be done, or somebody else is doing it. */
  readonly skippedCount: number;
  /** Why they were skipped. */
  readonly leftOut: readonly LeftOut[];
  /** What became of the runs that reruns made; null where this process does not know. */
  readonly outcomes: readonly BulkOutcome[] | null;
  readonly pace: number | null;
  readonly failedCount: number;
  /** The first failures. */
  readonly failures: readonly { readonly runId: string; readonly error: string }[];
  /** Why the work as a whole ended early. */
  readonly error: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface BulkOutcome {
  readonly state: RunState;
  readonly count: number;
  /** The first of them. */
  readonly runIds: readonly string[];
}

export const bulkScope = "bulk";
const windowMs = 7 * dayMs;
// A process that is alive answers from its own memory, so this only says how soon another may go on with what a dead one left.
const leaseMs = 15_000;
const workMax = 4;
const rememberedMax = 200;
const failuresShown = 10;
// Of runs that reruns made: how many are asked for at once, how often, and how many are remembered.
const outcomesAsked = 200;
const outcomesEveryMs = 1_000;
const begunMax = 10_000;
const outcomeIdsShown = 50;
// A store that is busy or restarting is waited for; one that stays away ends the work.
const patience = { tries: 5, pauseMs: 1_000 };

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Work = Writable<BulkProgress> & {
  isCancelled: boolean;
  readonly actor: string | undefined;
  /** Runs that reruns made, with the state they were last seen in. */
  readonly begun: Map<string, RunState>;
  askedAt: number;
};

const bulks = new WeakMap<World, BulkWork>();

/** The bulk work of this server. */
export function bulkOf(world: World): BulkWork {
  let bulk = bulks.get(world);
  if (bulk === undefined) {
    bulk = new BulkWork(world);
    bulks.set(world, bulk);
  }
  return bulk;
}

export class BulkWork {
  /** By environment and id. */
  private readonly works = new Map<string, Work>();
  private readonly ends = new Map<Work, Promise<void>>();
  private isStopping = false;

  constructor(private readonly world: World) {}

  /** Begins the work, or tells how far it is when the same was asked before; throws BULK_MISMATCH and SERVER_BUSY. */
  async start(env: string, request: BulkRequest): Promise<BulkProgress> {
    const engine = await this.world.engine(env);
    if (request.filter.if !== undefined) compileRunFilter(request.filter.if);
    const { id, action, filter, reason, asked, pace = null } = request;
    const running = [...this.works.values()].filter(({ state }) => state === "running").length;
    const known = this.works.has(nameOf(env, id));
    if (!known && running >= workMax) {
      throw errors.SERVER_BUSY({ why: `${running} bulk actions are at work, as many as may be at once` });
    }
    const answer = await engine.store.claim({
      env,
      scope: bulkScope,
      key: id,
      token: makeUlid(Math.floor(this.world.platform.wallMs()), this.world.platform.randomBytes(10)),
      fingerprint: sha256(canonicalJson(asked)).toString("hex"),
      leaseMs,
      windowMs,
    });
    if (answer.kind === "mismatch") throw errors.BULK_MISMATCH({ id });
    if (answer.kind === "duplicate") return fromJson(answer.outcome) as BulkProgress;
    const atWork = this.works.get(nameOf(env, id));
    if (atWork?.state === "running") return shown(atWork);
    if (answer.kind === "in-flight")
      return atWork === undefined ? unknownHere(engine, id, answer.since) : shown(atWork);
    const work: Work = {
      id,
      action,
      filter,
      reason,
      state: "running",
      matchedCount: 0,
      doneCount: 0,
      skippedCount: 0,
      leftOut: [],
      outcomes: action === "rerun" ? [] : null,
      pace,
      failedCount: 0,
      failures: [],
      error: null,
      // Not now but when it was first asked for: whoever goes on after a crash looks at the same runs.
      startedAt: answer.endsAt - windowMs,
      endedAt: null,
      isCancelled: false,
      actor: request.actor,
      begun: new Map(),
      askedAt: 0,
    };
    this.remember(nameOf(env, id), work);
    // Whoever sends it again after a crash asked for the rest of it.
    const said = `${action}: ${reason}${answer.kind === "fresh" ? "" : ", the rest of it"}`;
    const byHand = { actor: request.actor, reason: said };
    const end = this.perform(engine, work, answer.fence, byHand).finally(() => this.ends.delete(work));
    this.ends.set(work, end);
    return shown(work);
  }

  /** What a request would do, looking at a bounded number of runs. */
  async count(
    env: string,
    { id, action, filter }: Pick<BulkRequest, "id" | "action" | "filter">,
  ): Promise<BulkPart & { readonly isAll: boolean; readonly now: number }> {
    const engine = await this.world.engine(env);
    const work = pageWork(engine);
    const now = engine.now() + 1;
    const reading = { ...readingOf(engine), now };
    const selection = selectionOf(action, filter, now);
    let total = emptyPart;
    for (let pages = 0; pages < pagesCounted; pages++) {
      const part = await lookAtPart(reading, { id, action, startedAt: now }, selection, total.next, work);
      total = together(total, part);
      if (part.next === null) return { ...total, isAll: true, now };
      if (work.isSpent) break;
    }
    return { ...total, isAll: false, now };
  }

  async read(env: string, id: string): Promise<BulkProgress> {
    const work = this.works.get(nameOf(env, id));
    const engine = await this.world.engine(env);
    if (work !== undefined) {
      await this.askOutcomes(engine, work);
      return shown(work);
    }
    const claim = await engine.store.reads.claim(env, bulkScope, id);
    if (claim === null) throw errors.BULK_UNKNOWN({ id });
    return claim.outcome === null ? unknownHere(engine, id, claim.takenAt) : (fromJson(claim.outcome) as BulkProgress);
  }

  /** Newest first. */
  async list(env: string): Promise<BulkProgress[]> {
    const engine = await this.world.engine(env);
    const claims = await engine.store.reads.claims(env, { scope: bulkScope, limit: rememberedMax });
    const listed = await Promise.all(claims.map(({ key }) => this.read(env, key)));
    return listed.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1));
  }

  /** What is done stays done; nothing more is begun. */
  async cancel(env: string, id: string, byHand: Audited): Promise<BulkProgress> {
    const work = this.works.get(nameOf(env, id));
    if (work === undefined || work.state !== "running") {
      const progress = await this.read(env, id);
      if (progress.state === "elsewhere") throw errors.OTHER_NODE({ why: `it was asked for bulk work ${id}` });
      return progress;
    }
    const { store } = await this.world.engine(env);
    await store.audit({ env, action: "cancel-bulk", subject: id, reason: "", ...byHand });
    work.isCancelled = true;
    await this.ends.get(work);
    return shown(work);
  }

  /** Before the engines stop: what is left can be finished by sending the request again. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.ends.values());
  }

  /** Resolves once this work has ended. */
  async ended(env: string, id: string): Promise<void> {
    const work = this.works.get(nameOf(env, id));
    if (work !== undefined) await this.ends.get(work);
  }

  private async perform(engine: Engine, work: Work, fence: number, byHand: ByHand): Promise<void> {
    try {
      // One entry for all of them, kept before anything is done: no crash leaves runs cancelled that nobody asked about.
      await engine.store.audit({ env: engine.env, action: "start-bulk", subject: work.id, ...byHand });
      await this.walk(engine, work);
      work.state = work.isCancelled ? "cancelled" : this.isStopping ? "interrupted" : "completed";
    } catch (error) {
      work.state = "failed";
      work.error = messageOf(error);
    }
    work.endedAt = engine.now();
    // Its claim stays open: after the lease, the same request goes over the same runs and finds most of them done.
    if (work.state === "failed" || work.state === "interrupted") return;
    try {
      await engine.store.settle(engine.env, bulkScope, work.id, fence, JSON.stringify(shown(work)));
    } catch (error) {
      this.world.logger.warn(`idem: the end of bulk work ${work.id} was not stored: ${messageOf(error)}`);
    }
  }

  private async walk(engine: Engine, work: Work): Promise<void> {
    const selection = selectionOf(work.action!, work.filter, work.startedAt);
    const reading = readingOf(engine);
    const { pace } = work;
    const atOnce = pace === null ? runsAtOnce : Math.min(pace, runsAtOnce);
    let before: string | null = null;
    while (!this.isOver(work)) {
      const { rows, next } = await this.patiently(() => selectRuns(reading, selection, before, engine.work()));
      for (let i = 0; i < rows.length && !this.isOver(work); i += atOnce) {
        const some = rows.slice(i, i + atOnce);
        const order = { ...work, action: work.action! };
        const whys = await this.patiently(() => judgeRuns(reading, order, some, engine.now()));
        work.matchedCount += some.length;
        await Promise.all(some.map((run) => this.performOne(engine, work, run, whys.get(run.id))));
        const isLast = next === null && i + atOnce >= rows.length;
        // Runs that are left out take no time.
        if (pace !== null && !isLast) await this.pause(((some.length - whys.size) * 1_000) / pace);
      }
      if (next === null) return;
      before = next;
    }
  }

  private async pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.world.platform.timer(ms, resolve));
  }

  /** Looks again at some of the runs that reruns made and that had not ended; however many look, once a second. */
  private async askOutcomes(engine: Engine, work: Work): Promise<void> {
    const now = this.world.platform.monoMs();
    if (work.begun.size === 0 || now - work.askedAt < outcomesEveryMs) return;
    work.askedAt = now;
    const open = [...work.begun].filter(([, state]) => !isEnded(state)).slice(0, outcomesAsked);
    const runs = await Promise.all(open.map(([id]) => engine.store.reads.run(engine.env, id)));
    for (const run of runs) if (run !== null) work.begun.set(run.id, run.state);
  }

  private isOver({ isCancelled }: Work): boolean {
    return isCancelled || this.isStopping;
  }

  private async performOne(engine: Engine, work: Work, run: RunSummary, why: LeftOutReason | undefined): Promise<void> {
    const leaveOut = (reason: LeftOutReason): void => {
      work.skippedCount += 1;
      work.leftOut = withLeftOut(work.leftOut, oneLeftOut(reason, run.id));
    };
    if (why !== undefined) return leaveOut(why);
    try {
      const order = { ...work, action: work.action! };
      const acted = await this.patiently(() => actOnRun(engine, order, run));
      if (acted.kind === "left-out") return leaveOut(acted.why);
      work.doneCount += 1;
      if (acted.runId !== null && work.begun.size < begunMax) work.begun.set(acted.runId, "queued");
    } catch (error) {
      // Without a store nothing of the rest can succeed either.
      if (isPassing(error)) throw error;
      work.failedCount += 1;
      if (work.failures.length < failuresShown) {
        work.failures = [...work.failures, { runId: run.id, error: messageOf(error) }];
      }
    }
  }

  private async patiently<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await act();
      } catch (error) {
        if (!isPassing(error) || tries === patience.tries || this.isStopping) throw error;
      }
      await this.pause(patience.pauseMs);
    }
  }

  private remember(name: string, work: Work): void {
    this.works.delete(name);
    this.works.set(name, work);
    for (const [oldest, { state }] of this.works) {
      if (this.works.size <= rememberedMax) return;
      if (state !== "running") this.works.delete(oldest);
    }
  }
}

const isPassing = (error: unknown): boolean => error instanceof IdemError && error.retry === "later";

// 2,000 runs, or 100,000 rows looked at.
const pagesCounted = 20;

const selectionOf = (
  action: BulkAction,
  { since, until, ...filter }: BulkFilter,
  openedBefore: number,
): RunSelection => ({
  ...filter,
  ...(since === undefined ? {} : { since: readInstant("since", since, openedBefore) }),
  until: until === undefined ? openedBefore : Math.min(readInstant("until", until, openedBefore), openedBefore),
  // Runs that were named one by one are told apart by whether they have ended.
  onlyOpen: action === "cancel" && filter.ids === undefined,
});

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
const nameOf = (env: string, id: string): string => `${env}\n${id}`;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function shown({ isCancelled: _, actor: __, begun, askedAt: ___, ...progress }: Work): BulkProgress {
  return { ...progress, outcomes: progress.outcomes === null ? null : outcomesOf(begun) };
}

function outcomesOf(begun: ReadonlyMap<string, RunState>): readonly BulkOutcome[] {
  const outcomes = new Map<RunState, { state: RunState; count: number; runIds: string[] }>();
  for (const [id, state] of begun) {
    const known = outcomes.get(state) ?? { state, count: 0, runIds: [] };
    known.count += 1;
    if (known.runIds.length < outcomeIdsShown) known.runIds.push(id);
    outcomes.set(state, known);
  }
  return [...outcomes.values()];
}

/** What its claim says of work that this process knows nothing of. */
const unknownHere = ({ store }: Pick<Engine, "store">, id: string, startedAt: number): BulkProgress => ({
  id,
  action: null,
  filter: {},
  reason: "",
  state: store.shared === null ? "interrupted" : "elsewhere",
  matchedCount: 0,
  doneCount: 0,
  skippedCount: 0,
  leftOut: [],
  outcomes: null,
  pace: null,
  failedCount: 0,
  failures: [],
  error:
    store.shared === null
      ? "the process that did it is gone: send the same request again to finish it"
      : "another node was asked and alone knows how far it is; if that node is gone, send the same request again to finish it",
  startedAt,
  endedAt: null,
});
