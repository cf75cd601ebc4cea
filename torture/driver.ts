// Sends the events: makes calls at random nodes, some at two of them at once, again elsewhere whatever is not answered, and sees to it
// that every run that was named to it is watched to its end by some node.
import { setTimeout as delay } from "node:timers/promises";
import { Chance } from "./chance.ts";
import type { FromNode } from "./node-messages.ts";
import type { NodeProcess } from "./nodes.ts";

const tickMs = 20;
// A sender that has heard nothing for so long asks another node.
const patienceMs = 4_000;
const callsInFlightMax = 24;

interface Asked {
  readonly nodes: Set<string>;
  at: number;
}

interface OpenRun {
  readonly call: number;
  readonly index: number;
  watcher: string | null;
}

export interface DriverOptions {
  readonly seed: number;
  readonly nodes: readonly NodeProcess[];
  readonly callsPerSecond: number;
  /** Runs that lost nodes leave behind must be finished after their leases ended, or the backlog would grow for ever. */
  readonly openRunsMax: number;
}

export class Driver {
  ackedCount = 0;
  private readonly chance: Chance;
  private next = 0;
  private readonly asked = new Map<number, Asked>();
  private readonly open = new Map<string, OpenRun>();
  private readonly ended = new Set<string>();
  private isCalling = true;
  private isOver = false;
  private working: Promise<void> | null = null;

  constructor(private readonly options: DriverOptions) {
    this.chance = new Chance(options.seed, "driver");
  }

  start(): void {
    this.working = this.work();
  }

  /** No new calls; those that were made are made until they are answered. */
  stopCalling(): void {
    this.isCalling = false;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.working;
  }

  get isDrained(): boolean {
    return this.asked.size === 0 && this.open.size === 0;
  }

  get left(): string {
    const calls = [...this.asked.keys()];
    const runs = [...this.open].map(([runId, { watcher }]) => `${runId} watched by ${watcher}`);
    return `${calls.length} calls (${calls.slice(0, 5)}), ${runs.length} runs (${runs.slice(0, 5).join(", ")})`;
  }

  hear(node: NodeProcess, message: FromNode): void {
    if (message.kind === "answered") {
      this.ackedCount += message.eventCount;
      this.asked.delete(message.call);
      // Said before it was killed or frozen, and heard after: it watches nothing.
      const watcher = node.state === "up" ? node.name : null;
      for (const [runId, index] of message.runs) {
        if (!this.ended.has(runId)) this.open.set(runId, { call: message.call, index, watcher });
      }
    }
    if (message.kind === "failed") this.asked.get(message.call)?.nodes.delete(node.name);
    if (message.kind === "ended") {
      this.open.delete(message.runId);
      this.ended.add(message.runId);
    }
  }

  /** It is killed or frozen: whatever it was asked for is asked of others. */
  lost({ name }: NodeProcess): void {
    for (const { nodes } of this.asked.values()) nodes.delete(name);
    for (const run of this.open.values()) if (run.watcher === name) run.watcher = null;
  }

  private async work(): Promise<void> {
    let dueCalls = 0;
    while (!this.isOver) {
      await delay(tickMs);
      const up = this.options.nodes.filter(({ state }) => state === "up");
      if (up.length === 0) continue;
      for (const [runId, run] of this.open) {
        if (run.watcher !== null) continue;
        const watcher = this.chance.pick(up);
        run.watcher = watcher.name;
        watcher.tell({ kind: "watch", runId, call: run.call, index: run.index });
      }
      for (const [call, asked] of this.asked) {
        if (asked.nodes.size === 0 || Date.now() - asked.at > patienceMs) this.ask(call, asked, up);
      }
      if (!this.isCalling || this.open.size >= this.options.openRunsMax) continue;
      dueCalls += this.chance.exponential((tickMs / 1_000) * this.options.callsPerSecond);
      for (; dueCalls >= 1 && this.asked.size < callsInFlightMax; dueCalls--) this.call(up);
      dueCalls = Math.min(dueCalls, callsInFlightMax);
    }
  }

  private call(up: readonly NodeProcess[]): void {
    const call = this.next++;
    const asked = { nodes: new Set<string>(), at: 0 };
    this.asked.set(call, asked);
    this.ask(call, asked, up);
    if (this.chance.happens(0.1)) this.ask(call, asked, up);
  }

  private ask(call: number, asked: Asked, up: readonly NodeProcess[]): void {
    const others = up.filter(({ name }) => !asked.nodes.has(name));
    const node = this.chance.pick(others.length > 0 ? others : up);
    asked.nodes.add(node.name);
    asked.at = Date.now();
    node.tell({ kind: "call", call });
  }
}
