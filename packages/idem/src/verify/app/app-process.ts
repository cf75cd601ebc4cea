// One start of an app, from its command to its end by SIGKILL: its processes, what they print, and which of them serves.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { builtFile } from "../../platform/package-files.ts";
import type { Platform } from "../../platform/platform.ts";
import { isFromSdk } from "../../protocol/sync.ts";
import type { AbsentField, Json } from "../thing.ts";
import {
  type AppSettings,
  type FromApp,
  programPath,
  settingsName,
  type ToApp,
  type WorldOfProcess,
} from "./control-messages.ts";
import type { AppConnection, ControlServer, StartedApp } from "./control-server.ts";

export interface AppProcessOptions {
  readonly platform: Pick<Platform, "timer" | "monoMs" | "randomBytes">;
  /** The command that starts it, as a shell reads it; a list is started without one. */
  readonly command: string | readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The address of its functions, as its author says. */
  readonly url: URL;
  readonly control: ControlServer;
  /** The address of its server. */
  readonly serverOrigin: string;
  readonly startMsMax: number;
  /** The world it is started for; null for whichever comes next. */
  readonly world: WorldOfProcess | null;
}

/** Hears the messages of a process while a world is played in it. */
export interface AppListener {
  asked(message: Extract<FromApp, { kind: "ask" }>, answer: (message: ToApp) => void): void;
  /** `name`: of this effect, among all of its process group. */
  effect(message: Extract<FromApp, { kind: "effect" }>, name: string, answer: (message: ToApp) => void): void;
  effected(message: Extract<FromApp, { kind: "effected" }>, name: string): void;
  unproven(what: string): void;
  assume(what: string): void;
}

export type Started =
  | { readonly kind: "ready"; readonly port: number }
  /** For people: why, and what it printed last. */
  | { readonly kind: "failed"; readonly why: string; readonly output: readonly string[] };

// Enough to see why it does not start.
const linesKept = 60;
const pollMs = 25;
const orderMsMax = 5_000;
const goneMsMax = 5_000;

/** Node's arguments for serving the functions of a program's modules. */
export const serveModules = (modules: readonly string[]): string[] => [
  fileURLToPath(builtFile("verify/app/serve-modules")),
  JSON.stringify(modules),
  programPath,
];

const living = new Set<AppProcess>();

/** Whatever ends the command: nothing it started stays. */
export function killAll(): void {
  for (const each of living) each.killNow();
}

export class AppProcess implements StartedApp {
  readonly token: string;
  readonly started: Promise<Started>;
  isDead = false;
  /** Timers of its code that are to ring yet. */
  timers = 0;
  /** Ports that were asked for, beside the app's own. */
  private readonly otherPorts = new Set<number>();
  private readonly child: ChildProcess;
  private readonly output: string[] = [];
  private readonly connections = new Set<AppConnection>();
  private serving: AppConnection | null = null;
  private listener: AppListener | null = null;
  private port: number | null = null;
  private exited: { readonly why: string } | null = null;
  /** Refused while it started. */
  private refused: string | null = null;
  private readonly waiting = new Map<number, (absent: readonly AbsentField[]) => void>();
  private count = 0;
  private onGone: (() => void) | null = null;

