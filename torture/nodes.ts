// The nodes as the torturer holds them: started, killed, frozen, and told what to do.
import { type ChildProcess, fork } from "node:child_process";
import { program } from "./engine.ts";
import type { FromNode, NodeLife, ToNode } from "./node-messages.ts";

/** A node that is frozen or down is not asked for anything. */
export type NodeState = "starting" | "up" | "frozen" | "down";

export interface NodeEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its standard error. */
  readonly complaints: string;
}

export interface NodeEvents {
  readonly onMessage: (node: NodeProcess, message: FromNode) => void;
  /** It ended unasked. */
  readonly onLost: (node: NodeProcess, end: NodeEnd) => void;
}

export class NodeProcess {
  state: NodeState = "down";
  life = 0;
  /** The runs it is in the middle of. */
  working = 0;
  private child: ChildProcess | null = null;
  private ended: Promise<NodeEnd> = Promise.resolve({ code: 0, signal: null, complaints: "" });
  private isExpected = false;

  constructor(
    readonly name: string,
    private readonly lifeOf: (life: number) => NodeLife,
    private readonly events: NodeEvents,
  ) {}

  /** Resolves once it is started, or gone. */
  async start(): Promise<void> {
    const life = this.lifeOf(++this.life);
    const child = fork(program("postgres-node"), [JSON.stringify(life)], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.child = child;
    this.state = "starting";
    this.isExpected = false;
    this.working = 0;
    let complaints = "";
    child.stderr!.on("data", (chunk) => {
      complaints += chunk;
    });
    // A message to a process that is just being killed; the sender asks another.
    child.on("error", () => {});
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        const end = { code, signal, complaints };
        if (this.child === child) this.state = "down";
        if (!this.isExpected) this.events.onLost(this, end);
        resolve(end);
      });
    });
    const started = new Promise<void>((resolve) => {
      child.on("message", (message: FromNode) => {
        if (message.kind === "working") this.working = message.count;
        if (message.kind === "started") {
          if (this.state === "starting") this.state = "up";
          resolve();
        }
        this.events.onMessage(this, message);
      });
    });
    await Promise.race([started, this.ended]);
  }

  tell(message: ToNode): void {
    if (this.child?.connected) this.child.send(message);
  }

  async kill(): Promise<NodeEnd> {
    this.isExpected = true;
    this.state = "down";
    this.child?.kill("SIGKILL");
    return this.ended;
  }

  freeze(): void {
    this.state = "frozen";
    this.child?.kill("SIGSTOP");
  }

  thaw(): void {
    if (this.state !== "frozen") return;
    this.state = "up";
    this.child?.kill("SIGCONT");
  }

  /** Tells it to leave. */
  async stop(): Promise<NodeEnd> {
    this.isExpected = true;
    this.tell({ kind: "stop" });
    return this.ended;
  }
}
