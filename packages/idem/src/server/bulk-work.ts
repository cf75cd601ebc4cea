// One act on many runs with one request. The work is done by one process, which keeps its progress beside the request's claim and extends
// the claim's lease; when it falls silent another goes on. The store makes that safe: a run cancelled twice is cancelled once, and
// the run a rerun makes has an id that follows from the request's and the old run's.
//
//   asked ──▶ running ─┬─ walked to the end ──▶ completed        (settled)
//      ▲               ├─ somebody stops it ──▶ cancelled        (settled)
//      │               ├─ its process stops ──▶ interrupted      (lease given back)   ──┐
//      │               ├─ its process dies ───▶ the lease runs out                    ──┤ another process, at most 15 s later
//      │               ├─ the lease was lost ─▶ another has it; this one forgets it     │
//      │               └─ the store fails ────▶ failed: the same request goes on        │
//      └────────────────────────────────────────────────────────────────────────────────┘
import { createHash } from "node:crypto";
import { type BulkPart, emptyPart, lookAtPart, readingOf, together } from "../engine/bulk/bulk-part.ts";
import type { Engine } from "../engine/engine.ts";
import { errors } from "../model/errors.ts";
import { compileRunFilter } from "../model/expression.ts";
import { canonicalJson, fromJson } from "../model/json.ts";
import { isEnded } from "../model/run.ts";
import { makeUlid } from "../model/ulid.ts";
import { dayMs } from "../model/window.ts";
import type { Timer } from "../platform/platform.ts";
import type { Audited, ByHand } from "../store/audit.ts";
import type { ExtendAnswer } from "../store/claims.ts";
import { pageWork } from "./api/paging.ts";
import {
  type BulkProgress,
  type BulkRequest,
  noteOf,
  readBulkNote,
  shown,
  toldOfBulk,
  unknownHere,
  type Work,
} from "./bulk-progress.ts";
import { messageOf, pause, selectionOf, walkRuns } from "./bulk-walk.ts";
import type { World } from "./world.ts";

