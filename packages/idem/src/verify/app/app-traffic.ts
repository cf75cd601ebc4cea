// All traffic between an app, its server and the outside in one world: calls on their way to the app, what the app says to its server, what its code asks of
// destinations or is about to do itself. Each may be lost, and the app may die around it.
import type { HttpRequest, HttpResponse } from "../../platform/platform.ts";
import type { DestinationModel } from "../destination-model.ts";
import type { Adversity, Schedule } from "../schedules.ts";
import type { SeenEffect } from "../thing.ts";
import type { Caller } from "../worker/caller.ts";
import { carryOnModel } from "../worker/carry-on-model.ts";
import { Simulation } from "../worker/simulation.ts";
import type { Carried } from "../worker/watcher.ts";
import { WorldEffects } from "../worker/world-effects.ts";
import { type Passed, type Passing, sendOn } from "./app-gateway.ts";
import type { AppProcess } from "./app-process.ts";
import { AppReports, type Report } from "./app-reports.ts";
import { type AskedBy, byHeader, type FromApp, type ToApp, tokenHeader } from "./control-messages.ts";
import { ServedCall } from "./served-call.ts";

/** One start of the app in this world. */
export interface RunningApp {
  readonly process: AppProcess;
  readonly port: number;
  /** Counted from 1. */
  readonly index: number;
}

export interface AppTrafficOptions {
  readonly schedule: Schedule;
  readonly model: DestinationModel;
  readonly now: () => number;
  /** Something happened: those that wait for quiet wait on. */
  readonly stir: () => void;
  readonly say: (text: string) => void;
  readonly unproven: (what: string) => void;
  readonly happened: (adversity: Adversity) => void;
  readonly kill: (why: string, isOutage: boolean) => void;
  readonly cancel: (runId: string | null, adversity: Adversity) => void;
  /** The newest; it may be dead. Null before the first. */
  readonly running: () => RunningApp | null;
  /** The world's server; null before it is there. */
  readonly server: () => string | null;
  /** Before its first event nothing is counted. */
  readonly hasBegun: () => boolean;
  /** Before code of the app's runs: outside is as the clock says. */
  readonly beforeCall: () => Promise<void>;
  /** A request of the server's as this app's SDK knows it. */
  readonly named: (request: Passing) => Passing;
}

/** The server itself, where it fetches for a step. */
const ofServer = new ServedCall({ isDead: false }, 0, null);

export class AppTraffic {
  readonly effects: WorldEffects<ServedCall>;
  readonly reports: AppReports;
  readonly sent: SeenEffect[] = [];
  private readonly calls = new Map<string, ServedCall>();
  private readonly underway = new Set<ServedCall>();
  /** Effects that a process carries out just now. */
  private readonly carrying = new Map<string, (carried: Carried<null> | null) => void>();

  constructor(private readonly options: AppTrafficOptions) {
    const { schedule, now, stir, say, unproven, happened, kill, cancel } = options;
    this.effects = new WorldEffects<ServedCall>({
      simulation: new Simulation([]),
      schedule,
      now,
      stir,
      say,
      unproven,
      kill: (_life, why, isOutage) => kill(why, isOutage),
      cancel: ({ run }, adversity) => cancel(run?.runId ?? null, adversity),
      happened,
      placeOfStep: () => null,
    });
    this.reports = new AppReports({ schedule, happened });
  }

  isUnderway(): boolean {
    return [...this.underway].some((call) => !call.isDead && !call.isFrozen);
  }

  /** Lets one go on that was given up, or all of them. Whether there was one. */
  thaw(howMany: "one" | "all"): boolean {
    const frozen = [...this.calls.values()].filter((call) => call.isFrozen && !call.isDead);
    for (const call of howMany === "one" ? frozen.slice(0, 1) : frozen) call.thaw();
    return frozen.length > 0;
  }

  get hasFrozen(): boolean {
    return [...this.calls.values()].some((call) => call.isFrozen && !call.isDead);
  }

  private async during<T>(call: ServedCall, body: () => Promise<T>): Promise<T> {
    this.underway.add(call);
    this.options.stir();
    try {
      return await body();
    } finally {
      this.underway.delete(call);
      this.options.stir();
    }
  }

  // ------------------------------------------------------------------------------------------------ between server and app

  /** A request of the world's server to the app. */
  async toApp(request: Passing): Promise<Passed | null> {
    const { running, now, named, beforeCall } = this.options;
    const app = running();
    const { searchParams } = new URL(request.path, "http://app");
    const { "x-request-id": id = "", "x-run-id": runId = "" } = request.headers;
    if (app === null || app.process.isDead) return null;
    const { process } = app;
    const call = new ServedCall(process, app.index, { fn: searchParams.get("fnId") ?? "", runId });
    this.calls.set(id, call);
    return this.during(call, async () => {
      await beforeCall();
      await process.tellTime(now());
      const asked = sendOn(`http://127.0.0.1:${app.port}`, named(request)).catch(() => null);
      const passed = await Promise.race([asked, call.givenUp]);
      if (passed === null || process.isDead) return null;
      if (this.meet("answer", "before")) return null;
      // The server has it from here on, whatever becomes of the app.
      this.meet("answer", "after");
      return passed;
    });
  }

