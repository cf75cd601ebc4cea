// Cancelling or rerunning many runs with one request. The work is done by the process that was asked and its progress is in
// that process's memory; what makes it safe to ask twice is in the store: the request's id is a claim, a run cancelled twice is
// cancelled once, and the run a rerun makes has an id that follows from the request's and the old run's. A request whose
// process died is finished by sending it again.
import { createHash } from "node:crypto";
import type { Engine } from "../engine/engine.ts";
import { errors, IdemError } from "../model/errors.ts";
import { canonicalJson, fromJson } from "../model/json.ts";
import { derivedUlid, makeUlid } from "../model/ulid.ts";
import { dayMs } from "../model/window.ts";
import type { Audited, ByHand } from "../store/audit.ts";
import { pageWork } from "./api/paging.ts";
import { type BulkFilter, type BulkSelection, selectRuns } from "./bulk-filter.ts";
import type { World } from "./world.ts";

export interface BulkRequest {
  readonly id: string;
  readonly action: "cancel" | "rerun";
  readonly filter: BulkFilter;
  /** Why: the error of runs it cancels. */
  readonly reason: string;
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
  /** Nothing was left to do: the run had ended meanwhile. */
  readonly skippedCount: number;
  readonly failedCount: number;
  /** The first failures. */
  readonly failures: readonly { readonly runId: string; readonly error: string }[];
  /** Why the work as a whole ended early. */
  readonly error: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export const bulkScope = "bulk";
const windowMs = 7 * dayMs;
// A process that is alive answers from its own memory, so this only says how soon another may go on with what a dead one left.
const leaseMs = 15_000;
const workMax = 4;
const rememberedMax = 200;
const failuresShown = 10;
// Enough to fill a group commit, too few to get in the way of the runs themselves.
const atOnce = 20;
// A store that is busy or restarting is waited for; one that stays away ends the work.
const patience = { tries: 5, pauseMs: 1_000 };

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Work = Writable<BulkProgress> & { isCancelled: boolean };

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
    if (request.filter.if !== undefined) engine.expressions.get(request.filter.if);
    const { id, action, filter, reason, asked } = request;
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
      failedCount: 0,
      failures: [],
      error: null,
      // Not now but when it was first asked for: whoever goes on after a crash looks at the same runs.
      startedAt: answer.endsAt - windowMs,
      endedAt: null,
      isCancelled: false,
    };
    this.remember(nameOf(env, id), work);
    // Whoever sends it again after a crash asked for the rest of it.
    const said = `${action}: ${reason}${answer.kind === "fresh" ? "" : ", the rest of it"}`;
    const byHand = { actor: request.actor, reason: said };
    const end = this.perform(engine, work, answer.fence, byHand).finally(() => this.ends.delete(work));
    this.ends.set(work, end);
    return shown(work);
  }

  /** How many runs a request would be about, looking at a bounded number of them. */
  async count(
    env: string,
    { action, filter }: Pick<BulkRequest, "action" | "filter">,
  ): Promise<{ matched: number; isAll: boolean }> {
    const engine = await this.world.engine(env);
    const work = pageWork(engine);
    let matched = 0;
    let before: string | null = null;
    for (let pages = 0; pages < pagesCounted; pages++) {
      const { rows, next } = await selectRuns(engine, selectionOf(action, filter, engine.now() + 1), before, work);
      matched += rows.length;
      if (next === null) return { matched, isAll: true };
      if (work.isSpent) break;
      before = next;
    }
    return { matched, isAll: false };
  }

  async read(env: string, id: string): Promise<BulkProgress> {
    const work = this.works.get(nameOf(env, id));
    if (work !== undefined) return shown(work);
    const engine = await this.world.engine(env);
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
    let before: string | null = null;
    while (!this.isOver(work)) {
      const { rows, next } = await this.patiently(() => selectRuns(engine, selection, before, engine.work()));
      for (let i = 0; i < rows.length && !this.isOver(work); i += atOnce) {
        const some = rows.slice(i, i + atOnce);
        work.matchedCount += some.length;
        await Promise.all(some.map(({ id }) => this.performOne(engine, work, id)));
      }
      if (next === null) return;
      before = next;
    }
  }

  private isOver({ isCancelled }: Work): boolean {
    return isCancelled || this.isStopping;
  }

  private async performOne(engine: Engine, work: Work, runId: string): Promise<void> {
    const act = work.action === "cancel" ? cancelRun : rerunRun;
    try {
      if (await this.patiently(() => act(engine, work, runId))) work.doneCount += 1;
      else work.skippedCount += 1;
    } catch (error) {
      // Without a store nothing of the rest can succeed either.
      if (isPassing(error)) throw error;
      work.failedCount += 1;
      if (work.failures.length < failuresShown) {
        work.failures = [...work.failures, { runId, error: messageOf(error) }];
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
      await new Promise<void>((resolve) => this.world.platform.timer(patience.pauseMs, resolve));
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

const selectionOf = (action: BulkRequest["action"], filter: BulkFilter, openedBefore: number): BulkSelection => ({
  ...filter,
  openedBefore,
  onlyOpen: action === "cancel",
});

async function cancelRun(engine: Engine, { reason }: Work, runId: string): Promise<boolean> {
  return (await engine.cancel(runId, reason)).kind === "cancelled";
}

async function rerunRun(engine: Engine, work: Work, runId: string): Promise<boolean> {
  const newRunId = derivedUlid(Math.floor(work.startedAt), `${engine.env}\n${work.id}\n${runId}`);
  // An earlier process got this far.
  if ((await engine.store.reads.run(engine.env, newRunId)) !== null) {
    await engine.store.shared?.stand();
    return true;
  }
  await engine.rerun(runId, { newRunId });
  return true;
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
const nameOf = (env: string, id: string): string => `${env}\n${id}`;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function shown({ isCancelled: _, ...progress }: Work): BulkProgress {
  return { ...progress };
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
  failedCount: 0,
  failures: [],
  error:
    store.shared === null
      ? "the process that did it is gone: send the same request again to finish it"
      : "another node was asked and alone knows how far it is; if that node is gone, send the same request again to finish it",
  startedAt,
  endedAt: null,
});
