// Whether the open runs of an environment go on under new code: each record that is chosen is replayed in a thread and judged, and the functions'
// configurations are compared with those that are registered. The store is only read.
import { functionScope } from "../../model/claim.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { type NamedFunction, namedOf, recordedNames, shownApp } from "../../model/function-names.ts";
import { isEnded } from "../../model/run.ts";
import { isOpen } from "../../model/window.ts";
import { countPending, pendingCount } from "../../observe/pending-counts.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { StoreReads } from "../../store/reads.ts";
import type { PlayingThreads } from "../playing-threads.ts";
import type { DescribedFunction } from "../worker/messages.ts";
import { type Change, changesOf, type Windows } from "./changes.ts";
import { type CheckedFunction, worstOf } from "./deploy-report.ts";
import { type JudgedRun, judgeReplay, type RunFact } from "./judge-replay.ts";
import { goneChanges, type NowCalled, nameChanges, renamedTo, type WaitingUnder } from "./names.ts";
import { type Listed, listOpenRuns } from "./positions.ts";
import type { Replay, ReplayedRun } from "./replay.ts";
import { Tally } from "./tally.ts";

export interface CheckDeployOptions {
  readonly threads: Pick<PlayingThreads, "ask">;
  /** Threads asked at once. */
  readonly lanes: number;
  readonly modules: readonly string[];
  readonly reads: StoreReads;
  readonly env: string;
  /** Those that the modules define for this environment, and the apps they belong to. */
  readonly functions: readonly DescribedFunction[];
  readonly apps: readonly string[];
  /** Whether a function is to be looked at, by its full name. */
  readonly isWanted: (fn: string) => boolean;
  /** Of each function and position, at most so many runs. */
  readonly sample: number;
  readonly now: number;
  readonly onListed: (count: number) => void;
  readonly onChecked: (done: number, total: number) => void;
}

export interface CheckedEnvironment {
  readonly functions: readonly CheckedFunction[];
  readonly others: { readonly apps: readonly string[]; readonly open: number };
}

/** The modules could not be loaded in the thread that replays, or it has a defect. */
export class CannotReplay extends Error {}

const batchRuns = 100;
const batchBytes = 8 * 1024 * 1024;
const readsAtOnce = 8;
const inputBytesMax = 64 * 1024;
/** After so many runs of one function that never came back the others are not entered: each costs seconds. */
const endlessMax = 2;

export async function checkDeploy(options: CheckDeployOptions): Promise<CheckedEnvironment> {
  const { reads, env, functions, isWanted, sample, onListed } = options;
  const registered = (await reads.functions(env)).functions.map(namedOf);
  const nowCalled = (fn: string) => renamedTo(fn, registered, functions);
  const apps = [...options.apps, ...registered.filter(({ fn }) => nowCalled(fn) !== null).map(({ app }) => app)];
  const appOf = ownerOf(registered, apps);
  /** By any name it had, to the one that new rows get. */
  const known = new Map(functions.flatMap((each) => recordedNames(each).map((name) => [name, each] as const)));
  const recordedAs = (fn: string) => known.get(fn)?.fn ?? fn;
  const isOurs = (fn: string) => (known.has(fn) || apps.includes(appOf(fn))) && isWanted(recordedAs(fn));
  const listed = await listOpenRuns({ reads, env, isWanted: isOurs, sample, onListed });
  const tallies = new Map<string, Tally>();
  for (const fn of [...functions.map((each) => each.fn).filter(isWanted), ...listed.keys()]) {
    const names = recordedNames(known.get(fn) ?? { fn, config: { id: fn } });
    const open = names.reduce((sum, name) => sum + (listed.get(name)?.open ?? 0), 0);
    if (recordedAs(fn) === fn) tallies.set(fn, new Tally(open));
  }
  // One tally for all names of a function.
  for (const fn of listed.keys()) tallies.set(fn, tallies.get(fn) ?? tallies.get(recordedAs(fn)) ?? new Tally(0));
  await replayAll(options, new Set(known.keys()), listed, tallies, nowCalled);
  const facts = await factsOf(options, listed);
  const checked: CheckedFunction[] = [];
  for (const each of functions.filter(({ fn }) => isWanted(fn))) {
    const { fn, config } = each;
    const before = registered.find((row) => row.fn === fn);
    const changes = [
      ...nameChanges(each, functions, registered, await facts.names(each, listed)),
      ...(before === undefined ? [] : await facts.changes(fn, before.config, asAuthored(before.config, each))),
    ];
    checked.push(checkedOf({ id: config.id, fn, app: shownApp(each), env }, tallies.get(fn)!, changes));
  }
  for (const fn of goneOf(registered, listed, known).filter(isOurs)) {
    const row = registered.find((each) => each.fn === fn);
    const { id, app } = row === undefined ? { id: fn, app: appOf(fn) } : { id: row.config.id, app: shownApp(row) };
    const changes = row === undefined ? [] : await facts.gone(row, nowCalled(fn));
    const tally = tallies.get(fn) ?? new Tally(0);
    if (tally.counts.open > 0 || changes.length > 0) checked.push(checkedOf({ id, fn, app, env }, tally, changes));
  }
  return { functions: checked, others: await othersOf({ ...options, apps }, known, appOf) };
}

