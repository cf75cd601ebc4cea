// One server, one schema, several nodes, one ledger; storms of faults, calm between them, and then everything must end and be judged.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { LocalPostgres, startLocalPostgres } from "../scripts/local-postgres.mjs";
import { check, type Violation } from "./check.ts";
import { Driver } from "./driver.ts";
import { loadNode, root } from "./engine.ts";
import { type EpisodeShape, type FaultKind, planEpisodes } from "./fault-plan.ts";
import { Faults } from "./faults.ts";
import { type LedgerProcess, startLedger } from "./ledger-process.ts";
import type { FromNode, LeasePace } from "./node-messages.ts";
import { type NodeEnd, NodeProcess } from "./nodes.ts";
import { WireProxy } from "./proxy.ts";
import { type LedgerFacts, readLedger } from "./read-ledger.ts";
import { readPostgres } from "./read-postgres.ts";
import type { StoreFacts } from "./read-store.ts";

export interface PostgresShape {
  readonly nodes: number;
  readonly pace: LeasePace;
  /** No process stays: nodes sweep. */
  readonly sweeps?: boolean;
  readonly episodes: readonly EpisodeShape[];
  readonly callsPerSecond: number;
  readonly openRunsMax: number;
}

export interface PostgresRoundOptions extends PostgresShape {
  readonly seed: number;
  readonly engine: string;
  readonly onFault?: (atMs: number, kind: FaultKind, about: string) => void;
  /** Called at once, for people who look on; all of it is in the result too. */
  readonly onViolation?: (violation: Violation) => void;
}

export interface PostgresResult {
  readonly seed: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly acked: number;
  readonly runs: number;
  readonly steps: number;
  readonly stepsEnteredAgain: number;
  readonly enteredLate: number;
  readonly duplicates: number;
  readonly ticks: number;
  readonly mostInLanes: number;
  /** Times an engine said that it cannot reach the store. */
  readonly away: number;
  readonly takeoverMs: readonly number[];
  readonly calmTakeoverMs: readonly number[];
  /** From the last fault until every run had ended. */
  readonly drainMs: number;
  readonly tookMs: number;
  readonly violations: readonly Violation[];
  /** Kept only where something was violated. */
  readonly folder: string | null;
}

const schema = "torture";

/** Beside a lease term: rescued runs of names that are given up after another one, and whatever is slow under load. */
const drainSpareMs = 30_000;

export async function runPostgresRound(options: PostgresRoundOptions): Promise<PostgresResult> {
  const startedAt = performance.now();
  const { seed, engine, pace } = options;
  const folder = mkdtempSync(join(tmpdir(), "idem-torture-"));
  const violations: Violation[] = [];
  const violated = (name: string, detail: string) => {
    violations.push({ check: name, detail });
    options.onViolation?.({ check: name, detail });
  };
  const counts: Record<string, number> = {};
  let away = 0;
  const complaints = new Set<string>();

  const local = (await import(pathToFileURL(join(root, "scripts", "local-postgres.mjs")).href)) as {
    startLocalPostgres: typeof startLocalPostgres;
  };
  const server = await local.startLocalPostgres({ isOnDisk: true });
  const standby = await server.addStandby();
  const cluster = await openCluster(options, folder, server, {
    onMessage: (node, message) => {
      if (message.kind === "away") away++;
      if (message.kind !== "complains" || complaints.has(message.text)) return;
      // A complaint repeated teaches nothing more.
      complaints.add(message.text);
      violated("nobody complains", `${node.name} in its life ${node.life}: ${message.text.slice(0, 800)}`);
    },
    onLost: (node, end) => {
      violated("a node lives until it is killed", describeEnd(node, end));
      driver.lost(node);
      void node.start();
    },
  });
  const { ledger, nodes, driver } = cluster;
  try {
    await Promise.all(nodes.map(({ process }) => process.start()));
    driver.start();
    const faults = new Faults({
      seed,
      server,
      standby,
      folder,
      schema,
      violated,
      ledger,
      nodes,
      onLost: (node) => driver.lost(node),
      onDone: (kind, about) => {
        counts[kind] = (counts[kind] ?? 0) + 1;
        options.onFault?.(performance.now() - startedAt, kind, about);
      },
      onMissed: (about) => violated("every fault is carried out", about),
    });
    const { leaseTermSharedMs: leaseTermMs, sweepMs } = pace;
    for (const episode of planEpisodes(seed, options.episodes, { nodes: nodes.length, leaseTermMs, sweepMs })) {
      await faults.run(episode);
    }
    const drainMs = await cluster.drain(leaseTermMs + drainSpareMs, violated);
    await cluster.stop(violated);
    const ledgerFacts = readLedger(folder);
    const store = await readPostgres(server.url, schema, await loadNode(engine));
    violations.push(...check({ ledger: ledgerFacts, store }));
    if (violations.length > 0) keep(folder, store, server);
    return {
      ...figuresOf(ledgerFacts, store),
      seed,
      faults: counts,
      away,
      drainMs: Math.round(drainMs),
      tookMs: Math.round(performance.now() - startedAt),
      violations,
      folder: violations.length === 0 ? null : folder,
    };
  } finally {
    await cluster.close();
    await server.remove();
    if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
  }
}