export const bulkScope = "bulk";
const windowMs = 7 * dayMs;
/** Somebody asks for work to be stopped that another process does. */
export const bulkStopScope = "bulk-stop";
// After this another may go on with what a dead one left; extended three times as often.
const leaseMs = 15_000;
// Work that nobody brings to its end is left to a person.
const takeoversMax = 20;
const stopLooks = { tries: 20, pauseMs: 500 };
const workMax = 4;
const rememberedMax = 200;
// Of runs that reruns made: how many are asked for at once, and how often.
const outcomesAsked = 200;
const outcomesEveryMs = 1_000;

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
  private look: Timer | null = null;

  constructor(private readonly world: World) {}

  /** Begins the work, or answers with its progress when the same was asked before; throws BULK_MISMATCH and SERVER_BUSY. */
  async start(env: string, request: BulkRequest): Promise<BulkProgress> {
    const engine = await this.world.engine(env);
    if (request.filter.if !== undefined) compileRunFilter(request.filter.if);
    const { asked, ...order } = request;
    return this.begin(engine, order, sha256(canonicalJson(asked)).toString("hex"));
  }

  private async begin(
    engine: Engine,
    order: Omit<BulkRequest, "asked">,
    fingerprint: string | null,
  ): Promise<BulkProgress> {
    const { env } = engine;
    const { id, action, filter, reason, pace = null } = order;
    const running = [...this.works.values()].filter(({ state }) => state === "running").length;
    const known = this.works.has(nameOf(env, id));
    if (!known && running >= workMax) {
      throw errors.SERVER_BUSY({ why: `${running} bulk actions are at work, as many as may be at once` });
    }
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
      startedAt: engine.now(),
      endedAt: null,
      isCancelled: false,
      isLost: false,
      takeovers: 0,
      actor: order.actor,
      begun: new Map(),
      askedAt: 0,
    };
    const note = noteOf(work);
    const answer = await engine.store.claim({
      env,
      scope: bulkScope,
      key: id,
      token: makeUlid(Math.floor(this.world.platform.wallMs()), this.world.platform.randomBytes(10)),
      fingerprint,
      leaseMs,
      windowMs,
      note,
    });
    if (answer.kind === "mismatch") throw errors.BULK_MISMATCH({ id });
    if (answer.kind === "duplicate") return fromJson(answer.outcome) as BulkProgress;
    const atWork = this.works.get(nameOf(env, id));
    if (atWork?.state === "running") return shown(atWork);
    if (answer.kind === "in-flight") return this.read(env, id);
    const before = answer.note === note ? null : readBulkNote(answer.note);
    // Not now but when it was first asked for: after a crash the same runs are looked at.
    work.startedAt = before?.progress.startedAt ?? answer.endsAt - windowMs;
    work.takeovers = before === null ? 0 : before.takeovers + 1;
    this.remember(nameOf(env, id), work);
    const said = `${action}: ${reason}${before === null ? "" : ", the rest of it"}`;
    const byHand = { actor: order.actor, reason: said };
    const end = this.perform(engine, work, answer.fence, byHand).finally(() => this.ends.delete(work));
    this.ends.set(work, end);
    return shown(work);
  }

  /** From now on, what other processes left half done is gone on with here. */
  watch(): void {
    this.look = this.world.platform.timer(leaseMs, () => void this.takeOver(), { background: true });
  }

  private async takeOver(): Promise<void> {
    for (const engine of this.world.engines.values()) {
      try {
        await this.takeOverIn(engine);
      } catch (error) {
        engine.health.report("looking for bulk work of other nodes", error);
      }
    }
    if (!this.isStopping) this.watch();
  }

  private async takeOverIn(engine: Engine): Promise<void> {
    const claims = await engine.store.reads.claims(engine.env, { scope: bulkScope, limit: rememberedMax });
    for (const { key, state, leaseUntil, outcome, fingerprint } of claims) {
      if (this.isStopping) return;
      if (state !== "in-flight" || (leaseUntil ?? 0) > engine.now()) continue;
      if (this.works.get(nameOf(engine.env, key))?.state === "running") continue;
      const note = readBulkNote(outcome);
      if (note === null || note.progress.state === "failed" || note.takeovers >= takeoversMax) continue;
      this.world.logger.info(`idem: bulk work ${key} was left half done; it goes on here`);
      await this.begin(engine, note.order, fingerprint);
    }
  }

  /** The effect of a request, looking at a bounded number of runs. */
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
    if (claim.state === "settled") return fromJson(claim.outcome!) as BulkProgress;
    const note = readBulkNote(claim.outcome);
    return note === null ? unknownHere(id, claim.takenAt) : toldOfBulk(note, claim.leaseUntil, engine.now());
  }

  /** Newest first. */
  async list(env: string): Promise<BulkProgress[]> {
    const engine = await this.world.engine(env);
    const claims = await engine.store.reads.claims(env, { scope: bulkScope, limit: rememberedMax });
    const listed = await Promise.all(claims.map(({ key }) => this.read(env, key)));
    return listed.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1));
  }

  /** Runs that are done stay done; nothing more is begun. */
  async cancel(env: string, id: string, byHand: Audited): Promise<BulkProgress> {
    const work = this.works.get(nameOf(env, id));
    const { store } = await this.world.engine(env);
    const before = work === undefined || work.state !== "running" ? await this.read(env, id) : null;
    if (before !== null && before.state !== "running" && before.state !== "interrupted") return before;
    await store.audit({ env, action: "cancel-bulk", subject: id, reason: "", ...byHand });
    // The process that does it, or takes it up, finds this.
    const token = makeUlid(Math.floor(this.world.platform.wallMs()), this.world.platform.randomBytes(10));
    await store.claim({ env, scope: bulkStopScope, key: id, token, fingerprint: null, leaseMs, windowMs });
    if (before === null) {
      work!.isCancelled = true;
      await this.ends.get(work!);
      return shown(work!);
    }
    let told = before;
    for (let tries = 0; tries < stopLooks.tries && (told.state === "running" || tries === 0); tries++) {
      await pause(this.world.platform, stopLooks.pauseMs);
      told = await this.read(env, id);
    }
    return told;
  }

  /** Before the engines stop: what is left another process goes on with, or this one once it is started again. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.look?.cancel();
    await Promise.all(this.ends.values());
  }

  /** Resolves once this work has ended. */
  async ended(env: string, id: string): Promise<void> {
    const work = this.works.get(nameOf(env, id));
    if (work !== undefined) await this.ends.get(work);
  }

  private async perform(engine: Engine, work: Work, fence: number, byHand: ByHand): Promise<void> {
    let stopKeeping = () => {};
    try {
      // One entry for all of them, kept before anything is done: no crash leaves runs cancelled that nobody asked about.
      await engine.store.audit({ env: engine.env, action: "start-bulk", subject: work.id, ...byHand });
      if (await this.isStopAsked(engine, work)) work.isCancelled = true;
      stopKeeping = this.keep(engine, work, fence);
      const { platform } = this.world;
      await walkRuns({ engine, work, platform, isStopping: () => this.isStopping });
      work.state = work.isCancelled ? "cancelled" : this.isStopping ? "interrupted" : "completed";
    } catch (error) {
      work.state = "failed";
      work.error = messageOf(error);
    }
    stopKeeping();
    if (work.isLost) {
      this.works.delete(nameOf(engine.env, work.id));
      return;
    }
    work.endedAt = engine.now();
    try {
      // Its claim stays open: the next one goes over the same runs and finds most of them done.
      if (work.state === "failed" || work.state === "interrupted") {
        await this.extend(engine, work, fence, 0);
        return;
      }
      await engine.store.settle(engine.env, bulkScope, work.id, fence, JSON.stringify(shown(work)));
    } catch (error) {
      this.world.logger.warn(`idem: the end of bulk work ${work.id} was not stored: ${messageOf(error)}`);
    }
  }

  /** Says how far it is while it is at work, and looks whether it is to be stopped. The answer ends it. */
  private keep(engine: Engine, work: Work, fence: number): () => void {
    let timer: Timer;
    let isOver = false;
    const arm = () => {
      timer = this.world.platform.timer(leaseMs / 3, () => void tell(), { background: true });
    };
    const tell = async () => {
      try {
        if (await this.isStopAsked(engine, work)) work.isCancelled = true;
        if ((await this.extend(engine, work, fence, leaseMs)) === "lost") work.isLost = true;
      } catch {
        // Told again in a moment. A store that stays away ends the work itself.
      }
      if (!isOver) arm();
    };
    arm();
    return () => {
      isOver = true;
      timer.cancel();
    };
  }

  private extend({ store, env }: Engine, work: Work, fence: number, forMs: number): Promise<ExtendAnswer> {
    return store.extend({ env, scope: bulkScope, key: work.id, fence, leaseMs: forMs, note: noteOf(work) });
  }

  private async isStopAsked({ store, env }: Engine, { id }: Work): Promise<boolean> {
    return (await store.reads.claim(env, bulkStopScope, id)) !== null;
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

  private remember(name: string, work: Work): void {
    this.works.delete(name);
    this.works.set(name, work);
    for (const [oldest, { state }] of this.works) {
      if (this.works.size <= rememberedMax) return;
      if (state !== "running") this.works.delete(oldest);
    }
  }
}

// 2,000 runs, or 100,000 rows looked at.
const pagesCounted = 20;

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
const nameOf = (env: string, id: string): string => `${env}\n${id}`;
