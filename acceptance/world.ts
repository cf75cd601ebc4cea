// A server and the apps it serves, each in its process, with a wire in each direction between them.
//
//   server ── calls ──▶ host of the apps
//   server ◀─ reports ─ host of the apps
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostedApp, HostOptions, Line } from "./app/messages.ts";
import { HostProcess, runCommand, ServerProcess } from "./processes.ts";
import { Rest } from "./rest.ts";
import { Traces } from "./trace.ts";
import { Wire } from "./wire.ts";

export interface WorldOptions {
  readonly mode: "dev" | "start";
  readonly apps: readonly HostedApp[];
  readonly by?: HostOptions["by"];
  /** "start": the server asks them; "app": they tell it by themselves; "nobody": left to the test. */
  readonly registeredBy?: "start" | "app" | "nobody";
  /** The server is there before the apps; workers that connect need it so. */
  readonly serverFirst?: boolean;
  /** What the server knows; the first signs. */
  readonly signingKeys?: readonly string[];
  readonly eventKeys?: readonly string[];
  /** What the apps know beside the usual. */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Given where the server's wall clock is to be set: how far ahead it begins. */
  readonly clockAheadMs?: number;
}

export const keys = {
  event: "event-key-of-the-acceptance-suite",
  signing: "signkey-prod-4f2a9c0e7b1d8356af03c9e2517bd864",
} as const;

export class World {
  readonly calls = new Wire();
  readonly reports = new Wire();
  readonly traces = new Traces(this.calls, this.reports);
  private readonly folder = mkdtempSync(join(tmpdir(), "idem-acceptance-"));
  private readonly started = new Set<HostProcess>();
  private readonly hosts: HostProcess[] = [];
  private spare: HostProcess | null = null;
  private server!: ServerProcess;
  private clockAheadMs = 0;

