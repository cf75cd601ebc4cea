// One round: three nodes behind a balancer, apps of the official SDK that know nothing of them, subscribers, publishers and callers; and nodes
// that are killed, stopped and started, and lines that are cut, at random. The promises are judged at the end, when all nodes are up.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { startLocalPostgres } from "../../scripts/local-postgres.mjs";
import { Chance } from "../chance.ts";
import type { Violation } from "../check.ts";
import { root } from "../engine.ts";
import { Balancer } from "./balancer.ts";
import { type AppEvidence, type Asked, judge } from "./judge.ts";
import { type AppName, appNames, type FromHost, type HostOptions } from "./messages.ts";
import { ServerNode } from "./nodes.ts";
import { channel, EventSubscriber, SocketSubscriber, topic } from "./subscribers.ts";

export interface AppsShape {
  readonly nodes: number;
  readonly forMs: number;
  /** Between two faults, on average. */
  readonly meanGapMs: number;
  readonly startsPerSecond: number;
  readonly messagesPerSecond: number;
}

export interface AppsRoundOptions extends AppsShape {
  readonly seed: number;
  readonly onFault?: (atMs: number, kind: string, about: string) => void;
  readonly onViolation?: (violation: Violation) => void;
}

export interface AppsResult {
  readonly seed: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly evidence: AppEvidence;
  readonly violations: readonly Violation[];
  readonly tookMs: number;
}

const keys = {
  signingKey: "signkey-prod-4f2a9c0e7b1d8356af03c9e2517bd864",
  eventKey: "event-key-of-the-torture-of-apps-9e41c7d20ab85f36",
} as const;

// Twice what others need to take over from a lost node, and a run of its own length.
const settleMsMax = 120_000;

export async function runAppsRound(options: AppsRoundOptions): Promise<AppsResult> {
  const startedAt = Date.now();
  const chance = new Chance("apps", options.seed);
  const local = (await import(pathToFileURL(join(root, "scripts", "local-postgres.mjs")).href)) as {
    readonly startLocalPostgres: typeof startLocalPostgres;
  };
  const postgres = await local.startLocalPostgres();
  const store = postgres.url;
  const closing: (() => Promise<unknown>)[] = [() => postgres.remove()];
  try {
    const nodes: ServerNode[] = [];
    for (let i = 0; i < options.nodes; i++) nodes.push(await ServerNode.at(`node ${i + 1}`, { store, ...keys }));
    closing.unshift(() => Promise.all(nodes.map((node) => node.end("SIGKILL"))));
    for (const node of nodes) await node.start();
    const balancer = await Balancer.open(() => nodes.map(({ port }) => port));
    closing.unshift(() => balancer.close());
    const host = await startHost({ origin: balancer.origin, ...keys });
    closing.unshift(() => host.end());
    const storm = new Storm(nodes, balancer, chance, options);
    const traffic = new Traffic(balancer.origin, host, options);
    await traffic.begin();
    closing.unshift(() => traffic.leave());
    await storm.rage();
    await storm.calm();
    options.onFault?.(storm.ageMs, "calm", "all nodes are up");
    const evidence = await traffic.settle();
    options.onFault?.(storm.ageMs, "settled", "");
    const violations = judge(evidence);
    for (const violation of violations) options.onViolation?.(violation);
    if (violations.length > 0)
      for (const node of nodes) console.error(`--- ${node.name}\n${node.complaints.slice(-4_000)}`);
    return { seed: options.seed, faults: storm.faults, evidence, violations, tookMs: Date.now() - startedAt };
  } finally {
    for (const close of closing) await close().catch((error) => console.error("closing failed", error));
  }
}

// ------------------------------------------------------------------------------------------------ faults

class Storm {
  readonly faults: Record<string, number> = {};
  private readonly startedAt = Date.now();
  private readonly coming = new Set<Promise<void>>();

  constructor(
    private readonly nodes: readonly ServerNode[],
    private readonly balancer: Balancer,
    private readonly chance: Chance,
    private readonly options: AppsRoundOptions,
  ) {}

