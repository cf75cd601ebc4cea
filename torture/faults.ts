// Carries the plan out, and has the ledger write down what was done to whom.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Chance } from "./chance.ts";
import type { Episode, Fault, FaultKind } from "./fault-plan.ts";
import { type FreezeStandbyOptions, freezeStandby, type Sending } from "./freeze-standby.ts";
import type { LedgerProcess } from "./ledger-process.ts";
import type { NodeProcess } from "./nodes.ts";
import type { Cut, WireProxy } from "./proxy.ts";

// Anything that has not come by then does not come at all.
const patienceMs = 10_000;
// A node is slow to come back to a server that was crashed twice on a busy machine: ten seconds told of the machine.
const cutPatienceMs = 60_000;
const sliceMs = 100;

export interface FaultsOptions extends FreezeStandbyOptions {
  readonly seed: number;
  readonly ledger: LedgerProcess;
  readonly nodes: readonly { readonly process: NodeProcess; readonly proxy: WireProxy }[];
  /** The node is not to be asked for anything for a while. */
  readonly onLost: (node: NodeProcess) => void;
  readonly onDone: (kind: FaultKind, about: string) => void;
  /** A fault that could not be carried out proves nothing. */
  readonly onMissed: (about: string) => void;
}

type Node = FaultsOptions["nodes"][number];

export class Faults {
  private readonly chance: Chance;
  /** The server is crashed or asked one at a time. */
  private serverTurn: Promise<void> = Promise.resolve();
  /** Nodes are chosen one at a time: the last one that is up is left alone. */
  private choosing: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: FaultsOptions) {
    this.chance = new Chance(options.seed, "targets");
  }

  async run(episode: Episode): Promise<void> {
    if (episode.kind === "calm") return this.calm(episode);
    if (episode.kind === "standby") return this.freezeStandby(episode.ways);
    const under: Promise<void>[] = [];
    for (const fault of episode.faults) {
      await delay(fault.gapMs);
      under.push(this.one(fault));
    }
    await Promise.all(under);
  }

  private async calm({ killed, frozen, frozenMs, ms }: Extract<Episode, { kind: "calm" }>): Promise<void> {
    const [one, other] = [this.options.nodes[killed]!.process, this.options.nodes[frozen]!.process];
    // There must be something to take over.
    const untilMs = performance.now() + patienceMs;
    while ((one.working === 0 || other.working === 0) && performance.now() < untilMs) await delay(5);
    await Promise.all([this.kill(one, 0, true), this.freeze(other, frozenMs, true), delay(ms)]);
  }

  private async freezeStandby(ways: readonly Sending[]): Promise<void> {
    const sent = await freezeStandby(this.options, ways);
    this.done("freeze-standby", null, `${sent} commits sent away: ${ways.join(", ")}`);
  }

  private async one(fault: Fault): Promise<void> {
    const { kind, ms } = fault;
    if (kind === "crash") return this.onServer(() => this.crash());
    if (kind === "terminate") return this.onServer(() => this.terminate());
    if (kind === "kill" || kind === "freeze") {
      const takesDown = (process: NodeProcess) => {
        if (kind === "kill") return this.kill(process, ms, false);
        return this.freeze(process, ms, false);
      };
      // Chosen and taken down in one turn, so that two who choose at once do not take the last one.
      const chosen = this.choosing.then(() => this.choose(fault, 2));
      this.choosing = chosen;
      return takesDown((await chosen).process);
    }
    const { process, proxy } = await this.choose(fault, 1);
    if (kind === "reset") {
      this.done(kind, process, `${proxy.reset((sessions) => this.some(sessions))} sessions of ${process.name}`);
    } else if (kind === "silence") {
      this.done(kind, process, `${process.name} for ${ms} ms`);
      await proxy.fallSilent(ms);
    } else await this.cut(kind, process, proxy);
  }

  /** The planned node or the next that is up, once at least so many are. */
  private async choose({ node }: Fault, upMin: number): Promise<Node> {
    const { nodes } = this.options;
    for (;;) {
      const inTurn = nodes.map((_, i) => nodes[(node + i) % nodes.length]!);
      const up = inTurn.filter(({ process }) => process.state === "up");
      if (up.length >= upMin) return up[0]!;
      await delay(50);
    }
  }

  private async kill(process: NodeProcess, downMs: number, isCalm: boolean): Promise<void> {
    const at = Date.now();
    const killed = process.kill();
    this.options.onLost(process);
    await killed;
    await this.options.ledger.note(["fault", at, "kill", process.name, isCalm], process.name);
    this.options.onDone("kill", `${process.name}, down for ${downMs} ms`);
    await delay(downMs);
    await process.start();
  }

  private async freeze(process: NodeProcess, ms: number, isCalm: boolean): Promise<void> {
    const { ledger, onLost, onDone } = this.options;
    const at = Date.now();
    process.freeze();
    onLost(process);
    await ledger.note(["fault", at, "freeze", process.name, isCalm]);
    onDone("freeze", `${process.name} for ${ms} ms`);
    await delay(ms);
    process.thaw();
  }

  private async cut(kind: Cut, process: NodeProcess, proxy: WireProxy): Promise<void> {
    let isTaken = false;
    const cut = proxy.arm(kind).then(() => {
      isTaken = true;
    });
    // A node that another fault froze or killed meanwhile comes nowhere: only the time it was up counts.
    let upMs = 0;
    while (!isTaken && upMs < cutPatienceMs) {
      await Promise.race([cut, delay(sliceMs)]);
      if (process.state === "up") upMs += sliceMs;
    }
    if (!isTaken) this.options.onMissed(`${kind} at ${process.name}: nobody came there`);
    else this.done(kind, process, `a session of ${process.name}`);
  }

  private onServer(work: () => Promise<void>): Promise<void> {
    this.serverTurn = this.serverTurn.then(work);
    return this.serverTurn;
  }

  private async crash(): Promise<void> {
    const { server } = this.options;
    this.done("crash", null, "the server");
    await server.crash();
    await server.start();
  }

  private async terminate(): Promise<void> {
    const client = new pg.Client({ connectionString: this.options.server.url });
    client.on("error", () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      "select pid from pg_stat_activity where application_name like 'idem %' order by pid",
    );
    const chosen = this.some(rows.map(({ pid }) => pid));
    await client.query("select pg_terminate_backend(pid) from unnest($1::int[]) pid", [chosen]);
    await client.end();
    this.done("terminate", null, `${chosen.length} of ${rows.length} sessions`);
  }

  /** At least one, if there is any. */
  private some<T>(all: readonly T[]): readonly T[] {
    return this.chance.shuffled(all).slice(0, Math.ceil(all.length * this.chance.next()));
  }

  private done(kind: FaultKind, node: NodeProcess | null, about: string): void {
    void this.options.ledger.note(["fault", Date.now(), kind, node?.name ?? null, false]);
    this.options.onDone(kind, about);
  }
}
