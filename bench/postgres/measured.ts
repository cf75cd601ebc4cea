// One measurement: processes of one engine over one database, under one load, with everything the server can tell about it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "../machine.ts";
import { type Costs, costsOf, takeReading } from "./costs.ts";
import type { Asked, LoadFigures, Said, Window } from "./load.ts";
import { readServerTime, serverTimeOf } from "./processor.ts";
import type { BenchServer } from "./server.ts";
import { sampleWaits, type Waits } from "./waits.ts";

export interface Measured {
  readonly versions: string;
  /** Of all processes together. */
  readonly perSecond: number;
  /** Inside the window, and with the warm-up. */
  readonly runs: number;
  readonly allRuns: number;
  /** Of one process; of the slowest where there are several. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly loopBusy: number;
  /** Microseconds of processor time per run. */
  readonly nodeUs: number;
  readonly postgresUs: Readonly<Record<string, number>> | null;
  readonly waits: Waits;
  readonly costs: Costs;
}

export const engines = { idem: "postgres/idem-node.js", dbos: "peers/dbos-node.js" } as const;

export interface Measurement {
  readonly engine: keyof typeof engines;
  readonly database: string;
  readonly processes?: number;
  readonly load: Window;
}

// Each process numbers its runs from another place: far enough from the next, and all within the 32 bits of a key.
const runsPerProcess = 4_000_000;
let processes = 0;

export const children = new Set<ChildProcess>();

export function startChild(program: string, args: readonly string[]): ChildProcess {
  const child = fork(join(root, "bench", "dist", program), args, {
    // Deprecations of an engine's driver are no news here.
    execArgv: ["--no-deprecation"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** The next message that is wanted; fails when the process ends without it. */
export function said<T extends { readonly kind: string }, K extends T["kind"]>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<T, { readonly kind: K }>> {
  return new Promise((resolve, reject) => {
    const hear = (message: T) => {
      if (message.kind !== kind) return;
      child.off("message", hear as (message: unknown) => void);
      child.off("exit", gone);
      resolve(message as Extract<T, { readonly kind: K }>);
    };
    const gone = (code: number | null) => reject(new Error(`a process of the bench ended with ${code}`));
    child.on("message", hear as (message: unknown) => void);
    child.once("exit", gone);
  });
}

export async function stopChild(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.send({ kind: "stop" } satisfies Asked);
  await gone;
}

export async function measure(
  server: BenchServer,
  { engine, database, processes: count = 1, load }: Measurement,
): Promise<Measured> {
  const before = await takeReading(server, database);
  const started = Array.from({ length: count }, () =>
    startChild(engines[engine], [server.urlOf(database), String(runsPerProcess * processes++)]),
  );
  const ready = await Promise.all(started.map((child) => said<Said, "ready">(child, "ready")));
  const opens = Promise.all(started.map((child) => said<Said, "opens">(child, "opens")));
  const closes = Promise.race(started.map((child) => said<Said, "closes">(child, "closes")));
  const figures = Promise.all(started.map((child) => said<Said, "figures">(child, "figures")));
  // Whichever is awaited first tells that a process ended; the others have nothing to add.
  for (const each of [opens, closes, figures]) each.catch(() => {});
  for (const child of started) child.send({ kind: "load", load } satisfies Asked);
  await opens;
  const timeBefore = await readServerTime(server);
  const stopSampling = sampleWaits(server, database);
  await closes;
  const timeAfter = await readServerTime(server);
  const waits = await stopSampling();
  const taken = (await figures).map(({ figures }) => figures);
  await Promise.all(started.map(stopChild));
  const after = await takeReading(server, database);

  const sum = (of: (figures: LoadFigures) => number) => taken.reduce((all, each) => all + of(each), 0);
  const runs = sum((each) => each.runs);
  const allRuns = sum((each) => each.allRuns);
  return {
    versions: ready[0]!.versions,
    perSecond: sum((each) => each.perSecond),
    runs,
    allRuns,
    p50Ms: Math.max(...taken.map((each) => each.p50Ms)),
    p99Ms: Math.max(...taken.map((each) => each.p99Ms)),
    loopBusy: sum((each) => each.loopBusy) / count,
    nodeUs: sum((each) => each.nodeUs * each.runs) / runs,
    postgresUs: timeBefore === null || timeAfter === null ? null : serverTimeOf(timeBefore, timeAfter, runs),
    waits,
    costs: costsOf(before, after, allRuns),
  };
}

/** So many runs, for their rows; nothing is measured. */
export async function runSome(
  server: BenchServer,
  engine: keyof typeof engines,
  database: string,
  total: number,
): Promise<void> {
  const child = startChild(engines[engine], [server.urlOf(database), String(runsPerProcess * processes++)]);
  await said<Said, "ready">(child, "ready");
  const figures = said<Said, "figures">(child, "figures");
  child.send({ kind: "load", load: { inFlight: 100, total } } satisfies Asked);
  await figures;
  await stopChild(child);
}