  /** At least one node stays up, for the others to be lost from. */
  async rage(): Promise<void> {
    const until = this.startedAt + this.options.forMs;
    for (;;) {
      const gapMs = Math.min(this.chance.exponential(this.options.meanGapMs), this.options.meanGapMs * 3);
      if (Date.now() + gapMs > until) return void (await wait(Math.max(0, until - Date.now())));
      await wait(gapMs);
      const up = this.nodes.filter(({ isUp }) => isUp);
      const kind = this.chance.pick(["kill", "kill", "stop", "cut"] as const);
      if (kind === "cut" || up.length < 2) this.cut();
      else this.end(this.chance.pick(up), kind);
    }
  }

  async calm(): Promise<void> {
    while (this.coming.size > 0) await Promise.all(this.coming);
  }

  get ageMs(): number {
    return Date.now() - this.startedAt;
  }

  private note(kind: string, about: string): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    this.options.onFault?.(Date.now() - this.startedAt, kind, about);
  }

  private cut(): void {
    const count = this.balancer.cut((sockets) => sockets.filter(() => this.chance.happens(0.6)));
    this.note("cut", `${count} sockets`);
  }

  private end(node: ServerNode, kind: "kill" | "stop"): void {
    this.note(kind, node.name);
    const awayMs = this.chance.int(200, 4_000);
    const ended = node.end(kind === "kill" ? "SIGKILL" : "SIGTERM").then(async () => {
      await wait(awayMs);
      await node.start();
    });
    const coming = ended.finally(() => this.coming.delete(coming));
    this.coming.add(coming);
    coming.catch(() => {});
  }
}

// ------------------------------------------------------------------------------------------------ traffic

interface Host {
  readonly serveUrl: string;
  readonly endpointUrl: string;
  onEnter: (app: AppName, n: number, step: string) => void;
  end(): Promise<void>;
}