/** The events about a function's end follow from its names, and are not its author's to choose. */
const asAuthored = (before: FunctionConfig, { config, handlesEnd }: DescribedFunction): FunctionConfig =>
  handlesEnd ? { ...config, triggers: before.triggers } : config;

/** A function that is not registered any more is its app's by its name. */
const ownerOf =
  (registered: readonly NamedFunction[], apps: readonly string[]) =>
  (fn: string): string =>
    registered.find((each) => each.fn === fn)?.app ?? apps.find((app) => fn.startsWith(`${app}-`)) ?? "";

const goneOf = (
  registered: readonly NamedFunction[],
  listed: ReadonlyMap<string, Listed>,
  known: ReadonlyMap<string, unknown>,
): string[] => [...new Set([...registered.map(({ fn }) => fn), ...listed.keys()])].filter((fn) => !known.has(fn));

const checkedOf = (
  of: Pick<CheckedFunction, "id" | "fn" | "app" | "env">,
  { counts, findings }: Tally,
  changes: readonly Change[],
): CheckedFunction => ({ ...of, verdict: worstOf(counts), runs: counts, findings, changes });

async function othersOf(
  { reads, env, apps, isWanted }: CheckDeployOptions,
  known: ReadonlyMap<string, unknown>,
  appOf: (fn: string) => string,
): Promise<CheckedEnvironment["others"]> {
  const { byFunction } = await reads.counts(env);
  const others = Object.entries(byFunction).filter(
    ([fn]) => isWanted(fn) && !known.has(fn) && !apps.includes(appOf(fn)),
  );
  const open = others.reduce(
    (sum, [, { queued, running, waiting, parked }]) => sum + queued + running + waiting + parked,
    0,
  );
  return { apps: [...new Set(others.map(([fn]) => appOf(fn)))].filter((app) => app !== "").sort(), open };
}

// ---------------------------------------------------------------------------------------------------- replays

interface Chosen {
  readonly fn: string;
  readonly runId: string;
}

interface Read extends Chosen {
  readonly memo: RunMemo;
  readonly waitInputs: ReadonlyMap<string, string | null>;
}

