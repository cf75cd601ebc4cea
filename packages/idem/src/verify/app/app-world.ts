// One world of an app: a server of its own over a store in memory, on a clock that moves when told; the app in processes that are really killed; an outside that
// outlives them. Played to its end under one schedule.
import type { Engine } from "../../engine/engine.ts";
import { silentLogger } from "../../execute/log-style.ts";
import { isDivergence, readDivergence } from "../../model/divergence.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { tickEventName } from "../../model/tick.ts";
import type { HttpRequest, HttpResponse, Platform } from "../../platform/platform.ts";
import { defaultEnv } from "../../server/admit-caller.ts";
import type { AppRegistration } from "../../server/apps.ts";
import { type RunningServer, startServer } from "../../server/start-server.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { DestinationModel } from "../destination-model.ts";
import { knownHost } from "../known-hosts.ts";
import { type Adversity, nameOf, type Schedule } from "../schedules.ts";
import type { AbsentField, Divergence, Json, Moment, SeenEffect, WorldRecord } from "../thing.ts";
import { AnswerWaits } from "../worker/answer-waits.ts";
import type { Caller } from "../worker/caller.ts";
import { carryOnModel } from "../worker/carry-on-model.ts";
import { Chance } from "../worker/chance.ts";
import { playCourse } from "../worker/course.ts";
import { failedRuns, parkedEffects, runsOf, sentEvents } from "../worker/read-world.ts";
import { Simulation } from "../worker/simulation.ts";
import { type Wait, waitOf } from "../worker/watched-functions.ts";
import { WorldClock } from "../worker/world-clock.ts";
import { WorldEffects } from "../worker/world-effects.ts";
import { fixtureFor, type WorldScript } from "../worker/world-script.ts";
import { type Passed, type Passing, sendOn } from "./app-gateway.ts";
import type { AppProcess } from "./app-process.ts";
import { AppReports, type Report } from "./app-reports.ts";
import { type AskedBy, byHeader, type FromApp, type ToApp, tokenHeader } from "./control-messages.ts";
import { Quiet } from "./quiet.ts";
import { ServedCall } from "./served-call.ts";

export interface AppWorldOptions extends WorldScript {
  readonly schedule: Schedule;
  readonly seed: number;
  readonly platform: Platform;
  /** What the app said of itself. */
  readonly registration: AppRegistration;
  /** Where the world's server is to call it. */
  readonly appUrl: string;
  readonly handlers: readonly string[];
  /** Another start of the app, ready; a string says why there is none. */
  readonly start: () => Promise<{ readonly process: AppProcess; readonly port: number } | string>;
}

/** More than any function waits for things one after the other. */
const movesMax = 300;
/** Turns of housekeeping in which an open run is given back. */
const patienceMax = 60;
/** Real time, without what starting the app takes. */
const worldMsMax = 30_000;
const restartMs = 500;
/** Real time. */
const closeMsMax = 30_000;
const rowsMax = 1_000;
/** Steps a run can be rerun from: they do something. */
const doing = new Set(["run", "fetch", "effect", "send-event", "invoke"]);

const awake = { isDead: false, isFrozen: false } as const;

/** The server itself, where it fetches for a step. */
const ofServer = new ServedCall({ isDead: false }, 0, null);

