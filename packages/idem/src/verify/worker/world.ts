// One world: a store, a clock, processes and an outside, played to its end under one schedule.
import type { CrashPoint, HttpRequest, HttpResponse } from "../../platform/platform.ts";
import { takeClients } from "../../sdk/take-client.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import type { Adversity, Schedule } from "../schedules.ts";
import type { Moment, WorldRecord } from "../thing.ts";
import { asCaller, type Caller, currentCaller } from "./caller.ts";
import { Life } from "./life.ts";
import { loadModules } from "./load-modules.ts";
import { failedRuns, runsOf, sentEvents, waitingRuns } from "./read-world.ts";
import { realMonoMs, realTurn } from "./real.ts";
import { Simulation } from "./simulation.ts";
import { type Wait, WatchedFunctions } from "./watched-functions.ts";
import type { WatchedWorld, Watcher } from "./watcher.ts";
import { WorldClock } from "./world-clock.ts";
import { WorldEffects } from "./world-effects.ts";
import { fixtureFor, restTurns, type WorldScript } from "./world-script.ts";

export interface WorldOptions extends WorldScript {
  readonly schedule: Schedule;
  readonly seed: number;
  readonly watchers: readonly Watcher[];
  readonly askHttp: (life: Life, request: HttpRequest) => Promise<HttpResponse>;
}

// A supervisor that starts a process again takes a moment for it.
const restartMs = 500;
/** Time of its own in which nothing at all happens, though something is at work. */
const hangMs = 1_500;
/** More than any function waits for things one after the other. */
const movesMax = 500;
/** Time of its own one world may take. */
const worldMsMax = 5_000;
/** Of a turn that took longer the rest is the machine's, which had others to look after. */
const turnMsMax = 20;
/** Turns of housekeeping in which an open run is given back: a lease is twenty seconds, a heartbeat five. */
const patienceMax = 100;
/** After a process was lost, what it held is given to another before anything that is due later. */
const handoverMs = 30_000;
/** Code whose steps have other names each time is entered again for ever. */
const replaysMax = 12;

export class World {
  readonly clock: WorldClock;
  readonly store: MemoryStore;
  readonly lives: Life[] = [];
  readonly timeline: Moment[] = [];
  readonly unprovenNames = new Set<string>();
  /** What the program's configuration exports; null without one. */
  configuration: unknown = null;
  private readonly assumptions = new Set<string>();
  readonly simulation: Simulation;
  readonly effect: WorldEffects["effect"];
  readonly effectNow: WorldEffects["effectNow"];
  private readonly watched: WatchedWorld[];
  private readonly divergences = new Map<string, { step: string; asked: string | null }>();
  private readonly functions: WatchedFunctions;
  private readonly effects: WorldEffects;
  private readonly commits = { before: 0, after: 0 };
  private readonly fired = new Set<Adversity>();
  private readonly delivered = new Set<string>();
  /** Sent, and nobody has answered yet: whoever sent it sends it again. */
  private readonly unanswered = new Map<string, object>();
  private isPastWindow = false;
  private replays = 0;
  private downMs = restartMs;
  private handoverUntil = 0;
  private spentMs = 0;
  private stirred = 0;
  private isHanging = false;
  private startedAt = realMonoMs();

