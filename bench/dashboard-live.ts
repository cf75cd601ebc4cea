// The cost of watching to work: runs of one step each, executed with and without three pages that follow them live, with and without the
// duplicate radar, and with and without counting by the hour what was decided. Rounds take turns, so that a machine that slows down slows both; of each kind the one in the middle counts.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as CreateFunction from "../packages/idem/modules/sdk/create-function.js";
import type * as WatchDuplicates from "../packages/idem/modules/sdk/watch-duplicates.js";
import type * as KeepCounts from "../packages/idem/modules/server/keep-counts.js";
import type { RunningServer } from "../packages/idem/modules/server/start-server.js";
import { root } from "./machine.ts";
import { keepInFlightFor } from "./measure.ts";

const dist = (file: string): Promise<unknown> => import(pathToFileURL(join(root, "packages/idem/modules", file)).href);
const { defineFunction } = (await dist("sdk/create-function.js")) as typeof CreateFunction;
const { watchDuplicates } = (await dist("sdk/watch-duplicates.js")) as typeof WatchDuplicates;

const { keepCounts } = (await dist("server/keep-counts.js")) as typeof KeepCounts;

const rounds = 5;
const followers = 3;
const pacedPerSecond = 1_000;
const tickMs = 20;
const warmUpMs = 500;
// Counting looks every five seconds, and leaves alone what is younger than a minute.
const countLookMs = 5_000;
const countLagMs = 60_000;

type Load = () => Promise<{ readonly perSecond: number }>;

/** Runs per second, and what one costs the server's process in microseconds. */
export interface Pace {
  readonly perSecond: number;
  readonly cpuUs: number;
}

export interface Cost {
  readonly without: Pace;
  readonly with: Pace;
}

export interface Costs {
  readonly "3 pages, full speed": Cost;
  readonly "3 pages, 1,000 runs/s": Cost;
  readonly "radar, full speed": Cost;
  readonly "hour counts, full speed": Cost;
}

export async function takeCosts(server: RunningServer, windowMs: number, say: (line: string) => void): Promise<Costs> {
  const engine = await server.world.engine("default");
  const options = { id: "work", idempotency: "event.data.n" };
  const body = ({ step }: any) => step.run("one", () => 1);
  await engine.register(defineFunction("bench", options, [{ event: "bench/work" }], body as never));
  let n = 0;
  const one = async () => {
    const { decisions } = await engine.accept([{ name: "bench/work", data: { n: ++n } }], 86_400_000, []);
    await engine.ends.wait(decisions[0]!.runId!);
  };
  const full = () => keepInFlightFor(100, { warmUpMs, windowMs }, one);
  const paced = () => keepPaceFor(windowMs, one);

  async function paceOf(load: Load): Promise<Pace> {
    const [before, from] = [process.cpuUsage(), n];
    const { perSecond } = await load();
    const { user, system } = process.cpuUsage(before);
    return { perSecond, cpuUs: (user + system) / (n - from) };
  }

  async function costOf(name: string, load: Load, begin: () => Promise<() => Promise<void>>): Promise<Cost> {
    const taken = { without: [] as Pace[], with: [] as Pace[] };
    for (let round = 1; round <= rounds; round++) {
      say(`${name}: round ${round} of ${rounds}`);
      taken.without.push(await paceOf(load));
      const end = await begin();
      taken.with.push(await paceOf(load));
      await end();
    }
    return { without: inTheMiddle(taken.without), with: inTheMiddle(taken.with) };
  }

  const follow = () => followAll(server.origin);
  const watch = async () => {
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const radar = watchDuplicates({ engine, platform: server.world.platform, logger: quiet });
    return () => radar.stop();
  };
  /** Everything at once, also what came while nobody counted: the server's own counting, which lags behind, finds nothing left to do. */
  const count = async () => {
    const ahead = Object.assign(Object.create(engine), { now: () => engine.now() + countLagMs });
    const keeper = keepCounts(ahead, server.world.platform);
    await new Promise((resolve) => setTimeout(resolve, countLookMs));
    return () => keeper.stop();
  };
  const countAll = async () => {
    while (!(await engine.store.count({ env: "default", until: engine.now() + countLagMs, max: 2_000 })).isAll);
  };
  const long = () => keepInFlightFor(100, { warmUpMs, windowMs: Math.max(windowMs, 2 * countLookMs) }, one);
  return {
    "3 pages, full speed": await costOf("3 pages, full speed", full, follow),
    "3 pages, 1,000 runs/s": await costOf("3 pages, 1,000 runs/s", paced, follow),
    "radar, full speed": await costOf("radar, full speed", full, watch),
    "hour counts, full speed": await countAll().then(() => costOf("hour counts, full speed", long, count)),
  };
}

/** A thousand a second, whatever became of those before. */
async function keepPaceFor(windowMs: number, one: () => Promise<unknown>): Promise<{ readonly perSecond: number }> {
  const open = new Set<Promise<unknown>>();
  const startedAt = performance.now();
  let [sent, ended] = [0, 0];
  const closesAt = startedAt + warmUpMs + windowMs;
  while (performance.now() < closesAt) {
    const due = Math.floor(((performance.now() - startedAt) * pacedPerSecond) / 1_000);
    for (; sent < due; sent++) {
      const run = one().then(() => {
        open.delete(run);
        const at = performance.now();
        if (at >= startedAt + warmUpMs && at < closesAt) ended += 1;
      });
      open.add(run);
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  await Promise.all(open);
  return { perSecond: (ended / windowMs) * 1_000 };
}

/** Three pages in a process of their own, which does what a browser's page does. */
async function followAll(origin: string): Promise<() => Promise<void>> {
  const child: ChildProcess = fork(join(root, "bench/dist/dashboard-follower.js"), [origin, String(followers)]);
  await new Promise<void>((resolve, reject) => {
    child.once("message", () => resolve());
    child.once("exit", (code) => reject(new Error(`the followers ended with ${code}`)));
  });
  return () =>
    new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.once("exit", () => resolve());
      child.kill();
    });
}

const middle = (some: readonly number[]) => [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)]!;
const inTheMiddle = (some: readonly Pace[]): Pace => ({
  perSecond: middle(some.map(({ perSecond }) => perSecond)),
  cpuUs: middle(some.map(({ cpuUs }) => cpuUs)),
});
