// Nodes of `idem start` over one PostgreSQL, each at a port of its own that it has again when it is started anew.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../engine.ts";

const command = join(root, "packages", "idem", "bin", "idem.mjs");

export interface NodeOptions {
  readonly store: string;
  readonly signingKey: string;
  readonly eventKey: string;
}

// Variables of the machine's own must not decide anything.
const surroundings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(INNGEST|IDEM)_/.test(name)),
) as Record<string, string>;

export class ServerNode {
  isUp = false;
  /** Its words since it was started last. */
  private log: string[] = [];
  private child: ChildProcess | null = null;

  private constructor(
    readonly name: string,
    readonly port: number,
    private readonly options: NodeOptions,
  ) {}

  static async at(name: string, options: NodeOptions): Promise<ServerNode> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    return new ServerNode(name, port, options);
  }

  get complaints(): string {
    return this.log.join("\n");
  }

  async start(): Promise<void> {
    const { store, signingKey, eventKey } = this.options;
    const args = ["start", "--port", String(this.port), "--allow-host", "127.0.0.1", "--retry-interval", "0.2"];
    const child = spawn(process.execPath, [command, ...args, "--no-radar"], {
      env: {
        ...surroundings,
        IDEM_STORE: store,
        IDEM_SIGNING_KEY: signingKey,
        IDEM_EVENT_KEY: eventKey,
        IDEM_SECRETS_IN_CLEAR: "1",
        NO_COLOR: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    this.log = [];
    const listens = new Promise<boolean>((resolve) => {
      const read = (line: string) => {
        this.log.push(line);
        if (/^ +listens +http:/.test(line)) resolve(true);
      };
      for (const input of [child.stdout!, child.stderr!]) createInterface({ input }).on("line", read);
      child.once("exit", () => resolve(false));
    });
    if (!(await listens)) throw new Error(`${this.name} did not start:\n${this.complaints}`);
    this.isUp = true;
  }

  /** SIGKILL as a machine that is lost, SIGTERM as an operator. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    this.isUp = false;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
  }
}
