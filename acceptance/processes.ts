// The two programs under test, as processes: the command line's server and the host of the apps.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Adapter, Answer, HostOptions, Line, Order } from "./app/messages.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const command = join(root, "packages", "idem", "bin", "idem.mjs");
const host = join(root, "acceptance", "dist", "main.js");
const setClock = join(root, "acceptance", "dist", "set-clock.js");
const olderSdk = join(root, "acceptance", "dist", "older-sdk.js");

// Variables of the machine's own must not decide which server an app belongs to.
const surroundings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(INNGEST|IDEM)_/.test(name)),
) as Record<string, string>;

/** One command of the command line; what it wrote. */
export async function runCommand(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], { env: surroundings });
  return stdout;
}

export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly origin: string,
    private readonly written: string[],
  ) {}

  /** Resolves once it listens; rejects with what it wrote if it ends before. `clock` is a file that says how far it is ahead. */
  static async start(args: readonly string[], cwd: string, clock: string | null): Promise<ServerProcess> {
    const clocked =
      clock === null ? {} : { ACCEPTANCE_CLOCK: clock, NODE_OPTIONS: `--import=${pathToFileURL(setClock)}` };
    const child = spawn(process.execPath, [command, ...args], {
      cwd,
      env: { ...surroundings, ...clocked, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const written: string[] = [];
    return new Promise((resolve, reject) => {
      const read = (line: string) => {
        written.push(line);
        const [, origin] = /^ +listens +(http:\S+)$/.exec(line) ?? [];
        if (origin !== undefined) resolve(new ServerProcess(child, origin, written));
      };
      createInterface({ input: child.stdout! }).on("line", read);
      createInterface({ input: child.stderr! }).on("line", read);
      child.once("exit", (code, signal) =>
        reject(new Error(`The server ended with ${signal ?? code}:\n${written.join("\n")}`)),
      );
    });
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** What it said to its operator. */
  get log(): string {
    return this.written.join("\n");
  }

  kill(): Promise<void> {
    return ended(this.child, "SIGKILL");
  }

  /** As an operator would; what it runs is finished first. */
  stop(): Promise<void> {
    return ended(this.child, "SIGTERM");
  }
}

export class HostProcess {
  /** Everything its steps said, in order. */
  readonly ledger: Line[] = [];
  private readonly waiting = new Set<() => void>();
  private readonly answers = new Map<number, (answer: Answer) => void>();
  private orderCount = 0;

  private constructor(
    private readonly child: ChildProcess,
    onLine: (line: Line) => void,
  ) {
    createInterface({ input: child.stdout! }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      this.ledger.push(line);
      onLine(line);
      for (const look of [...this.waiting]) look();
    });
    child.on("message", (answer: Answer) => {
      this.answers.get(answer.id)?.(answer);
      this.answers.delete(answer.id);
    });
  }

  static async start(
    options: HostOptions,
    env: Readonly<Record<string, string>>,
    onLine: (line: Line) => void,
  ): Promise<HostProcess> {
    // Node 20 has the WebSocket of connect() behind a flag, which threads take from here only.
    const flags = options.by === "connect" ? ["--experimental-websocket", "--no-warnings"] : [];
    const sdk = env.ACCEPTANCE_SDK ?? process.env.ACCEPTANCE_SDK;
    if (sdk !== undefined) flags.push(`--import=${pathToFileURL(olderSdk)}`);
    const chosen = sdk === undefined ? {} : { ACCEPTANCE_SDK: sdk };
    const child = spawn(process.execPath, [host, JSON.stringify(options)], {
      env: { ...surroundings, NODE_OPTIONS: flags.join(" "), ...chosen, ...env },
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    const started = new HostProcess(child, onLine);
    const died = once(child, "exit").then(([code, signal]) => {
      if (started.ledger.length === 0) throw new Error(`The apps' host ended with ${signal ?? code}`);
    });
    await Promise.race([started.until((line) => line.kind === "ready"), died]);
    return started;
  }

  get pid(): number {
    return this.child.pid!;
  }

  portOf(adapter: Adapter): number | null {
    const ready = this.ledger.find((line) => line.kind === "ready");
    return ready?.kind === "ready" ? (ready.ports[adapter] ?? null) : null;
  }

  /** The first line that is so, also if it was written before. */
  until(isIt: (line: Line) => boolean): Promise<Line> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.ledger.find(isIt);
        if (found === undefined) return;
        this.waiting.delete(look);
        resolve(found);
      };
      this.waiting.add(look);
      look();
    });
  }

  release(run: string): void {
    this.order({ kind: "release", run });
  }

  /** `inngest.send` of the app's client. */
  async send(app: string, events: readonly object[]): Promise<readonly string[]> {
    const { ids } = (await this.ask({ kind: "send", app, events })) as { ids: string[] };
    return ids;
  }

  /** `inngest.sendSignal`. */
  signal(app: string, signal: string, data: object): Promise<unknown> {
    return this.ask({ kind: "signal", app, signal, data });
  }

  kill(): Promise<void> {
    return ended(this.child, "SIGKILL");
  }

  private ask(order: DistributiveOmit<Exclude<Order, { kind: "release" }>, "id">): Promise<unknown> {
    const id = ++this.orderCount;
    return new Promise((resolve, reject) => {
      this.answers.set(id, ({ value, error }) => (error === undefined ? resolve(value) : reject(new Error(error))));
      this.order({ ...order, id });
    });
  }

  private order(order: Order): void {
    this.child.send(order);
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}
