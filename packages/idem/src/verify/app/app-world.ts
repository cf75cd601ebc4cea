// One world of an app: a server of its own over a store in memory, on a clock that is moved by hand; the app in processes that are really killed; an outside that
// outlives them. Played to its end under one schedule.
import type { Engine } from "../../engine/engine.ts";
import { isDivergence, readDivergence } from "../../model/divergence.ts";
import type { Platform } from "../../platform/platform.ts";
import { defaultEnv } from "../../server/admit-caller.ts";
import type { AppRegistration } from "../../server/apps.ts";
import type { RunningServer } from "../../server/start-server.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { DestinationModel } from "../destination-model.ts";
import { knownHost } from "../known-hosts.ts";
import { type Adversity, nameOf, type Schedule } from "../schedules.ts";
import type { AbsentField, Divergence, Moment, WorldRecord } from "../thing.ts";
import { AnswerWaits } from "../worker/answer-waits.ts";
import { playCourse } from "../worker/course.ts";
import { failedRuns, parkedEffects, runsOf, sentEvents } from "../worker/read-world.ts";
import type { Wait } from "../worker/watched-functions.ts";
import { WorldClock } from "../worker/world-clock.ts";
import { fixtureFor, type WorldScript } from "../worker/world-script.ts";
import type { Passed, Passing } from "./app-gateway.ts";
import type { AppOutside } from "./app-outside.ts";
import type { AppProcess } from "./app-process.ts";
import { awake, closeAppServer, findWaits, knownToSdk, openAppServer } from "./app-server.ts";
import { AppTraffic, type RunningApp } from "./app-traffic.ts";
import { Quiet } from "./quiet.ts";

export interface AppWorldOptions extends WorldScript {
  readonly schedule: Schedule;
  readonly seed: number;
  readonly platform: Platform;
  /** The app's own description of itself. */
  readonly registration: AppRegistration;
  /** The address at which the world's server calls it. */
  readonly appUrl: string;
  readonly handlers: readonly string[];
  /** Another start of the app, ready; a string says why there is none. */
  readonly start: () => Promise<{ readonly process: AppProcess; readonly port: number } | string>;
  /** Opens the outside, which outlives its processes. */
  readonly open: (now: () => number) => Promise<AppOutside>;
}

/** More than any function waits for things one after the other. */
const movesMax = 300;
/** Turns of housekeeping in which an open run is given back. */
const patienceMax = 60;
/** Real time, without what starting the app takes. */
const worldMsMax = 30_000;
const restartMs = 500;
/** Steps a run can be rerun from: they do something. */
const doing = new Set(["run", "fetch", "effect", "send-event", "invoke"]);
/** Real time in which nothing happens, after which calls that were given up go on: the one in their place may be waiting for what they hold. */
const stuckMs = 1_500;
/** Rounds in which what stands in an outbox is handed on. */
const roundsMax = 40;
const roundMs = 10_000;

export class AppWorld {
  private readonly clock: WorldClock;
  private readonly store: MemoryStore;
  private readonly model: DestinationModel;
  private readonly traffic: AppTraffic;
  private readonly quiet: Quiet;
  private readonly answers: AnswerWaits;
  private server: RunningServer | null = null;
  private engine: Engine | null = null;
  private outside: AppOutside | null = null;
  private app: RunningApp | null = null;
  private readonly dying: Promise<void>[] = [];
  private readonly waits = new Map<string, Wait>();
  private readonly happened = new Set<Adversity>();
  private readonly timeline: Moment[] = [];
  private readonly unprovenNames = new Set<string>();
  private readonly assumptions = new Set<string>();
  private readonly delivered = new Set<string>();
  private downMs = restartMs;
  private spentSince: number;

