// The worlds of one app, played one after the other. Another start of the app is always being made ready meanwhile: each world has processes of its own, and each
// death needs another.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import { readSyncReply, syncBody, syncHeaders } from "../../protocol/sync.ts";
import { defaultEnv } from "../../server/admit-caller.ts";
import type { AppRegistration } from "../../server/apps.ts";
import type { Answer } from "../playing-threads.ts";
import { cleanSchedule, readSchedule } from "../schedules.ts";
import type { DescribedFunction, ToThread } from "../worker/messages.ts";
import type { DatabaseScript } from "../worker/sql/database-script.ts";
import { closeDatabases } from "../worker/sql/postgres-databases.ts";
import { Gateway, sendOn } from "./app-gateway.ts";
import { AppOutside, type AppOutsideOptions } from "./app-outside.ts";
import { AppProcess, portOf } from "./app-process.ts";
import { AppWorld } from "./app-world.ts";
import type { WorldOfProcess } from "./control-messages.ts";
import { ControlServer } from "./control-server.ts";

export interface AppWorldsOptions {
  readonly platform: Platform;
  /** The command that starts the app, as a shell reads it; a list is started without one. */
  readonly command: string | readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The address of its functions, as its author says. */
  readonly url: URL;
  readonly startMsMax: number;
  /** Whether another start is made ready meanwhile; true unless given, and never where a start has to know its world. */
  readonly isAhead?: boolean;
  /** The app's, as they were prepared. */
  readonly databases?: readonly DatabaseScript[];
}

/** It could not be started, or asked for its functions. */
export class AppNotReady extends Error {
  constructor(
    message: string,
    /** Printed last. */
    readonly output: readonly string[],
  ) {
    super(message);
  }
}

/** A handler of failures is a function of its own to the SDK. */
const endEvents = new Set(["inngest/function.failed", "inngest/function.cancelled"]);

export class AppWorlds {
  private world: AppWorld | null = null;
  private registration: AppRegistration | null = null;
  private spare: AppProcess | null = null;
  private readonly mine = new Set<AppProcess>();
  private turn: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  private count = 0;
  /** Folders of worlds, one after the other. */
  private readonly scratch = mkdtempSync(join(tmpdir(), `idem-verify-${process.pid}-`));

  private constructor(
    private readonly options: AppWorldsOptions,
    private readonly control: ControlServer,
    private readonly toApp: Gateway,
    private readonly toServer: Gateway,
  ) {}

  static async open(options: AppWorldsOptions): Promise<AppWorlds> {
    const current = (): AppWorld | null => worlds.world;
    const worlds: AppWorlds = new AppWorlds(
      options,
      await ControlServer.open(),
      await Gateway.open(async (request) => (await current()?.toApp(request)) ?? null),
      await Gateway.open(async (request) => (await current()?.toServer(request)) ?? null),
    );
    return worlds;
  }

  /** Null for whichever world comes next. */
  private start(outside: { readonly world: WorldOfProcess; readonly env: object } | null): AppProcess {
    const { platform, command, cwd, url, startMsMax } = this.options;
    const env = { ...this.options.env, ...outside?.env };
    const world = outside?.world ?? null;
    const serverOrigin = this.toServer.origin;
    const { control } = this;
    const process = new AppProcess({ platform, command, cwd, env, url, startMsMax, control, serverOrigin, world });
    for (const each of this.mine) if (each.isDead) this.mine.delete(each);
    this.mine.add(process);
    return process;
  }

  /** Opens the outside of a world, which outlives its processes. */
  private open(of: Pick<AppOutsideOptions, "isSetUp" | "now" | "events">): Promise<AppOutside> {
    const { cwd: home, databases = [] } = this.options;
    return AppOutside.open({ folder: join(this.scratch, `world-${++this.count}`), home, databases, ...of });
  }

  /** The one that was made ready meanwhile, and another one begun; or one for this very world. */
  private async next(
    outside: { readonly world: WorldOfProcess; readonly env: object } | null,
  ): Promise<{ readonly process: AppProcess; readonly port: number } | AppNotReady> {
    const process = outside === null ? (this.spare ?? this.start(null)) : this.start(outside);
    if (process === this.spare) this.spare = null;
    const started = await process.started;
    if (started.kind === "failed") {
      await process.kill();
      return new AppNotReady(`The app does not start: ${started.why}.`, started.output);
    }
    const isAhead = this.options.isAhead !== false && (this.options.databases ?? []).length === 0;
    if (!this.isClosed && isAhead) this.spare ??= this.start(null);
    return { process, port: started.port };
  }