  constructor(private readonly options: AppProcessOptions) {
    const { platform, command, cwd, env, url, control, serverOrigin, world } = options;
    this.token = Buffer.from(platform.randomBytes(24)).toString("hex");
    control.expect(this.token, this);
    const settings: AppSettings = {
      controlPort: control.port,
      token: this.token,
      appPort: portOf(url),
      serverOrigin,
      world,
    };
    const watched = {
      ...env,
      INNGEST_DEV: serverOrigin,
      IDEM_DEV: "1",
      IDEM_SERVER: serverOrigin,
      PORT: String(portOf(url)),
      NODE_OPTIONS: [env.NODE_OPTIONS ?? "", "--enable-source-maps", `--import=${builtFile("verify/app/watch").href}`]
        .join(" ")
        .trim(),
      [settingsName]: JSON.stringify(settings),
    };
    // A group of its own: what it starts ends with it. Windows has none, and would open a console; there those that the watcher knows are ended one by one.
    const how: SpawnOptions = {
      cwd,
      env: watched,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe"],
    };
    this.child =
      typeof command === "string" ? spawn(command, { ...how, shell: true }) : spawn(command[0]!, command.slice(1), how);
    living.add(this);
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => this.print(text));
    }
    this.child.once("error", (error) => this.ended(`it could not be started: ${error.message}`));
    this.child.once("exit", (code, signal) => this.ended(`it ended with ${signal ?? `exit code ${code ?? 0}`}`));
    this.started = this.start();
  }

  // ------------------------------------------------------------------------------------------------ its end

  /** The number of its processes that run under the watcher. */
  get size(): number {
    return new Set([...this.connections].map(({ pid }) => pid)).size;
  }

  killNow(): void {
    this.isDead = true;
    living.delete(this);
    for (const answer of this.waiting.values()) answer([]);
    this.waiting.clear();
    const { pid } = this.child;
    if (pid !== undefined) killPid(-pid);
    // Where there are no groups, and what left its own.
    this.child.kill("SIGKILL");
    for (const connection of this.connections) killPid(connection.pid);
  }

  /** Resolves once none of its processes is left. */
  async kill(): Promise<void> {
    this.killNow();
    if (this.exited === null || this.connections.size > 0) {
      await new Promise<void>((resolve) => {
        this.onGone = resolve;
        // One that no signal ends is left behind; it is not heard any more.
        this.options.platform.timer(goneMsMax, resolve);
      });
    }
    this.options.control.forget(this.token);
  }

  private ended(why: string): void {
    this.exited ??= { why };
    // Processes it left in the background are of its group.
    this.killNow();
    this.gone();
  }

  private gone(): void {
    if (this.exited !== null && this.connections.size === 0) this.onGone?.();
  }

  private print(text: string): void {
    this.output.push(...text.split("\n").filter((line) => line.trim() !== ""));
    this.output.splice(0, this.output.length - linesKept);
  }

  // ------------------------------------------------------------------------------------------------ its beginning

  private async start(): Promise<Started> {
    const { platform, startMsMax, url } = this.options;
    const until = platform.monoMs() + startMsMax;
    const failed = (why: string): Started => ({ kind: "failed", why, output: [...this.output] });
    while (platform.monoMs() < until) {
      if (this.exited !== null) {
        return failed(this.refused === null ? this.exited.why : `${this.exited.why} where ${this.refused}`);
      }
      const { port } = this;
      if (port !== null && (await answers(port, url, until - platform.monoMs()))) return { kind: "ready", port };
      await new Promise<void>((resolve) => void platform.timer(pollMs, resolve));
    }
    const within = `after ${startMsMax / 1_000} s`;
    if (this.port !== null) return failed(`${within} no functions are served at ${url.pathname}: check the path of -u`);
    const others = [...this.otherPorts];
    if (others.length > 0)
      return failed(`${within} it listens on port ${others.join(", ")} and not on ${portOf(url)}, which -u says`);
    return failed(
      this.connections.size === 0
        ? `${within} no process of it runs under Node with the watcher`
        : `${within} it does not listen on port ${portOf(url)}`,
    );
  }

  connected(connection: AppConnection): void {
    this.connections.add(connection);
  }

  closed(connection: AppConnection): void {
    this.connections.delete(connection);
    if (connection === this.serving && this.exited === null && !this.isDead)
      this.ended("the process that serves it ended");
    this.gone();
  }

  take(connection: AppConnection, message: Exclude<FromApp, { kind: "hello" }>): void {
    const answer = (said: ToApp): void => {
      if (!this.isDead) connection.post(said);
    };
    switch (message.kind) {
      case "listening":
        if (message.asked !== portOf(this.options.url)) this.otherPorts.add(message.asked);
        else {
          this.port = message.port;
          this.serving = connection;
        }
        return;
      case "timers":
        this.timers = message.count;
        return;
      case "done":
        this.waiting.get(message.id)?.(message.absent);
        this.waiting.delete(message.id);
        return;
      case "unproven":
        this.listener?.unproven(message.what);
        return;
      case "refused":
        this.refused ??= message.what;
        return;
      case "assume":
        this.listener?.assume(message.what);
        return;
      case "ask":
        this.listener?.asked(message, answer);
        return;
      case "effect":
        this.listener?.effect(message, `${connection.pid} ${message.id}`, answer);
        return;
      case "effected":
        this.listener?.effected(message, `${connection.pid} ${message.id}`);
    }
  }

  // ------------------------------------------------------------------------------------------------ in a world

  /** From here on it is one world's. */
  async begin(listener: AppListener, nowMs: number, events: readonly Json[], world: WorldOfProcess): Promise<void> {
    this.listener = listener;
    await this.order((id) => ({ kind: "begin", id, nowMs, events, world }));
  }

  async tellTime(nowMs: number): Promise<void> {
    await this.order((id) => ({ kind: "now", id, nowMs }));
  }

  /** Fields that its code read in vain of answers. */
  report(): Promise<readonly AbsentField[]> {
    return this.order((id) => ({ kind: "report", id }));
  }

  private order(make: (id: number) => ToApp): Promise<readonly AbsentField[]> {
    const { serving } = this;
    if (this.isDead || serving === null) return Promise.resolve([]);
    const id = ++this.count;
    return new Promise((resolve) => {
      // Code that never gives its turn back receives nothing.
      const patience = this.options.platform.timer(orderMsMax, () => resolve([]));
      this.waiting.set(id, (absent) => {
        patience.cancel();
        resolve(absent);
      });
      serving.post(make(id));
    });
  }
}

function killPid(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** Whether an SDK answers there; a framework in development compiles the route when it is first asked. */
function answers(port: number, url: URL, msMax: number): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(msMax)));
    const request = http.get({ host: "127.0.0.1", port, path: url.pathname, agent: false, signal }, (response) => {
      response.resume();
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
      );
      response.once("error", () => {});
      response.once("close", () => resolve(isFromSdk(headers)));
    });
    request.once("error", () => resolve(false));
  });
}
