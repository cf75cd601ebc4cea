// One world: a store, a clock, processes and an outside, played to its end under one schedule.
import { setEnvironment } from "../../platform/node-thread.ts";
import type { HttpRequest, HttpResponse } from "../../platform/platform.ts";
import type { TakenClient } from "../../sdk/take-client.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { type Adversity, nameOf, type Schedule, type Side } from "../schedules.ts";
import type { Moment, WorldRecord } from "../thing.ts";
import { AnswerWaits } from "./answer-waits.ts";
import type { Caller } from "./caller.ts";
import { playCourse } from "./course.ts";
import type { Life } from "./life.ts";
import { notesInMemory } from "./notes.ts";
import { failedRuns, parkedEffects, runsOf, sentEvents } from "./read-world.ts";
import { realMonoMs } from "./real.ts";
import { Settling } from "./settling.ts";
import { Simulation } from "./simulation.ts";
import { TargetClient } from "./target-client.ts";
import { WatchedFunctions } from "./watched-functions.ts";
import type { WatchedWorld, Watcher } from "./watcher.ts";
import { WorldClock } from "./world-clock.ts";
import { WorldCommits } from "./world-commits.ts";
import { WorldEffects } from "./world-effects.ts";
import { WorldProcesses } from "./world-processes.ts";
import { fixtureFor, type WorldScript } from "./world-script.ts";

export interface WorldOptions extends WorldScript {
  readonly schedule: Schedule;
  readonly seed: number;
  readonly watchers: readonly Watcher[];
  readonly askHttp: (life: Life, request: HttpRequest) => Promise<HttpResponse>;
  /** A module of the program's was loaded for this life. */
  readonly onModule?: (life: Life, path: string, exported: object) => void;
  /** Something that somebody waits for is under way: more turns than an engine at rest needs. */
  readonly isPending?: () => boolean;
  /** Before and after each call of the store that answers later. */
  readonly onStoreCall?: (life: Life, side: Side) => void;
  /** A client of the program's is being constructed. */
  readonly onTaken?: (taken: TakenClient) => void;
}

// A supervisor that starts a process again takes a moment for it.
const restartMs = 500;
/** More than any function waits for things one after the other. */
const movesMax = 500;
/** Time of its own one world may take. */
const worldMsMax = 5_000;
/** Turns of housekeeping in which an open run is given back: a lease is twenty seconds, a heartbeat five. */
const patienceMax = 100;

export class World {
  readonly clock: WorldClock;
  readonly store: MemoryStore;
  readonly processes: WorldProcesses;
  readonly timeline: Moment[] = [];
  readonly unprovenNames = new Set<string>();
  private readonly assumptions = new Set<string>();
  readonly simulation: Simulation;
  readonly effect: WorldEffects["effect"];
  readonly effectLater: WorldEffects["effectLater"];
  readonly effectNow: WorldEffects["effectNow"];
  private readonly watched: WatchedWorld[];
  private readonly divergences = new Map<string, { step: string; asked: string | null }>();
  private readonly functions: WatchedFunctions;
  private readonly effects: WorldEffects;
  private readonly waits: AnswerWaits;
  private readonly commits: WorldCommits;
  private readonly happened = new Set<Adversity>();
  protected readonly target: TargetClient;
  private downMs = restartMs;
  private readonly startedAt = realMonoMs();
  protected readonly settling: Settling;
  readonly stir: () => void;

  get lives(): readonly Life[] {
    return this.processes.lives;
  }