  constructor(private readonly options: AppWorldOptions) {
    const { schedule, platform } = options;
    this.clock = new WorldClock(options.startMs);
    this.store = new MemoryStore(this.clock);
    this.spentSince = platform.monoMs();
    const now = () => this.clock.wallMs();
    this.model = new DestinationModel({
      now,
      hostOf: knownHost,
      assume: (what) => this.assumptions.add(what),
      given: (request) => fixtureFor(options.fixtures, request),
    });
    const happened = (adversity: Adversity) => void this.happened.add(adversity);
    this.quiet = new Quiet({
      platform,
      engineIdle: () => this.engine?.idle() ?? Promise.resolve(),
      isWorking: () => (this.isAlive() && this.app!.process.timers > 0) || this.traffic.isUnderway(),
      onBusy: async (quietMs) => {
        if (!this.traffic.hasFrozen) return;
        if (quietMs > stuckMs || (await this.outside!.isLocked())) this.traffic.thaw("all");
      },
      onHang: () => this.unproven("it hangs: a step or the code between steps waits for something that never comes"),
    });
    this.traffic = new AppTraffic({
      schedule,
      model: this.model,
      now,
      stir: this.quiet.stir,
      say: (text) => this.say(text),
      unproven: (what) => this.unproven(what),
      happened,
      kill: (why, isOutage) => {
        if (isOutage) this.downMs = options.outageMs;
        this.kill(why);
      },
      cancel: (runId, adversity) => this.cancel(runId, adversity),
      running: () => this.app,
      server: () => this.server?.origin ?? null,
      hasBegun: () => this.delivered.size > 0,
      beforeCall: async () => this.outside?.moved(),
      named: (request) => knownToSdk(options, request),
    });
    this.answers = new AnswerWaits({
      waits: this.waits,
      how: this.has("wait")?.answer ?? null,
      store: this.store,
      env: defaultEnv,
      unproven: (what) => this.unproven(what),
      sendEvent: (event, what) => this.deliver({ ...event, id: `${options.event.id}-${event.id}` }, what, false),
      sendSignal: ({ signal, data }, what) => {
        this.say(what);
        void this.engine!.signal(signal, JSON.stringify(data));
      },
    });
  }

  private has<K extends Adversity["kind"]>(kind: K): Extract<Adversity, { kind: K }> | null {
    const found = this.options.schedule.adversities.find((each) => each.kind === kind);
    return (found as Extract<Adversity, { kind: K }> | undefined) ?? null;
  }

  private say(text: string): void {
    this.timeline.push({ at: this.clock.wallMs(), text });
  }

  private unproven(what: string): void {
    this.unprovenNames.add(what);
  }

  private isAlive(): boolean {
    return this.app !== null && !this.app.process.isDead;
  }

  /** A request of the world's server to the app. */
  toApp(request: Passing): Promise<Passed | null> {
    return this.traffic.toApp(request);
  }

  /** A message of the app to its server. */
  toServer(request: Passing): Promise<Passed | null> {
    return this.traffic.toServer(request);
  }

  // ------------------------------------------------------------------------------------------------ processes

  private kill(why: string): void {
    if (!this.isAlive()) return;
    this.say(`the app was killed: ${why}`);
    this.dying.push(this.app!.process.kill());
    this.quiet.stir();
  }

  /** False where it cannot be started. */
  private async openApp(): Promise<boolean> {
    const { platform, start, open, event, twin, changed } = this.options;
    const before = platform.monoMs();
    await Promise.all(this.dying);
    if (this.outside === null) this.outside = await open(() => this.clock.wallMs());
    else await this.outside.bury();
    const { outside } = this;
    const started = await start();
    this.spentSince += platform.monoMs() - before;
    if (typeof started === "string") {
      this.unproven(started);
      return false;
    }
    const app: RunningApp = { ...started, index: (this.app?.index ?? 0) + 1 };
    this.app = app;
    if (app.index > 1) this.say("the app was started again");
    const { traffic } = this;
    await app.process.begin(
      {
        asked: (message, answer) => void traffic.asked(app, message, answer),
        effect: (message, name, answer) => void traffic.effect(app, message, name, answer),
        effected: (message, name) => traffic.effected(message, name),
        unproven: (what) => this.unproven(what),
        assume: (what) => this.assumptions.add(what),
      },
      this.clock.wallMs(),
      [event.data, twin?.data ?? null, ...Object.values(changed)],
      outside.forProcess(),
    );
    return true;
  }

  // ------------------------------------------------------------------------------------------------ playing

  private deliver(event: { readonly name: string; readonly id?: string }, what: string, invented: boolean): void {
    this.delivered.add(event.id ?? what);
    this.say(what);
    this.quiet.stir();
    void this.engine!.accept([event], this.options.windowMs, []).catch((error: unknown) => {
      const why = `the event was refused: ${messageOf(error)}`;
      if (invented) this.say(why);
      else this.unproven(why);
    });
  }