interface Cluster {
  readonly ledger: LedgerProcess;
  readonly driver: Driver;
  readonly nodes: readonly { readonly process: NodeProcess; readonly proxy: WireProxy }[];
  /** No new calls; resolves once everything has ended, with how long that took. */
  drain(withinMs: number, violated: (name: string, detail: string) => void): Promise<number>;
  /** An orderly end of every process; the ledger is complete then. */
  stop(violated: (name: string, detail: string) => void): Promise<void>;
  /** Whatever is left of it. */
  close(): Promise<void>;
}

async function openCluster(
  options: PostgresRoundOptions,
  folder: string,
  server: LocalPostgres,
  events: {
    readonly onMessage: (node: NodeProcess, message: FromNode) => void;
    readonly onLost: (node: NodeProcess, end: NodeEnd) => void;
  },
): Promise<Cluster> {
  const { seed, engine, pace, sweeps = false, callsPerSecond, openRunsMax } = options;
  const names = Array.from({ length: options.nodes }, (_, i) => `node-${i + 1}`);
  const ledger = await startLedger(folder, names);
  let finished = () => {};
  const proxies = await Promise.all(names.map(() => WireProxy.open(() => server.port)));
  const hear = (node: NodeProcess, message: FromNode) => {
    driver.hear(node, message);
    events.onMessage(node, message);
    if (message.kind === "finished") finished();
  };
  const nodes = names.map((node, i) => {
    const proxy = proxies[i]!;
    const store = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
    const at = `${store}?schema=${schema}`;
    const lifeOf = (life: number) => ({ folder, engine, seed, node, life, store: at, pace, sweeps });
    return { process: new NodeProcess(node, lifeOf, { onMessage: hear, onLost: events.onLost }), proxy };
  });
  const processes = nodes.map(({ process }) => process);
  const driver = new Driver({ seed, nodes: processes, callsPerSecond, openRunsMax });

  return {
    ledger,
    driver,
    nodes,
    async drain(withinMs, violated) {
      const sinceMs = performance.now();
      const isLate = () => performance.now() - sinceMs > withinMs;
      driver.stopCalling();
      while (!driver.isDrained && !isLate()) await delay(20);
      if (!driver.isDrained) violated("nothing is stuck", `after ${withinMs} ms: ${driver.left}`);
      const seen = new Promise<void>((resolve) => {
        finished = resolve;
      });
      nodes[0]!.process.tell({ kind: "finish" });
      const leftMs = Math.max(5_000, withinMs - (performance.now() - sinceMs));
      const gaveUp = new AbortController();
      const waited = delay(leftMs, "late" as const, { signal: gaveUp.signal }).catch(() => "late" as const);
      if ((await Promise.race([seen.then(() => "seen" as const), waited])) === "late") {
        violated("nothing is stuck", "runs that no client asked for are still open");
      }
      gaveUp.abort();
      return performance.now() - sinceMs;
    },
    async stop(violated) {
      await driver.stop();
      for (const process of processes) {
        const end = await process.stop();
        if (end.code !== 0) violated("a node leaves when it is told to", describeEnd(process, end));
        else if (end.complaints !== "") violated("nobody complains", describeEnd(process, end));
      }
      await ledger.close();
    },
    async close() {
      await driver.stop();
      await Promise.all(processes.map((process) => process.kill()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await ledger.close();
    },
  };
}

const describeEnd = ({ name, life }: NodeProcess, { code, signal, complaints }: NodeEnd): string =>
  `${name} in its life ${life} ended with ${signal ?? code}: ${complaints.slice(0, 800)}`;

function figuresOf(ledger: LedgerFacts, store: StoreFacts) {
  const ticks = [...store.runs.values()].filter(({ run }) => run.fn === "torture-clock").length;
  return {
    acked: ledger.acked.length + ledger.ackedOthers.length,
    runs: store.runs.size,
    steps: ledger.steps.size,
    stepsEnteredAgain: [...ledger.steps.values()].filter(({ entries }) => hasRepeat(entries)).length,
    enteredLate: ledger.enteredLate.length,
    duplicates: [...store.decisions.values()].flat().filter(({ kind }) => kind.startsWith("duplicate")).length,
    ticks,
    mostInLanes: ledger.lanes.mostInAll,
    takeoverMs: ledger.takeovers.map(({ ms }) => ms),
    calmTakeoverMs: ledger.takeovers.filter(({ isCalm }) => isCalm).map(({ ms }) => ms),
  };
}

/** The same attempt twice: its process was lost in the middle. */
const hasRepeat = (entries: readonly { readonly attempt: number }[]): boolean =>
  new Set(entries.map(({ attempt }) => attempt)).size < entries.length;

/** The server is gone after this; what is to be looked at stays beside the ledger. */
function keep(folder: string, store: StoreFacts, server: LocalPostgres): void {
  const { events, decisions, runs, ...rest } = store;
  const facts = { ...rest, events: [...events.values()], decisions: [...decisions], runs: [...runs.values()] };
  writeFileSync(join(folder, "store.json"), JSON.stringify(facts, null, 1));
  writeFileSync(join(folder, "server.log"), server.log());
}