  constructor(protected readonly options: WorldOptions) {
    this.clock = new WorldClock(options.startMs);
    const lives: Life[] = [];
    this.settling = new Settling({
      lives,
      clock: this.clock,
      spentMsMax: 2 * worldMsMax,
      isPending: options.isPending ?? (() => false),
      onHang: () => this.unproven("it hangs: a step or the code between steps waits for something that never comes"),
    });
    this.stir = this.settling.stir;
    this.store = new MemoryStore(this.clock);
    this.watched = options.watchers.map((watcher) =>
      watcher.begin({
        now: () => this.clock.wallMs(),
        stir: () => this.stir(),
        assume: (what) => this.assumptions.add(what),
        given: (request) => fixtureFor(options.fixtures, request),
        recordFrom: options.recordFrom ?? [],
        ...(options.databases === undefined ? {} : { databases: options.databases }),
        setEnvironment,
        notes: notesInMemory,
        filesIn: null,
        isApart: false,
        events: [options.event.data, options.twin?.data ?? null, ...Object.values(options.changed)],
      }),
    );
    const { schedule } = options;
    const now = () => this.clock.wallMs();
    const say = (text: string) => this.say(text);
    const unproven = (what: string) => this.unproven(what);
    this.target = new TargetClient({ fn: options.fn, living: () => this.living, say, unproven });
    this.simulation = new Simulation(options.changes ?? []);
    const { simulation } = this;
    this.effects = new WorldEffects({
      simulation,
      schedule,
      now,
      stir: this.stir,
      say,
      unproven,
      kill: (life, why, isOutage) => {
        if (isOutage) this.downMs = options.outageMs;
        this.kill(life, why);
      },
      cancel: (caller, adversity) => this.cancel(caller, adversity),
      happened: (adversity) => this.happened.add(adversity),
      placeOfStep: (runId, step) => this.functions.placeOfStep(runId, step),
    });
    this.commits = new WorldCommits({
      schedule,
      kill: (life, why) => this.kill(life, why),
      happened: (adversity) => this.happened.add(adversity),
    });
    this.functions = new WatchedFunctions({
      simulation,
      stir: this.stir,
      workOf: async (fn, runId) => {
        const found = await this.store.reads.run(options.env, runId);
        return found === null ? null : { env: options.env, fn, subject: found.subject, generation: found.generation };
      },
      script: options,
      now,
      say,
      unproven,
      throwsNow: (step) => this.effects.throwsNow(step),
      isTransactional: () => this.processes.isTransactional,
    });
    this.processes = new WorldProcesses({
      home: this,
      lives,
      options,
      clock: this.clock,
      stir: this.stir,
      store: this.store,
      watched: this.watched,
      functions: this.functions,
      onPoint: (of, name) => {
        if (this.target.delivered.size > 0) this.commits.meet(of, name);
      },
      onDiverged: (runId, step, asked) => this.divergences.set(`${runId} ${step}`, { step, asked }),
    });
    this.waits = new AnswerWaits({
      waits: this.functions.waits,
      how: this.has("wait")?.answer ?? null,
      store: this.store,
      env: options.env,
      unproven,
      sendEvent: (event, what) => this.target.deliver({ ...event, id: `${options.event.id}-${event.id}` }, what),
      sendSignal: (signal, what) => this.target.sendSignal(signal, what),
    });
    this.effect = (...asked) => this.effects.effect(...asked);
    this.effectLater = (...asked) => this.effects.effectLater(...asked);
    this.effectNow = (...asked) => this.effects.effectNow(...asked);
  }

  private has<K extends Adversity["kind"]>(kind: K): Extract<Adversity, { kind: K }> | null {
    const found = this.options.schedule.adversities.find((each) => each.kind === kind);
    return (found as Extract<Adversity, { kind: K }> | undefined) ?? null;
  }

  say(text: string): void {
    this.timeline.push({ at: this.clock.wallMs(), text });
  }

  unproven(what: string): void {
    this.unprovenNames.add(what);
  }

  begin(life: Life): () => void {
    life.underway++;
    const end = this.simulation.begin();
    let isOver = false;
    return () => {
      if (!isOver) life.underway--;
      isOver = true;
      end();
      this.stir();
    };
  }

  /** The process that takes what is sent: the newest that runs. */
  get living(): Life | null {
    return this.processes.living;
  }