export class AppWorld {
  private readonly clock: WorldClock;
  private readonly store: MemoryStore;
  private readonly model: DestinationModel;
  private readonly effects: WorldEffects<ServedCall>;
  private readonly reports: AppReports;
  private readonly quiet: Quiet;
  private readonly answers: AnswerWaits;
  private server: RunningServer | null = null;
  private engine: Engine | null = null;
  private process: AppProcess | null = null;
  private port = 0;
  private starts = 0;
  private readonly dying: Promise<void>[] = [];
  private readonly calls = new Map<string, ServedCall>();
  private readonly underway = new Set<ServedCall>();
  private readonly waits = new Map<string, Wait>();
  private readonly happened = new Set<Adversity>();
  private readonly timeline: Moment[] = [];
  private readonly unprovenNames = new Set<string>();
  private readonly assumptions = new Set<string>();
  private readonly delivered = new Set<string>();
  private readonly sent: SeenEffect[] = [];
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
      isWorking: () => this.isWorking(),
      onHang: () => this.unproven("it hangs: a step or the code between steps waits for something that never comes"),
    });
    this.effects = new WorldEffects<ServedCall>({
      simulation: new Simulation([]),
      schedule,
      now,
      stir: this.quiet.stir,
      say: (text) => this.say(text),
      unproven: (what) => this.unproven(what),
      kill: (_life, why, isOutage) => {
        if (isOutage) this.downMs = options.outageMs;
        this.kill(why);
      },
      cancel: ({ run }, adversity) => this.cancel(run?.runId ?? null, adversity),
      happened,
      placeOfStep: () => null,
    });
    this.reports = new AppReports({ schedule, happened });
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

  private isWorking(): boolean {
    if (this.process !== null && !this.process.isDead && this.process.timers > 0) return true;
    return [...this.underway].some((call) => !call.isDead && !call.isFrozen);
  }

  // ------------------------------------------------------------------------------------------------ between server and app

  /** A request of the world's server to the app. */
  async toApp(request: Passing): Promise<Passed | null> {
    const { process } = this;
    const { searchParams } = new URL(request.path, "http://app");
    const { "x-request-id": id = "", "x-run-id": runId = "" } = request.headers;
    if (process === null || process.isDead) return null;
    const call = new ServedCall(process, this.starts, { fn: searchParams.get("fnId") ?? "", runId });
    this.calls.set(id, call);
    return this.during(call, async () => {
      await process.tellTime(this.clock.wallMs());
      const asked = sendOn(`http://127.0.0.1:${this.port}`, this.named(request)).catch(() => null);
      const passed = await Promise.race([asked, call.givenUp]);
      if (passed === null || process.isDead) return null;
      if (this.meet("answer", "before")) return null;
      // The server has it from here on, whatever becomes of the app.
      this.meet("answer", "after");
      return passed;
    });
  }

  /** What stands for a tick, or for being invoked, under the name the SDK knows it by: it refuses all others. */
  private named(request: Passing): Passing {
    const { tickName, registration, fn } = this.options;
    const target = registration.functions.find((each) => each.fn === fn);
    const isTimed = target?.config.triggers.some((each) => "cron" in each) === true;
    const name = (of: string): string => `"name":${JSON.stringify(of)}`;
    const text = request.body.toString("utf8");
    if (!text.includes(name(tickName))) return request;
    const known = text.replaceAll(name(tickName), name(isTimed ? tickEventName : "inngest/function.invoked"));
    return { ...request, body: Buffer.from(known) };
  }

  /** What the app says to its server. */
  async toServer(request: Passing): Promise<Passed | null> {
    const { process, server } = this;
    if (process === null || server === null || process.isDead || request.headers[tokenHeader] !== process.token)
      return null;
    const report = reportOf(request);
    const by = readBy(request.headers[byHeader]);
    const call = new ServedCall(process, this.starts, null);
    return this.during(call, async () => {
      if (report !== null && this.meet(report, "before")) return null;
      if (report === "event") this.noteSent(request.body, by);
      const passed = await sendOn(server.origin, request).catch(() => null);
      if (report !== null && this.meet(report, "after")) return null;
      return passed;
    });
  }

  private async during<T>(call: ServedCall, body: () => Promise<T>): Promise<T> {
    this.underway.add(call);
    this.quiet.stir();
    try {
      return await body();
    } finally {
      this.underway.delete(call);
      this.quiet.stir();
    }
  }

  /** Whether the app died there. */
  private meet(report: Report, side: "before" | "after"): boolean {
    const why = this.delivered.size === 0 ? null : this.reports.meet(report, side, this.starts);
    if (why !== null) this.kill(why);
    return why !== null;
  }

  private callOf(process: AppProcess, by: AskedBy | null): ServedCall {
    const known = by?.call == null ? undefined : this.calls.get(by.call);
    return known ?? new ServedCall(process, this.starts, null);
  }

  private noteSent(body: Buffer, by: AskedBy | null): void {
    const { run } = this.callOf(this.process!, by);
    for (const each of eventsIn(body.toString("utf8"))) {
      this.sent.push({
        index: -1 - this.sent.length,
        watcher: "events",
        title: `event ${each.name}`,
        at: this.clock.wallMs(),
        life: this.starts,
        fn: run?.fn ?? null,
        runId: run?.runId ?? null,
        step: by?.step ?? null,
        isLate: false,
        place: by?.place ?? null,
        key: each.id,
        isForgotten: false,
        became: "happened",
      });
    }
  }

  /** A request of the app's code, on its way to a destination. */
  private async asked(
    process: AppProcess,
    { id, request, by }: Extract<FromApp, { kind: "ask" }>,
    answer: (message: ToApp) => void,
  ): Promise<void> {
    const call = this.callOf(process, by);
    const caller: Caller<ServedCall> = {
      life: call,
      run: call.run === null ? null : { ...call.run, isOver: by.isLate },
      place: by.place,
      step: by.step === null ? null : { step: by.step, isOver: by.isLate },
    };
    const { method, url, headers, body } = request;
    // Of its own: a call that was given up has nothing under way.
    const asking = call.run === null ? call : new ServedCall(process, call.index, null);
    await this.during(asking, async () => {
      const gone = call.givenUp.then(() => this.underway.delete(asking));
      void gone;
      const asked = { method, url: new URL(url), headers, body };
      const answered = await carryOnModel(this.model, asked, this.outsideOf(caller));
      answer({ kind: "answer", id, answer: answered });
    });
  }

  private outsideOf(caller: Caller<ServedCall>): Parameters<typeof carryOnModel>[2] {
    return {
      effect: (about, apply) => this.effects.effect(caller, about, apply),
      read: async (body) => {
        await caller.life.pass();
        return body();
      },
    };
  }

  /** What the server fetches for a step of the app's. */
  private async fetch({ url, method, headers, body }: HttpRequest): Promise<HttpResponse> {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const asked = { method: method.toUpperCase(), url: new URL(url), headers: lower, body: body ?? "" };
    const answered = await carryOnModel(this.model, asked, this.outsideOf({ life: ofServer, run: null, step: null }));
    if (answered === null) throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    return { status: answered.status, headers: { ...answered.headers }, body: answered.body };
  }

  // ------------------------------------------------------------------------------------------------ processes

  private kill(why: string): void {
    const { process } = this;
    if (process === null || process.isDead) return;
    this.say(`the app was killed: ${why}`);
    this.dying.push(process.kill());
    this.quiet.stir();
  }

  /** False where it cannot be started. */
  private async openApp(): Promise<boolean> {
    const { platform, start, event, twin, changed } = this.options;
    const before = platform.monoMs();
    const started = await start();
    this.spentSince += platform.monoMs() - before;
    if (typeof started === "string") {
      this.unproven(started);
      return false;
    }
    const { process, port } = started;
    this.process = process;
    this.port = port;
    this.starts++;
    if (this.starts > 1) this.say("the app was started again");
    await process.begin(
      {
        asked: (message, answer) => void this.asked(process, message, answer),
        unproven: (what) => this.unproven(what),
      },
      this.clock.wallMs(),
      [event.data, twin?.data ?? null, ...Object.values(changed)],
    );
    return true;
  }

  private async openServer(): Promise<void> {
    const { seed, platform } = this.options;
    const ids = new Chance(seed * 104_729);
    const ofWorld: Platform = {
      wallMs: () => this.clock.wallMs(),
      monoMs: () => this.clock.monoMs(),
      randomBytes: (count) => {
        const bytes = new Uint8Array(count);
        ids.fill(bytes);
        return bytes;
      },
      timer: (ms, run, options) => this.clock.set(ms, run, awake, options?.background ?? false),
      soon: (run) => platform.soon(run),
      fetch: (request) => this.fetch(request),
      startThread: (file) => {
        throw new Error(`a world has no threads (${file})`);
      },
      point: () => this.quiet.stir(),
    };
    const settings = { mode: "dev", host: "127.0.0.1", port: 0, discovery: false, poll: false, radar: false } as const;
    this.server = await startServer(settings, { platform: ofWorld, store: this.store, logger: silentLogger });
    this.engine = await this.server.world.engine(defaultEnv);
    await this.server.world.apps.register(defaultEnv, this.fitted());
  }

  /** Only the function that is looked at hears of what is delivered, and no clock starts any. */
  private fitted(): AppRegistration {
    const { registration, appUrl, fn, names, tickName } = this.options;
    const functions = registration.functions.map(({ fn: each, config }) => {
      const events = config.triggers.flatMap((trigger) => ("event" in trigger ? [trigger] : []));
      const ticks = events.length < config.triggers.length || events.length === 0 ? [{ event: tickName }] : [];
      const triggers: FunctionConfig["triggers"] =
        each === fn ? [...events, ...ticks] : events.filter(({ event }) => !names.includes(event));
      return { fn: each, config: { ...config, triggers, runtime: { kind: "http", url: appUrl } as const } };
    });
    return { ...registration, url: appUrl, functions };
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
      await this.openServer();
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
      if (this.process?.isDead !== false) {
        await this.clock.moveTo(this.clock.monoMs() + this.downMs, this.quiet.settle);
        this.downMs = restartMs;
        if (!(await this.openApp())) return;
        patience = patienceMax;
        continue;
      }
      await this.findWaits();
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
      const frozen = [...this.calls.values()].find((call) => call.isFrozen && !call.isDead);
      if (frozen === undefined) return;
      frozen.thaw();
    }
    if (!this.quiet.isHanging) this.unproven("the world does not come to its end: something goes on and on");
  }

  private async openRuns(): Promise<number> {
    const { queued, running, waiting } = await this.store.reads.counts(defaultEnv);
    return queued + running + waiting;
  }

  /** What runs wait for stands in the store: the app asked the server for it. */
  private async findWaits(): Promise<void> {
    const { reads } = this.store;
    const { waiting } = await reads.counts(defaultEnv);
    if (waiting === 0) return;
    const runs = await reads.runs(defaultEnv, { limit: rowsMax });
    for (const { id: runId, state, eventId } of runs) {
      if (state !== "waiting") continue;
      const memo = await reads.runMemo(defaultEnv, runId);
      for (const { stepId, name, kind } of memo?.waits ?? []) {
        if ((kind !== "event" && kind !== "signal") || this.waits.has(`${runId} ${name}`)) continue;
        const asked = JSON.parse((await reads.stepInput(defaultEnv, runId, stepId)) ?? "{}") as unknown;
        const events = await reads.events(defaultEnv, { limit: rowsMax });
        const own = events.find(({ id }) => id === eventId);
        const event = own === undefined ? {} : { data: JSON.parse(own.data) as Json };
        this.waits.set(`${runId} ${name}`, waitOf(this.options.waits ?? {}, { step: name, runId, event, asked }));
      }
    }
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
    this.effects.heal();
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
    const absent: readonly AbsentField[] = (await this.process?.report()) ?? [];
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
      parked: await parkedEffects(this.store, defaultEnv, this.clock.wallMs()),
      things: [...this.model.things(), ...(await sentEvents(this.store, defaultEnv, this.delivered, this.sent, []))],
      effects: this.effects.seen,
      sent: this.sent,
      madeIds: this.model.madeIds,
      commits: { ...this.reports.counts },
      commitsOfCode: Array.from({ length: this.reports.counts.before }, (_, i) => i + 1),
      steps: [...new Set(steps.filter(({ kind }) => doing.has(kind)).map(({ name }) => name))],
      hasWaits: this.waits.size > 0,
      divergences,
      unproven: [...this.unprovenNames],
      absent,
      assumptions: [...this.assumptions],
      drawn: [],
      timeline: this.timeline,
      lifeCount: this.starts,
      tookMs: platform.monoMs() - this.spentSince,
    };
  }

  /** Nothing of it stays. */
  private async close(): Promise<void> {
    const { process, server } = this;
    if (process !== null && !process.isDead) this.dying.push(process.kill());
    await Promise.all(this.dying);
    if (server === null) return;
    let isClosed = false;
    const closing = server.close({ graceMs: 0 }).finally(() => {
      isClosed = true;
    });
    // Its graces are of the world's time.
    const turn = () => new Promise<void>((resolve) => this.options.platform.soon(resolve));
    const until = this.options.platform.monoMs() + closeMsMax;
    while (!isClosed) {
      if (this.options.platform.monoMs() > until) throw new Error("a world's server does not close");
      await this.clock.moveTo(this.clock.monoMs() + 1_000, turn);
    }
    await closing;
    await this.store.close();
  }
}

function reportOf({ method, path }: Passing): Report | null {
  if (method !== "POST") return null;
  if (path.startsWith("/v1/checkpoint/")) return "steps";
  return path.startsWith("/e/") ? "event" : null;
}

const readBy = (text: string | undefined): AskedBy | null =>
  text === undefined ? null : (JSON.parse(decodeURIComponent(text)) as AskedBy);

/** Names and ids of what a body sends. */
function eventsIn(text: string): { readonly name: string; readonly id: string | null }[] {
  try {
    const sent = JSON.parse(text) as unknown;
    return (Array.isArray(sent) ? sent : [sent]).map((each) => {
      const { name, id } = (each ?? {}) as { name?: unknown; id?: unknown };
      return { name: String(name), id: typeof id === "string" ? id : null };
    });
  } catch {
    return [];
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