async function startHost(options: HostOptions): Promise<Host> {
  const child: ChildProcess = fork(join(root, "torture", "dist", "apps", "host.js"), [JSON.stringify(options)], {
    env: {
      PATH: process.env.PATH ?? "",
      NODE_OPTIONS: "--experimental-websocket --no-warnings",
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the apps' process ended with ${code}`)));
    const host = { serveUrl: "", endpointUrl: "", onEnter: () => {}, end } as Host;
    child.on("message", (message: FromHost) => {
      if (message.kind === "enter") host.onEnter(message.app, message.n, message.step);
      else resolve(Object.assign(host, { serveUrl: message.serveUrl, endpointUrl: message.endpointUrl }));
    });
  });
}

class Traffic {
  private readonly asked: Asked[] = [];
  private readonly entered = new Map<string, number>();
  private readonly published = new Map<number, "acknowledged" | "unknown">();
  private readonly refusals = new Map<number, number>();
  private readonly subscribers;
  private readonly under = new Set<Promise<void>>();
  private isOver = false;
  private count = 0;

  constructor(
    private readonly origin: string,
    private readonly host: Host,
    private readonly options: AppsRoundOptions,
  ) {
    this.subscribers = [
      new SocketSubscriber("a WebSocket", origin, keys.signingKey),
      new EventSubscriber("an EventSource", origin, keys.signingKey),
    ];
    host.onEnter = (app, n, step) => {
      const name = JSON.stringify([app, n, step]);
      this.entered.set(name, (this.entered.get(name) ?? 0) + 1);
    };
  }

  async begin(): Promise<void> {
    await this.again(async () => {
      const answer = await fetch(this.host.serveUrl, { method: "PUT" });
      if (!answer.ok) throw new Error(`the app was not registered: ${await answer.text()}`);
    });
    for (const subscriber of this.subscribers) await subscriber.start();
    void this.every(1_000 / this.options.startsPerSecond, () => this.start());
    void this.every(1_000 / this.options.messagesPerSecond, () => this.publish());
  }

  async leave(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.subscribers.map((subscriber) => subscriber.stop()));
  }

  /** Nothing new; resolves once everything that was asked for has ended, or has had its time. */
  async settle(): Promise<AppEvidence> {
    this.isOver = true;
    const until = Date.now() + settleMsMax;
    while (this.under.size > 0 && Date.now() < until) await wait(100);
    const last = Math.max(0, ...[...this.published].filter(([, how]) => how === "acknowledged").map(([n]) => n));
    while (Date.now() < until && this.subscribers.some(({ heard }) => !heard.some(({ n }) => n === last)))
      await wait(100);
    // A second delivery comes late.
    await wait(2_000);
    const { asked, entered, published, refusals } = this;
    const subscribers = this.subscribers.map(({ name, heard, gaps, lines }) => ({ name, heard, gaps, lines }));
    return { asked, entered, published, refusals, subscribers, isSettled: this.under.size === 0 };
  }

  private async every(ms: number, act: () => Promise<void>): Promise<void> {
    while (!this.isOver) {
      const acting = act()
        .catch(() => {})
        .finally(() => this.under.delete(acting));
      this.under.add(acting);
      await wait(ms);
    }
  }

  private async again<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await act();
      } catch (error) {
        if (tries === 300) throw error;
        await wait(200);
      }
    }
  }

  private async start(): Promise<void> {
    const n = ++this.count;
    const app = appNames[n % appNames.length]!;
    const asked: Asked = { app, n, output: null, state: null, told: null };
    this.asked.push(asked);
    if (app === "endpoint") await this.call(asked);
    else await this.send(asked);
  }

  private async send(asked: Asked): Promise<void> {
    const { app, n } = asked;
    // The same id each time: sent again it is one event.
    const body = JSON.stringify({ name: `torture/${app}`, id: `${app}-${n}`, data: { n } });
    const headers = { "content-type": "application/json", "x-idem-decisions": "1" };
    const runId = await this.again(async () => {
      const answer = await fetch(`${this.origin}/e/${keys.eventKey}`, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      const { decisions } = (await answer.json()) as { decisions: readonly { runId: string | null }[] };
      return decisions[0]!.runId!;
    });
    await this.follow(asked, runId);
  }

  private async follow(asked: Asked, runId: string): Promise<void> {
    for (;;) {
      const run = await this.again(() => this.read(runId));
      if (!["Completed", "Failed", "Cancelled"].includes(run.status)) {
        await wait(300);
        continue;
      }
      asked.state = run.status;
      asked.output = run.output;
      return;
    }
  }

  private async read(runId: string): Promise<{ status: string; output: unknown }> {
    const headers = { authorization: `Bearer ${keys.signingKey}` };
    const answer = await fetch(`${this.origin}/v1/runs/${runId}`, { headers });
    if (!answer.ok) throw new Error(`refused with ${answer.status}`);
    return ((await answer.json()) as { data: { status: string; output: unknown } }).data;
  }

  /** A caller of the app, which is sent to the nodes where the run has to wait. A line it loses there it takes up again, as browsers do. */
  private async call(asked: Asked): Promise<void> {
    let url = `${this.host.endpointUrl}/work?n=${asked.n}`;
    for (let tries = 1; tries <= 300; tries++) {
      const answer = await fetch(url, { redirect: "manual" }).catch(() => null);
      const location = answer?.headers.get("location") ?? null;
      if (location !== null) url = new URL(location, url).href;
      else if (answer?.status === 200) {
        const { done } = (await answer.json()) as { done: string };
        asked.state = "Completed";
        asked.output = done;
        asked.told = "by the app or a node";
        return;
      } else if (url.startsWith(this.host.endpointUrl)) {
        // The app could not report: its caller hears so, and the run's fate is the server's.
        asked.state = "refused";
        asked.told = `${answer?.status}: ${(await answer?.text())?.slice(0, 300)}`;
        return;
      } else await wait(200);
    }
    asked.state = "never answered";
  }

  private async publish(): Promise<void> {
    const n = this.published.size + 1;
    this.published.set(n, "unknown");
    // Once: what is sent again is published again.
    const answer = await fetch(`${this.origin}/v1/realtime/publish?channel=${channel}&topic=${topic}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${keys.signingKey}` },
      body: JSON.stringify({ n }),
    });
    if (answer.ok) this.published.set(n, "acknowledged");
    else this.refusals.set(answer.status, (this.refusals.get(answer.status) ?? 0) + 1);
    await answer.arrayBuffer();
  }
}