  // ------------------------------------------------------------------------------------------------ processes

  /** A process, its modules loaded; not yet at work. */
  load(): Promise<Life> {
    return this.processes.load();
  }

  protected openLife(): Promise<void> {
    return this.processes.open();
  }

  protected kill(life: Life, why: string): void {
    life.die();
    this.say(`the process died: ${why}`);
    this.stir();
  }

  private cancel({ life, run }: Caller, adversity: Adversity): void {
    if (run !== null) this.target.cancel(life, run.runId, () => this.happened.add(adversity));
  }

  // ------------------------------------------------------------------------------------------------ playing

  async run(onLoaded: () => void): Promise<WorldRecord> {
    await this.openLife();
    onLoaded();
    await this.settling.settle();
    const { schedule, event, twin, second = null, changed, names, windowMs } = this.options;
    const course = { adversities: schedule.adversities, event, twin, second, changed, names, windowMs };
    const { isPastWindow } = await playCourse(course, {
      monoMs: () => this.clock.monoMs(),
      in: (ms, run) => void this.clock.set(ms, run, { isDead: false, isFrozen: false }, false),
      moveTo: (at) => this.moveTo(at),
      deliver: (next, what, invented) => this.target.deliver(next, what, invented),
      play: () => this.play(),
      happened: (adversity) => this.happened.add(adversity),
    });
    await this.rerunEnded();
    const wasRerun = await this.heal();
    return this.record(wasRerun, isPastWindow);
  }

  private async pause(ms: number): Promise<void> {
    await this.moveTo(this.clock.monoMs() + ms);
  }

  protected async moveTo(at: number): Promise<void> {
    while (this.clock.monoMs() < at) {
      const next = this.clock.next("awaited");
      await this.clock.moveTo(
        next === null ? at : Math.min(at, Math.max(next, this.clock.monoMs())),
        this.settling.settle,
      );
      if (next === null) return;
    }
  }

  /** Until nothing waits any more. */
  protected async play(): Promise<void> {
    let patience = patienceMax;
    for (let moves = 0; moves < movesMax && !this.settling.isHanging; moves++) {
      if (this.settling.spentMs > worldMsMax) break;
      await this.settling.settle();
      const frozen = this.lives.find(({ isDead, isFrozen }) => isFrozen && !isDead);
      if (this.living === null) {
        await this.clock.moveTo(this.clock.monoMs() + this.downMs, this.settling.settle);
        this.downMs = restartMs;
        await this.openLife();
        await this.settling.settle();
        patience = patienceMax;
        this.target.deliverAgain();
        continue;
      }
      if (await this.waits.answer()) continue;
      const next = await this.nextMove();
      if (next !== null) {
        await this.clock.moveTo(Math.max(next, this.clock.monoMs()), this.settling.settle);
        continue;
      }
      if (this.target.isUnanswered || (await this.openRuns()) > 0 || (await this.isHandingOn())) {
        const any = this.clock.next("any");
        if (any !== null && patience-- > 0) {
          await this.clock.moveTo(any, this.settling.settle);
          continue;
        }
      }
      // The zombie finds that it was not waited for.
      if (frozen === undefined) return;
      frozen.thaw();
    }
    if (!this.settling.isHanging) this.unproven("the world does not come to its end: something goes on and on");
  }

  /** When something is due; null where only housekeeping is. */
  private async nextMove(): Promise<number | null> {
    const next = this.clock.next("awaited");
    const isHandover =
      next !== null && next > this.processes.handoverUntil && this.clock.monoMs() < this.processes.handoverUntil;
    if (!isHandover) return next;
    const { running } = await this.store.reads.counts(this.options.env);
    return running === 0 ? next : this.clock.next("any");
  }

  private async openRuns(): Promise<number> {
    const { queued, running, waiting } = await this.store.reads.counts(this.options.env);
    return queued + running + waiting;
  }