async function replayAll(
  options: CheckDeployOptions,
  known: ReadonlySet<string>,
  listed: ReadonlyMap<string, Listed>,
  tallies: ReadonlyMap<string, Tally>,
  nowCalled: (fn: string) => NowCalled | null,
): Promise<void> {
  const { lanes, onChecked } = options;
  const left: Chosen[] = [];
  for (const [fn, { positions }] of listed) {
    const runIds = [...positions.values()].flatMap(({ chosen }) => chosen);
    if (known.has(fn)) for (const runId of runIds) left.push({ fn, runId });
    else tallies.get(fn)!.addAll(runIds, gone(nowCalled(fn)));
  }
  const total = left.length;
  let done = 0;
  const endless = new Map<string, number>();
  const tell = (fn: string, runId: string, judged: JudgedRun) => {
    tallies.get(fn)!.add(runId, judged);
    onChecked(++done, total);
  };
  const lane = async (): Promise<void> => {
    for (let batch = left.splice(0, batchRuns); batch.length > 0; batch = left.splice(0, batchRuns)) {
      let read: Read[] = [];
      let bytes = 0;
      for (let i = 0; i < batch.length; i += readsAtOnce) {
        const found = await Promise.all(batch.slice(i, i + readsAtOnce).map((each) => readRun(options, each)));
        for (const [j, each] of found.entries()) {
          if (each === null) tallies.get(batch[i + j]!.fn)!.ended();
          else {
            read.push(each);
            bytes += sizeOf(each.memo);
          }
        }
        if (bytes < batchBytes) continue;
        await replayBatch(options, read, endless, tell);
        [read, bytes] = [[], 0];
      }
      await replayBatch(options, read, endless, tell);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Null for one that has ended meanwhile. */
async function readRun({ reads, env }: CheckDeployOptions, { fn, runId }: Chosen): Promise<Read | null> {
  const memo = await reads.runMemo(env, runId);
  if (memo === null || isEnded(memo.run.state)) return null;
  const asks = memo.waits.some(({ kind }) => kind === "event" || kind === "signal");
  const given = asks ? await reads.stepInputs(env, runId, inputBytesMax) : [];
  return { fn, runId, memo, waitInputs: new Map(given.map(({ stepId, input }) => [stepId, input])) };
}

const sizeOf = ({ events, steps }: RunMemo): number =>
  events.reduce((sum, { data }) => sum + data.length, 0) +
  steps.reduce((sum, { outcome }) => sum + outcome.json.length, 0);

async function replayBatch(
  options: CheckDeployOptions,
  batch: readonly Read[],
  endless: Map<string, number>,
  tell: (fn: string, runId: string, judged: JudgedRun) => void,
): Promise<void> {
  const { threads, modules, env, now } = options;
  let left = batch;
  while (left.length > 0) {
    for (const { fn, runId } of left.filter((each) => isEndless(endless, each.fn))) tell(fn, runId, unentered);
    left = left.filter((each) => !isEndless(endless, each.fn));
    if (left.length === 0) return;
    const runs = left.map(({ fn, memo }): ReplayedRun => ({ fn, env, memo }));
    let entered = 0;
    const answer = await threads.ask({ kind: "replay", modules, now, runs }, () => entered++);
    if (answer.kind === "replayed") {
      for (const [i, replay] of answer.replays.entries())
        tell(left[i]!.fn, left[i]!.runId, judged(left[i]!, replay, env));
      return;
    }
    const culprit = left[entered - 1];
    if (culprit === undefined || (answer.kind !== "stuck" && answer.kind !== "gone")) {
      throw new CannotReplay(answer.kind === "failed" ? answer.why : `the thread that replays runs is ${answer.kind}`);
    }
    const why =
      answer.kind === "stuck"
        ? "its code does not come to its end: it never gives back its turn"
        : `its code ends the process: ${answer.why}`;
    endless.set(culprit.fn, (endless.get(culprit.fn) ?? 0) + 1);
    tell(culprit.fn, culprit.runId, told("STUCK", why));
    // Replays before it in the same batch were lost with the thread.
    left = left.filter((each) => each !== culprit);
  }
}

const isEndless = (endless: ReadonlyMap<string, number>, fn: string): boolean => (endless.get(fn) ?? 0) >= endlessMax;

const told = (kind: Exclude<RunFact["kind"], "NOTE">, why: string): JudgedRun => ({
  verdict: kind,
  facts: [{ kind, step: null, asked: null, why, place: null, key: null }],
});

const gone = (now: NowCalled | null): JudgedRun =>
  told(
    "STUCK",
    `none of these modules has the function: its runs wait until a process has it again${now === null ? "" : `. If it is "${now.name}" now, ${now.mend} keeps them`}`,
  );
const unentered = told("UNPROVEN", "it was not entered: others of its function did not come to their end");

function judged({ memo, waitInputs }: Read, replay: Replay, env: string): JudgedRun {
  const { fn, subject, generation } = memo.run;
  return judgeReplay(memo, replay, { env, fn, subject, generation }, waitInputs);
}

// ---------------------------------------------------------------------------------------------------- configurations

async function factsOf({ reads, env, now }: CheckDeployOptions, listed: ReadonlyMap<string, Listed>) {
  const { byFunction } = await reads.counts(env);
  const pending = await countPending(reads, env);
  const crons = await reads.crons(env);
  return {
    changes: async (fn: string, before: FunctionConfig, is: FunctionConfig): Promise<Change[]> => {
      const asked = {
        now,
        open: listed.get(fn)?.open ?? 0,
        queued: byFunction[fn]?.queued ?? 0,
        pending: pending(fn),
        windows: noWindows,
        crons: crons.filter((each) => each.fn === fn),
        startedAt: listed.get(fn)?.startedAt ?? [],
      };
      const isSame = JSON.stringify(before.idempotency) === JSON.stringify(is.idempotency);
      const windows = isSame ? noWindows : await openWindows(reads, env, fn, now);
      return changesOf(before, is, { ...asked, windows });
    },
    /** Counts what waits under each name of a renamed function. */
    names: async ({ fn, config }: NamedFunction, of: ReadonlyMap<string, Listed>): Promise<WaitingUnder[]> =>
      Promise.all(
        (config.was === undefined ? [] : recordedNames({ fn, config })).map(async (name) => ({
          name,
          open: of.get(name)?.open ?? 0,
          pending: pendingCount(pending(name)),
          windows: await openWindows(reads, env, name, now),
          crons: crons.filter((each) => each.fn === name).length,
        })),
      ),
    gone: async ({ fn, config }: NamedFunction, isNow: NowCalled | null): Promise<Change[]> => {
      const under = {
        name: fn,
        open: listed.get(fn)?.open ?? 0,
        pending: pendingCount(pending(fn)),
        // Of a function that is simply gone nobody asks for a key any more.
        windows: isNow === null ? noWindows : await openWindows(reads, env, fn, now),
        crons: crons.filter((each) => each.fn === fn).length,
      };
      return goneChanges(config.id, under, isNow);
    },
  };
}

const noWindows: Windows = { count: 0, held: 0, until: null };
const claimsPage = 1_000;

async function openWindows(reads: Pick<StoreReads, "claims">, env: string, fn: string, now: number): Promise<Windows> {
  const scope = functionScope(fn);
  let [count, held, until] = [0, 0, null as number | null];
  for (let after: { scope: string; key: string } | null = null; ; ) {
    const claims: Awaited<ReturnType<typeof reads.claims>> = await reads.claims(env, {
      scope,
      limit: claimsPage,
      ...(after === null ? {} : { after }),
    });
    for (const claim of claims) {
      if (claim.state === "released" || !isOpen(claim, now)) continue;
      count++;
      if (claim.held) held++;
      else until = Math.max(until ?? 0, claim.endsAt);
    }
    const last = claims.at(-1);
    if (last === undefined || claims.length < claimsPage) return { count, held, until };
    after = { scope: last.scope, key: last.key };
  }
}