  constructor(private readonly options: WorldOptions) {
    this.clock = new WorldClock(options.startMs);
    this.store = new MemoryStore(this.clock);
    this.watched = options.watchers.map((watcher) =>
      watcher.begin({
        now: () => this.clock.wallMs(),
        assume: (what) => this.assumptions.add(what),
        given: (request) => fixtureFor(options.fixtures, request),
        recordFrom: options.recordFrom ?? [],
      }),
    );
    const { schedule } = options;
    const now = () => this.clock.wallMs();
    const say = (text: string) => this.say(text);
    const unproven = (what: string) => this.unproven(what);
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
      cancel: (caller) => this.cancel(caller),
      placeOfStep: (runId, step) => this.functions.placeOfStep(runId, step),
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
    });
    this.effect = (...asked) => this.effects.effect(...asked);
    this.effectNow = (...asked) => this.effects.effectNow(...asked);
  }

  private has<K extends Adversity["kind"]>(kind: K): Extract<Adversity, { kind: K }> | null {
    const found = this.options.schedule.adversities.find((each) => each.kind === kind);
    return (found as Extract<Adversity, { kind: K }> | undefined) ?? null;
  }

  readonly stir = (): void => {
    this.stirred++;
  };

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
    return this.lives.findLast((life) => !life.isDead && !life.isFrozen) ?? null;
  }

  // ------------------------------------------------------------------------------------------------ processes

  /** A process, its modules loaded; not yet at work. */
  async load(): Promise<Life> {
    const { clock, stir } = this;
    const life = new Life({
      home: this,
      index: this.lives.length + 1,
      seed: this.options.seed,
      clock,
      stir,
      onPoint: (of, name) => this.onPoint(of, name),
      fetch: this.options.askHttp,
    });
    this.lives.push(life);
    const scratch = new MemoryStore(clock);
    takeClients(() => {
      const at = currentCaller()?.life ?? life;
      return { platform: at.platform(), scratch, take: (taken) => at.clients.push(taken) };
    });
    const before = realMonoMs();
    this.configuration = await asCaller({ life, run: null, stack: null }, () => loadModules(this.options.modules));
    // Providers' SDKs take a while to load: no time that the world took.
    this.startedAt += realMonoMs() - before;
    life.isLoading = false;
    return life;
  }

  private async openLife(): Promise<void> {
    const life = await this.load();
    for (const taken of life.clients) {
      this.functions.fit(life, taken);
      taken.moveTo(life.storeOf(this.store));
      taken.client.on("run.diverged", ({ step, asked, runId }) => {
        if (!life.isDead) this.divergences.set(`${runId} ${step}`, { step, asked });
      });
    }
    if (this.lives.length > 1) {
      this.say("another process took over");
      this.handoverUntil = this.clock.monoMs() + handoverMs;
    }
    await asCaller({ life, run: null, stack: null }, () => this.startAll(life));
  }

  private async startAll(life: Life): Promise<void> {
    // Not waited for: it may die in it.
    for (const { client, codes } of life.clients) {
      if (codes.length > 0)
        void client.start().catch((error: unknown) => this.unproven(`a client could not start: ${String(error)}`));
    }
  }

  private kill(life: Life, why: string): void {
    life.die();
    this.say(`the process died: ${why}`);
    this.stir();
  }

  private onPoint(life: Life, name: CrashPoint): void {
    const side = name.endsWith(":before-commit") ? "before" : name.endsWith(":after-commit") ? "after" : null;
    // What is leased or rescued changes nothing that a death around it could lose.
    if (side === null || this.delivered.size === 0 || name.startsWith("lease:") || name.startsWith("rescue:")) return;
    const count = ++this.commits[side];
    for (const adversity of this.options.schedule.adversities) {
      if (adversity.kind === "replay" && name === "step:after-commit" && this.replays++ < replaysMax) {
        this.kill(life, "a step was recorded, nothing after it");
      }
      if (adversity.kind !== "die-at-commit" || adversity.side !== side || this.fired.has(adversity)) continue;
      if (adversity.commit !== count) continue;
      this.fired.add(adversity);
      this.kill(life, `${side} the commit of ${name.split(":")[0]!}`);
    }
  }

  private cancel({ life, run }: Caller): void {
    const taken = this.ofTarget(life);
    if (run === null || taken === undefined) return;
    void asCaller({ life, run: null, stack: null }, () => taken.client.runs.cancel(run.runId)).catch((error: unknown) =>
      this.say(`it could not be cancelled: ${messageOf(error)}`),
    );
  }

  private ofTarget(life: Life) {
    return life.clients.find(({ codes }) => codes.some(({ fn }) => fn === this.options.fn));
  }

  // ------------------------------------------------------------------------------------------------ playing

  /**
   * Sends an event as whoever sends it would: again, if no answer came. One that was `invented` here may not exist at all, by its schema: refused, it shows
   * nothing.
   */
  private deliver(event: { readonly name: string; readonly id?: string }, what: string, invented = false): void {
    const life = this.living;
    const id = event.id ?? what;
    this.delivered.add(id);
    this.unanswered.set(what, event);
    if (life === null) return;
    const taken = this.ofTarget(life);
    if (taken === undefined) return;
    this.say(what);
    void asCaller({ life, run: null, stack: null }, () => taken.client.send(event as never)).then(
      () => this.unanswered.delete(what),
      (error: unknown) => {
        this.unanswered.delete(what);
        const why = `the event was refused: ${messageOf(error)}`;
        if (invented) this.say(why);
        else this.unproven(why);
      },
    );
  }

  async run(): Promise<WorldRecord> {
    const { event, twin } = this.options;
    const again = this.has("again");
    const otherId = this.has("other-id");
    const otherName = this.has("other-name");
    const otherField = this.has("other-field");
    const twinned = this.has("twin");
    await this.openLife();
    await this.settle();
    const begunAt = this.clock.monoMs();
    if (otherName?.order === "first") {
      this.deliver(
        { ...event, name: otherName.event, id: `${event.id}-other-name` },
        `event ${otherName.event} arrived`,
        true,
      );
      await this.play();
    }
    this.deliver(event, `event ${event.name} arrived`);
    if (again?.when === "at-once") this.deliver(event, "the same event arrived at the same time");
    if (otherId?.when === "at-once") {
      this.deliver({ ...event, id: `${event.id}-again` }, "the same data arrived at the same time, under another id");
    }
    if (twinned?.when === "at-once" && twin !== null) this.deliver(twin, "the twin's event arrived at the same time");
    if (again?.when === "later") {
      const sender = { isDead: false, isFrozen: false };
      this.clock.set(1_000, () => this.deliver(event, "the same event arrived again"), sender, false);
    }
    await this.play();
    const later = (what: string, next: typeof event, invented = false): Promise<void> => {
      if (this.clock.monoMs() - begunAt >= this.options.windowMs) this.isPastWindow = true;
      this.deliver(next, what, invented);
      return this.play();
    };
    if (again?.when === "after-end") {
      await this.pause(60_000);
      await later("the same event arrived again", event);
    }
    if (otherId !== null && otherId.when !== "at-once") {
      const { windowMs } = this.options;
      if (otherId.when === "after-end") await this.pause(60_000);
      else await this.moveTo(begunAt + windowMs + (otherId.when === "before-window-end" ? -1 : 1));
      await later("the same data arrived again, under another id", { ...event, id: `${event.id}-again` });
    }
    if (otherName?.order === "after") {
      const renamed = { ...event, name: otherName.event, id: `${event.id}-other-name` };
      await later(`the same data arrived as ${otherName.event}`, renamed, true);
    }
    if (otherField !== null) {
      const data = this.options.changed[otherField.field] ?? event.data;
      const changed = { ...event, id: `${event.id}-field`, data };
      await later(`an event arrived with another ${otherField.field}`, changed, true);
    }
    if (twinned?.when === "after-end" && twin !== null) {
      await this.pause(60_000);
      await later("the twin's event arrived", twin);
    }
    await this.rerunEnded();
    const wasRerun = await this.heal();
    return this.record(wasRerun);
  }

  private async pause(ms: number): Promise<void> {
    await this.moveTo(this.clock.monoMs() + ms);
  }

  private async moveTo(at: number): Promise<void> {
    while (this.clock.monoMs() < at) {
      const next = this.clock.next("awaited");
      await this.clock.moveTo(next === null ? at : Math.min(at, Math.max(next, this.clock.monoMs())), this.settle);
      if (next === null) return;
    }
  }

  /** Until nothing waits any more. */
  private async play(): Promise<void> {
    let patience = patienceMax;
    for (let moves = 0; moves < movesMax && !this.isHanging; moves++) {
      if (this.spentMs > worldMsMax) break;
      await this.settle();
      const frozen = this.lives.find(({ isDead, isFrozen }) => isFrozen && !isDead);
      if (this.living === null) {
        await this.clock.moveTo(this.clock.monoMs() + this.downMs, this.settle);
        this.downMs = restartMs;
        await this.openLife();
        await this.settle();
        patience = patienceMax;
        for (const [what, event] of [...this.unanswered]) {
          this.deliver(event as { name: string }, what.startsWith("again: ") ? what : `again: ${what}`);
          if (!what.startsWith("again: ")) this.unanswered.delete(what);
        }
        continue;
      }
      if (await this.answerWaits()) continue;
      const next = await this.nextMove();
      if (next !== null) {
        await this.clock.moveTo(Math.max(next, this.clock.monoMs()), this.settle);
        continue;
      }
      if (this.unanswered.size > 0 || (await this.openRuns()) > 0) {
        const any = this.clock.next("any");
        if (any !== null && patience-- > 0) {
          await this.clock.moveTo(any, this.settle);
          continue;
        }
      }
      // The zombie finds that it was not waited for.
      if (frozen === undefined) return;
      frozen.thaw();
    }
    if (!this.isHanging) this.unproven("the world does not come to its end: something goes on and on");
  }

  /** When something is due; null where only housekeeping is. */
  private async nextMove(): Promise<number | null> {
    const next = this.clock.next("awaited");
    const isHandover = next !== null && next > this.handoverUntil && this.clock.monoMs() < this.handoverUntil;
    if (!isHandover) return next;
    const { running } = await this.store.reads.counts(this.options.env);
    return running === 0 ? next : this.clock.next("any");
  }

  private async openRuns(): Promise<number> {
    const { queued, running, waiting } = await this.store.reads.counts(this.options.env);
    return queued + running + waiting;
  }

  /** Sends what a run waits for, unless the schedule wants it to wait in vain. */
  private async answerWaits(): Promise<boolean> {
    const answer = this.has("wait")?.answer;
    const times = answer === "twice" ? 2 : 1;
    const open = [...this.functions.waits].filter(([, { sent }]) => sent < times);
    if (answer === "timeout" || open.length === 0) return false;
    let isSent = false;
    // Not before it listens: what comes earlier does not count.
    const waiting = await waitingRuns(this.store, this.options.env);
    for (const [key, wait] of open) {
      if (!waiting.has(wait.runId)) continue;
      for (; wait.sent < times; wait.sent++) {
        this.answerWait(key, wait);
        isSent = true;
      }
    }
    return isSent;
  }

  private answerWait(key: string, { for: what, data, sent }: Wait): void {
    const again = sent > 0 ? ", again" : "";
    if ("event" in what) {
      const awaited = { name: what.event, id: `${this.options.event.id}-wait-${key}-${sent}`, data };
      this.deliver(awaited, `event ${what.event} arrived, which it waits for${again}`);
      return;
    }
    const life = this.living!;
    const taken = this.ofTarget(life);
    if (taken === undefined) return;
    this.say(`signal ${what.signal} arrived, which it waits for${again}`);
    const signal = { signal: what.signal, data };
    void asCaller({ life, run: null, stack: null }, () => taken.client.sendSignal(signal)).catch((error: unknown) =>
      this.unproven(`the signal was refused: ${messageOf(error)}`),
    );
  }

  private runsOfTarget() {
    return runsOf(this.store, this.options.env, this.options.fn);
  }

  private async rerun(runId: string, fromStep: string | null): Promise<void> {
    const life = this.living;
    if (life === null) return;
    const taken = this.ofTarget(life);
    if (taken === undefined) return;
    const options = fromStep === null ? {} : { fromStep };
    await asCaller({ life, run: null, stack: null }, () => taken.client.runs.rerun(runId, options)).catch(
      (error: unknown) => this.say(`it could not be rerun: ${messageOf(error)}`),
    );
    await this.play();
  }

  /** As the schedule says. */
  private async rerunEnded(): Promise<void> {
    const rerun = this.has("rerun");
    if (rerun === null) return;
    const [first] = await this.runsOfTarget();
    if (first === undefined) return;
    await this.pause(60_000);
    this.say(rerun.fromStep === null ? "a person reran it" : `a person reran it from step ${rerun.fromStep}`);
    await this.rerun(first.id, rerun.fromStep);
  }

  /** A failed run is loud: people mend what was broken and rerun it. */
  private async heal(): Promise<boolean> {
    this.effects.heal();
    if (this.options.schedule.adversities.length === 0) return false;
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

  /** Until everything that can go on without the clock has. */
  private readonly settle = async (): Promise<void> => {
    let quiet = 0;
    let seen = this.stirred;
    let quietMs = 0;
    let lastAt = realMonoMs();
    let isIdle = false;
    const ask = (): void => {
      const asked = this.stirred;
      isIdle = false;
      const living = this.lives.filter(({ isDead, isFrozen }) => !isDead && !isFrozen);
      void Promise.all(living.flatMap(({ clients }) => clients.map(({ client }) => client.idle()))).then(() => {
        if (asked === this.stirred) isIdle = true;
      });
    };
    ask();
    for (;;) {
      await realTurn();
      const now = realMonoMs();
      const tookMs = Math.min(turnMsMax, now - lastAt);
      lastAt = now;
      this.spentMs += tookMs;
      quietMs += tookMs;
      if (this.stirred !== seen) {
        seen = this.stirred;
        quiet = 0;
        quietMs = 0;
        if (this.spentMs > 2 * worldMsMax) return;
        continue;
      }
      quiet++;
      if (quiet === 2) ask();
      if (quiet < restTurns.idle) continue;
      if (isIdle && !this.isWorking()) return;
      if (quiet < restTurns.busy) continue;
      if (this.isBlocked() && !this.isWorking()) return;
      if (quietMs > hangMs) {
        this.isHanging = true;
        this.unproven("it hangs: a step or the code between steps waits for something that never comes");
        return;
      }
    }
  };

  /** Code of a living process is in the middle of something the machine does for it. */
  private isWorking(): boolean {
    if (this.lives.some(({ isDead, isFrozen, underway }) => !isDead && !isFrozen && underway > 0)) return true;
    return process.getActiveResourcesInfo().some((name) => /Req|ZLIB|Zlib|PBKDF|SCRYPT|RANDOM|SIGN|HASH/.test(name));
  }

  private isBlocked(): boolean {
    return this.lives.some((life) => !life.isDead && (life.isFrozen || this.clock.hasAwaited(life)));
  }

  // ------------------------------------------------------------------------------------------------ at the end

  private async record(wasRerun: boolean): Promise<WorldRecord> {
    const { schedule, seed, env } = this.options;
    for (const life of this.lives) life.die();
    const runs = await this.runsOfTarget();
    return {
      schedule: schedule.id,
      seed,
      runs,
      wasRerun,
      isPastWindow: this.isPastWindow,
      isOpen: runs.some(({ state }) => state === "queued" || state === "running" || state === "waiting"),
      things: [
        ...this.watched.flatMap((each) => each.things()),
        ...(await sentEvents(this.store, env, this.delivered, this.functions.sent)),
      ],
      effects: this.effects.seen,
      sent: this.functions.sent,
      madeIds: this.watched.flatMap((each) => each.madeIds),
      recorded: this.watched.flatMap((each) => each.recorded ?? []),
      commits: { ...this.commits },
      steps: [...this.functions.steps],
      hasWaits: this.functions.waits.size > 0,
      divergences: [...this.divergences.values()],
      unproven: [...this.unprovenNames],
      assumptions: [...this.assumptions],
      drawn: [...this.simulation.drawn.values()],
      timeline: this.timeline,
      lifeCount: this.lives.length,
      tookMs: realMonoMs() - this.startedAt,
    };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