  private cancel(runId: string | null, adversity: Adversity): void {
    if (runId === null) return;
    void this.engine!.cancel(runId, "a person cancelled it").then(
      () => this.happened.add(adversity),
      (error: unknown) => this.say(`it could not be cancelled: ${messageOf(error)}`),
    );
  }

  async run(): Promise<WorldRecord> {
    try {
      const { clock, store, traffic } = this;
      const fetch: Platform["fetch"] = (request) => traffic.fetch(request);
      this.server = await openAppServer(this.options, { clock, store, fetch, stir: this.quiet.stir });
      this.engine = await this.server.world.engine(defaultEnv);
      if (!(await this.openApp())) return await this.record(false, false);
      await this.quiet.settle();
      const { schedule, event, twin, second = null, changed, names, windowMs } = this.options;
      const course = { adversities: schedule.adversities, event, twin, second, changed, names, windowMs };
      const { isPastWindow } = await playCourse(course, {
        monoMs: () => this.clock.monoMs(),
        in: (ms, run) => void this.clock.set(ms, run, awake, false),
        moveTo: (at) => this.moveTo(at),
        deliver: (next, what, invented) => this.deliver(next, what, invented),
        play: () => this.play(),
        happened: (adversity) => this.happened.add(adversity),
      });
      await this.rerunEnded();
      const wasRerun = await this.heal();
      await this.quiet.linger();
      await this.untilHandedOn();
      return await this.record(wasRerun, isPastWindow);
    } finally {
      await this.close();
    }
  }

  private async moveTo(at: number): Promise<void> {
    while (this.clock.monoMs() < at) {
      const next = this.clock.next("awaited");
      const to = next === null ? at : Math.min(at, Math.max(next, this.clock.monoMs()));
      await this.clock.moveTo(to, this.quiet.settle);
      if (next === null) return;
    }
  }

  /** Until nothing waits any more. */
  private async play(): Promise<void> {
    const { platform } = this.options;
    let patience = patienceMax;
    for (let moves = 0; moves < movesMax && !this.quiet.isHanging; moves++) {
      if (platform.monoMs() - this.spentSince > worldMsMax) break;
      await this.quiet.settle();
      if (!this.isAlive()) {
        await this.clock.moveTo(this.clock.monoMs() + this.downMs, this.quiet.settle);
        this.downMs = restartMs;
        if (!(await this.openApp())) return;
        patience = patienceMax;
        continue;
      }
      await findWaits(this.store, this.waits, this.options.waits ?? {});
      if (await this.answers.answer()) continue;
      const next = this.clock.next("awaited");
      if (next !== null) {
        await this.clock.moveTo(Math.max(next, this.clock.monoMs()), this.quiet.settle);
        continue;
      }
      if ((await this.openRuns()) > 0) {
        const any = this.clock.next("any");
        if (any !== null && patience-- > 0) {
          await this.clock.moveTo(any, this.quiet.settle);
          continue;
        }
      }
      // A call that was given up finds that it was not waited for.
      if (!this.traffic.thaw("one")) return;
    }
    if (!this.quiet.isHanging) this.unproven("the world does not come to its end: something goes on and on");
  }

  /** The app itself hands its outbox on, on the machine's time; leases on it end by the world's. */
  private async untilHandedOn(): Promise<void> {
    const { outside } = this;
    for (let round = 0; outside !== null && (await outside.isHandingOn()); round++) {
      if (round === roundsMax || !this.isAlive()) {
        this.unproven("what stands in an outbox is not handed on: no process of the app did");
        return;
      }
      await this.moveTo(this.clock.monoMs() + roundMs);
      await outside.moved();
      await this.app!.process.tellTime(this.clock.wallMs());
      await this.play();
      await this.quiet.linger();
    }
  }

  private async openRuns(): Promise<number> {
    const { queued, running, waiting } = await this.store.reads.counts(defaultEnv);
    return queued + running + waiting;
  }

  private runsOfTarget() {
    return runsOf(this.store, defaultEnv, this.options.fn);
  }