  /** A message of the app to its server. */
  async toServer(request: Passing): Promise<Passed | null> {
    const app = this.options.running();
    const server = this.options.server();
    if (app === null || server === null || app.process.isDead) return null;
    if (request.headers[tokenHeader] !== app.process.token) return null;
    const report = reportOf(request);
    const by = readBy(request.headers[byHeader]);
    return this.during(this.ofNoCall(app), async () => {
      if (report !== null && this.meet(report, "before")) return null;
      if (report === "event") this.noteSent(request.body, by, app);
      const passed = await sendOn(server, request).catch(() => null);
      if (report !== null && this.meet(report, "after")) return null;
      return passed;
    });
  }

  /** Whether the app died there. */
  private meet(report: Report, side: "before" | "after"): boolean {
    const { hasBegun, running, kill } = this.options;
    const why = hasBegun() ? this.reports.meet(report, side, running()?.index ?? 0) : null;
    if (why !== null) kill(why, false);
    return why !== null;
  }

  private ofNoCall({ process, index }: RunningApp): ServedCall {
    return new ServedCall(process, index, null);
  }

  private callOf(app: RunningApp, by: AskedBy | null): ServedCall {
    const known = by?.call == null ? undefined : this.calls.get(by.call);
    return known ?? this.ofNoCall(app);
  }

  private noteSent(body: Buffer, by: AskedBy | null, app: RunningApp): void {
    const { run } = this.callOf(app, by);
    for (const each of eventsIn(body.toString("utf8"))) {
      this.sent.push({
        index: -1 - this.sent.length,
        watcher: "events",
        title: `event ${each.name}`,
        at: this.options.now(),
        life: app.index,
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

  // ------------------------------------------------------------------------------------------------ between app and outside

  /** Asks for code of the app in the call it belongs to: while the call is not given up, the asking is under way. */
  private async asCallOf(
    app: RunningApp,
    by: AskedBy,
    body: (caller: Caller<ServedCall>) => Promise<void>,
  ): Promise<void> {
    const call = this.callOf(app, by);
    const caller: Caller<ServedCall> = {
      life: call,
      run: call.run === null ? null : { ...call.run, isOver: by.isLate },
      place: by.place,
      step: by.step === null ? null : { step: by.step, isOver: by.isLate },
    };
    // Of its own: a call that was given up has nothing under way.
    const asking = call.run === null ? call : new ServedCall(app.process, call.index, null);
    await this.during(asking, async () => {
      void call.givenUp.then(() => this.underway.delete(asking));
      await body(caller);
    });
  }

  /** A request of the app's code, on its way to a destination. */
  async asked(
    app: RunningApp,
    { id, request, by }: Extract<FromApp, { kind: "ask" }>,
    answer: (message: ToApp) => void,
  ): Promise<void> {
    await this.asCallOf(app, by, async (caller) => {
      const { method, url, headers, body } = request;
      const asked = { method, url: new URL(url), headers, body };
      const answered = await carryOnModel(this.options.model, asked, this.outsideOf(caller));
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

  /** Something that the app's process is about to do itself: it is let do it, and says how that went. */
  async effect(
    app: RunningApp,
    { id, about, by, isStill }: Extract<FromApp, { kind: "effect" }>,
    name: string,
    answer: (message: ToApp) => void,
  ): Promise<void> {
    await this.asCallOf(app, by, async (caller) => {
      const carry = (applied: { readonly fn: string | null; readonly effect: number }): Promise<Carried<null>> =>
        new Promise((resolve, reject) => {
          this.carrying.set(name, (carried) => (carried === null ? reject(new NotCarried()) : resolve(carried)));
          answer({ kind: "go", id, by: { fn: applied.fn, effect: applied.effect } });
        });
      const { effects } = this;
      const asked = isStill ? effects.effectStill(caller, about, carry) : effects.effectLater(caller, about, carry);
      const became = await asked.catch((error: unknown) => {
        // The app's code has it from the one that refused it.
        if (error instanceof NotCarried) return { kind: "lost" } as const;
        throw error;
      });
      answer({ kind: "became", id, became: became.kind === "happened" ? { kind: "happened" } : became });
    });
  }

  effected({ carried }: Extract<FromApp, { kind: "effected" }>, name: string): void {
    const settle = this.carrying.get(name);
    this.carrying.delete(name);
    settle?.(carried === null ? null : { ...carried, value: null });
  }

  /** The server's fetch for a step of the app. */
  async fetch({ url, method, headers, body }: HttpRequest): Promise<HttpResponse> {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const asked = { method: method.toUpperCase(), url: new URL(url), headers: lower, body: body ?? "" };
    const outside = this.outsideOf({ life: ofServer, run: null, step: null });
    const answered = await carryOnModel(this.options.model, asked, outside);
    if (answered === null) throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    return { status: answered.status, headers: { ...answered.headers }, body: answered.body };
  }
}

/** A process could not do what it was let do. */
class NotCarried extends Error {}

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