  /** Housekeeping still hands on what the code left in an outbox. */
  private async isHandingOn(): Promise<boolean> {
    for (const each of this.watched) if ((await each.waiting?.()) === true) return true;
    return false;
  }

  private runsOfTarget() {
    return runsOf(this.store, this.options.env, this.options.fn);
  }

  /** Whether it was. */
  private async rerun(runId: string, fromStep: string | null): Promise<boolean> {
    const wasRerun = await this.target.rerun(runId, fromStep);
    if (wasRerun === null) return false;
    await this.play();
    return wasRerun;
  }

  /** As the schedule says. */
  private async rerunEnded(): Promise<void> {
    const rerun = this.has("rerun");
    if (rerun === null) return;
    const [first] = await this.runsOfTarget();
    if (first === undefined) return;
    await this.pause(60_000);
    this.say(rerun.fromStep === null ? "a person reran it" : `a person reran it from step ${rerun.fromStep}`);
    if (await this.rerun(first.id, rerun.fromStep)) this.happened.add(rerun);
  }

  /** A failed run is loud: people mend what was broken and rerun it. */
  private async heal(): Promise<boolean> {
    this.effects.heal();
    if (this.options.schedule.adversities.length === 0) return false;
    if (await this.isHandingOn()) await this.play();
    const handlers = this.lives[0]!.clients.flatMap(({ codes }) =>
      codes.flatMap(({ fn, handlesEnd }) => (handlesEnd ? [fn] : [])),
    );
    const failed = (await failedRuns(this.store, this.options.env)).filter(({ fn }) => !handlers.includes(fn));
    if (failed.length === 0) return false;
    await this.pause(60_000);
    for (const { id } of failed) {
      this.say("it failed; what was broken is mended, and a person reran it");
      await this.rerun(id, null);
    }
    return true;
  }

  // ------------------------------------------------------------------------------------------------ at the end

  private notHappened(): string[] {
    const wait = this.has("wait");
    if (wait !== null && this.waits.hasMet()) this.happened.add(wait);
    return this.options.schedule.adversities.filter((each) => !this.happened.has(each)).map(nameOf);
  }

  /** Nothing of it goes on. */
  async close(): Promise<void> {
    for (const life of this.lives) life.die();
    for (const each of this.watched) await each.end?.();
  }

  protected async record(wasRerun: boolean, isPastWindow: boolean): Promise<WorldRecord> {
    const { schedule, seed, env } = this.options;
    await this.close();
    const runs = await this.runsOfTarget();
    return {
      schedule: schedule.id,
      seed,
      notHappened: this.notHappened(),
      runs,
      wasRerun,
      isPastWindow,
      isOpen: runs.some(({ state }) => state === "queued" || state === "running" || state === "waiting"),
      parked: [
        ...(await parkedEffects(this.store, env, this.clock.wallMs())),
        ...this.watched.flatMap((each) => each.parked?.() ?? []),
      ],
      things: [
        ...this.watched.flatMap((each) => each.things()),
        ...(await sentEvents(this.store, env, this.target.delivered, this.functions.sent, this.effects.seen)),
      ],
      effects: this.effects.seen,
      sent: this.functions.sent,
      madeIds: this.watched.flatMap((each) => each.madeIds),
      recorded: this.watched.flatMap((each) => each.recorded?.() ?? []),
      commits: { ...this.commits.counts },
      commitsOfCode: this.commits.ofCode,
      steps: [...this.functions.steps],
      hasWaits: this.functions.waits.size > 0,
      divergences: [...this.divergences.values()],
      unproven: [...this.unprovenNames],
      absent: this.watched.flatMap((each) => each.absent?.() ?? []),
      assumptions: [...this.assumptions],
      drawn: [...this.simulation.drawn.values()],
      timeline: this.timeline,
      lifeCount: this.lives.length,
      tookMs: realMonoMs() - this.startedAt - this.processes.loadingMs,
    };
  }
}