  private constructor(private options: WorldOptions) {}

  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options);
    if (options.clockAheadMs !== undefined) world.advanceClock(options.clockAheadMs);
    try {
      await world.begin();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  private async begin(): Promise<void> {
    await Promise.all([this.calls.open(), this.reports.open()]);
    const { registeredBy, by, serverFirst = by === "connect" } = this.options;
    if (serverFirst) await this.startServer();
    await this.startHost();
    if (!serverFirst) await this.startServer();
    if (by === "connect") return;
    if (registeredBy === "app") {
      for (const app of this.options.apps) await this.register(app);
    } else if (registeredBy !== "nobody") {
      await this.registered();
    }
  }

  private get given() {
    return { event: this.options.eventKeys ?? [keys.event], signing: this.options.signingKeys ?? [keys.signing] };
  }

  /** Through the wire, which stays where it is while the server is away. */
  get rest(): Rest {
    const { event, signing } = this.given;
    const isDev = this.options.mode === "dev";
    return new Rest(this.reports.origin, isDev ? "dev" : event[0]!, isDev ? null : signing[0]!);
  }

  get host(): HostProcess {
    return this.hosts.at(-1)!;
  }

  /** Of all hosts there were, in order. */
  readonly ledger: Line[] = [];
  private readonly watchers = new Set<() => void>();

  private write(line: Line): void {
    this.ledger.push(line);
    for (const look of [...this.watchers]) look();
  }

  /** Resolves when the ledger is so. */
  untilLedger(isSo: (ledger: readonly Line[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isSo(this.ledger)) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }

  private get store(): string {
    return `sqlite:${join(this.folder, "facts.db")}`;
  }

  /** What `idem <args> --json` says of the server's store. */
  async command(...args: readonly string[]): Promise<any> {
    return JSON.parse(await runCommand([...args, "--json", "--store", this.store]));
  }

  get serverLog(): string {
    return this.server.log;
  }

  /** Whether any file of the server's holds these characters. */
  holds(text: string): boolean {
    const files = readdirSync(this.folder, { withFileTypes: true }).filter((each) => each.isFile());
    return files.some(({ name }) => readFileSync(join(this.folder, name)).includes(text));
  }

  /** Steps that were entered in a run, in order; a step that ran twice stands there twice. */
  entered(runId: string): readonly string[] {
    return this.ledger.flatMap((line) => (line.kind === "enter" && line.run === runId ? [line.step] : []));
  }

  urlOf(app: HostedApp): string {
    return `${this.calls.origin}/api/${app.path ?? app.id}`;
  }

  /** Asks the app to tell the server its functions, as a deployment does. */
  async register(app: HostedApp, query = ""): Promise<{ status: number; message?: string; modified?: boolean }> {
    const answer = await fetch(`${this.urlOf(app)}${query}`, { method: "PUT" });
    return { status: answer.status, ...((await answer.json()) as { message: string; modified: boolean }) };
  }

  private async registered(): Promise<void> {
    await this.rest.until("/api/apps", ({ apps }) =>
      this.options.apps.every(({ id }) =>
        apps.some((app: { app: string; syncedAt: number | null }) => app.app === id && app.syncedAt !== null),
      ),
    );
  }

  // ------------------------------------------------------------------------------------------------ processes

  async startServer(): Promise<void> {
    const { mode, apps, registeredBy, by, args = [] } = this.options;
    const port = this.server === undefined ? 0 : this.server.port;
    const asks = by !== "connect" && (registeredBy ?? "start") === "start";
    this.server = await ServerProcess.start(
      [
        mode,
        ...["--port", String(port)],
        ...["--store", this.store],
        ...["--retry-interval", "0.05"],
        ...(mode === "dev" ? ["--no-discovery", "--no-poll"] : ["--allow-host", "127.0.0.1", ...this.keyArgs()]),
        ...(asks ? apps.flatMap((app) => ["-u", this.urlOf(app)]) : []),
        ...args,
      ],
      this.folder,
      this.options.clockAheadMs === undefined ? null : this.clockFile,
    );
    const { origin } = this.server;
    this.reports.route = () => origin;
  }

  private get clockFile(): string {
    return join(this.folder, "clock-ahead-ms");
  }

  /** By the server's clock. */
  get serverTime(): number {
    return Date.now() + this.clockAheadMs;
  }

  /** The server sees it at once, and those that follow it on its store. */
  advanceClock(ms: number): void {
    this.clockAheadMs += ms;
    // Never found half written.
    writeFileSync(`${this.clockFile}.new`, String(this.clockAheadMs));
    renameSync(`${this.clockFile}.new`, this.clockFile);
  }

  private keyArgs(): string[] {
    const { event, signing } = this.given;
    return [...event.flatMap((key) => ["--event-key", key]), ...signing.flatMap((key) => ["--signing-key", key])];
  }

  /** A host that waits to take the place of the one that is killed. */
  async keepSpare(): Promise<void> {
    this.spare = await this.newHost();
  }

  useSpare(): void {
    this.use(this.spare!);
  }

  async startHost(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.use(await this.newHost(env));
  }

  private async newHost(env: Readonly<Record<string, string>> = {}): Promise<HostProcess> {
    const { apps, by = "serve" } = this.options;
    const surroundings = { ...this.hostEnv(), ...this.options.env, ...env };
    const host = await HostProcess.start({ apps, by }, surroundings, (line) => this.write(line));
    this.started.add(host);
    return host;
  }

  private use(host: HostProcess): void {
    this.hosts.push(host);
    const { apps } = this.options;
    const ports = new Map(apps.map((app) => [`/api/${app.path ?? app.id}`, host.portOf(app.adapter)]));
    this.calls.route = (path) => (ports.has(path) ? `http://127.0.0.1:${ports.get(path)}` : null);
  }

  private hostEnv(): Record<string, string> {
    if (this.options.mode === "dev") return { INNGEST_DEV: this.reports.origin };
    const { event, signing } = this.given;
    return {
      INNGEST_DEV: "0",
      INNGEST_BASE_URL: this.reports.origin,
      INNGEST_EVENT_KEY: event[0]!,
      INNGEST_SIGNING_KEY: signing[0]!,
    };
  }

  /** SIGKILL: nothing can be said any more. */
  async killServer(): Promise<void> {
    await this.server.kill();
  }

  async killHost(): Promise<void> {
    this.calls.route = () => null;
    await this.host.kill();
  }

  /** The server starts again on its store and its port, perhaps with other keys. */
  async restartServer(changed: Partial<WorldOptions> = {}): Promise<void> {
    await this.server.stop();
    this.options = { ...this.options, ...changed };
    await this.startServer();
  }

  async close(): Promise<void> {
    await Promise.all([...[...this.started].map((host) => host.kill()), this.server?.kill()]);
    await Promise.all([this.calls.close(), this.reports.close()]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