  /** Its functions, as it registers them at a server. Throws AppNotReady. */
  async describe(): Promise<readonly DescribedFunction[]> {
    const { platform } = this.options;
    const outside = await this.open({ isSetUp: true, now: () => platform.wallMs(), events: [] });
    try {
      const started = await this.next(knownTo(outside));
      if (started instanceof AppNotReady) throw started;
      try {
        return await this.describeAt(started.port);
      } finally {
        await started.process.kill();
      }
    } finally {
      outside.close();
    }
  }

  /** Those of an app that somebody else started. Asking changes nothing in it. */
  async describeRunning(): Promise<readonly DescribedFunction[]> {
    const { url } = this.options;
    try {
      return await this.describeAt(portOf(url));
    } catch (error) {
      if (error instanceof AppNotReady) throw error;
      const start = 'start it, or let it be started: --start "npm run dev"';
      throw new AppNotReady(`Nothing answers at ${url.href}: ${start}.`, []);
    }
  }

  private async describeAt(port: number): Promise<readonly DescribedFunction[]> {
    const { pathname } = this.options.url;
    const body = Buffer.from(syncBody(`http://127.0.0.1:${port}${pathname}`));
    const headers = { ...syncHeaders("dev"), host: `127.0.0.1:${port}` };
    const { startMsMax } = this.options;
    const reply = await sendOn(
      `http://127.0.0.1:${port}`,
      { method: "PUT", path: pathname, headers, body },
      AbortSignal.timeout(startMsMax),
    );
    const answer = readSyncReply({ ...reply, body: reply.body.toString("utf8") }, "dev");
    if (answer.kind === "refused") throw new AppNotReady(`The app does not tell its functions: ${answer.why}.`, []);
    if (answer.kind === "told-elsewhere") {
      throw new AppNotReady(
        "The app does not tell its functions: it is not allowed to answer with them (in band).",
        [],
      );
    }
    this.registration = answer.registration;
    return answer.registration.functions.map(({ fn, config }) => ({
      app: answer.registration.app,
      env: defaultEnv,
      fn,
      config,
      // The official SDK tells none, and options alone do not say that the handler is the same.
      code: config.fingerprint ?? null,
      handlesEnd: config.triggers.some((each) => "event" in each && endEvents.has(each.event)),
      place: null,
      madeBy: null,
    }));
  }

  /** One world; those that are asked for meanwhile wait. */
  async ask(message: ToThread): Promise<Answer> {
    const before = this.turn;
    const answer = before.then(() => this.play(message));
    this.turn = answer.catch(() => {});
    return answer;
  }

  private async play(message: ToThread): Promise<Answer> {
    const { registration } = this;
    if (message.kind !== "play" || registration === null) return { kind: "gone", why: "an app is only played" };
    if (this.isClosed) return { kind: "gone", why: "everything was closed" };
    const { platform, url } = this.options;
    const { script, seed } = message;
    const handlers = registration.functions.flatMap(({ fn, config }) =>
      config.triggers.some((each) => "event" in each && endEvents.has(each.event)) ? [fn] : [],
    );
    let outside: AppOutside | null = null;
    const world = new AppWorld({
      ...script,
      schedule: readSchedule(message.schedule) ?? cleanSchedule,
      seed,
      platform,
      registration,
      appUrl: `${this.toApp.origin}${url.pathname}`,
      handlers,
      open: async (now) => {
        const events = [script.event.data, script.twin?.data ?? null, ...Object.values(script.changed)];
        outside = await this.open({ isSetUp: false, now, events });
        return outside;
      },
      start: async () => {
        const started = await this.next(outside === null ? null : knownTo(outside));
        if (!(started instanceof AppNotReady)) return started;
        return [started.message, ...started.output.slice(-10)].join("\n");
      },
    });
    this.world = world;
    try {
      return { kind: "played", record: await world.run(), heapBytes: 0 };
    } catch (error) {
      const { message: why, stack = "" } = error instanceof Error ? error : new Error(String(error));
      return { kind: "failed", why, stack };
    } finally {
      this.world = null;
    }
  }

  /** Nothing is left behind. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.mine].filter(({ isDead }) => !isDead).map((process) => process.kill()));
    await closeDatabases();
    rmSync(this.scratch, { recursive: true, force: true });
    this.toApp.close();
    this.toServer.close();
    this.control.close();
  }
}

/** The part of a world that a process has to know while it starts; null for nothing. */
const knownTo = (outside: AppOutside): { readonly world: WorldOfProcess; readonly env: object } | null =>
  outside.isKnownFromStart() ? { world: outside.forProcess(), env: outside.env } : null;