  /** Whether it was. */
  private async rerun(runId: string, fromStep: string | null): Promise<boolean> {
    const wasRerun = await this.engine!.rerun(runId, fromStep === null ? {} : { fromStep }).then(
      () => true,
      (error: unknown) => {
        this.say(`it could not be rerun: ${messageOf(error)}`);
        return false;
      },
    );
    await this.play();
    return wasRerun;
  }

  private async rerunEnded(): Promise<void> {
    const rerun = this.has("rerun");
    const [first] = rerun === null ? [] : await this.runsOfTarget();
    if (rerun === null || first === undefined) return;
    await this.moveTo(this.clock.monoMs() + 60_000);
    this.say(rerun.fromStep === null ? "a person reran it" : `a person reran it from step ${rerun.fromStep}`);
    if (await this.rerun(first.id, rerun.fromStep)) this.happened.add(rerun);
  }

  /** A failed run is loud: people mend what was broken and rerun it. */
  private async heal(): Promise<boolean> {
    this.traffic.effects.heal();
    const { schedule, handlers } = this.options;
    if (schedule.adversities.length === 0) return false;
    const failed = (await failedRuns(this.store, defaultEnv)).filter(({ fn }) => !handlers.includes(fn));
    if (failed.length === 0) return false;
    await this.moveTo(this.clock.monoMs() + 60_000);
    for (const { id } of failed) {
      this.say("it failed; what was broken is mended, and a person reran it");
      await this.rerun(id, null);
    }
    return true;
  }

  // ------------------------------------------------------------------------------------------------ at the end

  private notHappened(): string[] {
    const wait = this.has("wait");
    if (wait !== null && this.answers.hasMet()) this.happened.add(wait);
    return this.options.schedule.adversities.filter((each) => !this.happened.has(each)).map(nameOf);
  }

  private async record(wasRerun: boolean, isPastWindow: boolean): Promise<WorldRecord> {
    const { schedule, seed, platform } = this.options;
    const { effects, reports, sent } = this.traffic;
    const absent: readonly AbsentField[] = (await this.app?.process.report()) ?? [];
    await this.endApp();
    const left = (await this.outside?.end()) ?? { things: [], parked: [] };
    const runs = await this.runsOfTarget();
    const memos = await Promise.all(runs.map(({ id }) => this.store.reads.runMemo(defaultEnv, id)));
    const steps = memos.flatMap((memo) => memo?.steps ?? []);
    const divergences: Divergence[] = steps.filter(isDivergence).map(({ stepId, name, outcome }) => {
      const { name: step, asked } = readDivergence({ stepId, name, json: outcome.json });
      return { step: step === "" ? stepId : step, asked };
    });
    return {
      schedule: schedule.id,
      seed,
      notHappened: this.notHappened(),
      runs,
      wasRerun,
      isPastWindow,
      isOpen: runs.some(({ state }) => state === "queued" || state === "running" || state === "waiting"),
      parked: [...(await parkedEffects(this.store, defaultEnv, this.clock.wallMs())), ...left.parked],
      things: [
        ...this.model.things(),
        ...left.things,
        ...(await sentEvents(this.store, defaultEnv, this.delivered, sent, [])),
      ],
      effects: effects.seen,
      sent,
      madeIds: this.model.madeIds,
      commits: { ...reports.counts },
      commitsOfCode: Array.from({ length: reports.counts.before }, (_, i) => i + 1),
      steps: [...new Set(steps.filter(({ kind }) => doing.has(kind)).map(({ name }) => name))],
      hasWaits: this.waits.size > 0,
      divergences,
      unproven: [...this.unprovenNames],
      absent,
      assumptions: [...this.assumptions],
      drawn: [],
      timeline: this.timeline,
      lifeCount: this.app?.index ?? 0,
      tookMs: platform.monoMs() - this.spentSince,
    };
  }

  private async endApp(): Promise<void> {
    if (this.isAlive()) this.dying.push(this.app!.process.kill());
    await Promise.all(this.dying);
  }

  /** Nothing of it stays. */
  private async close(): Promise<void> {
    const { server } = this;
    await this.endApp();
    this.outside?.close();
    if (server === null) return;
    await closeAppServer(server, this.clock, this.options.platform);
    await this.store.close();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
