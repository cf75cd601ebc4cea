// idem check-deploy: before new code goes live, do the runs that are open go on under it?
import { relative } from "node:path";
import { functionSlug } from "../../model/function-config.ts";
import { allNames } from "../../model/function-names.ts";
import { nearestWord } from "../../model/nearest-word.ts";
import { CannotReplay, checkDeploy } from "../../verify/deploy/check-deploy.ts";
import {
  type CheckedFunction,
  type DeployReport,
  exitCodeOf,
  jsonOf,
  sumOf,
} from "../../verify/deploy/deploy-report.ts";
import type { PlayingThreads } from "../../verify/playing-threads.ts";
import { type Command, type Context, countOption, serverOptions } from "../command.ts";
import { cannot, loadProgram, type Program, programThreads, unable } from "../load-program.ts";
import { printable } from "../printable.ts";
import { showProgress } from "../progress.ts";
import { showDeploy } from "../show-deploy.ts";

/** Runs of one function at one position: some five seconds of work on two cores (npm run deploy:time). */
const sampleDefault = 10_000;
const sampleMax = 1_000_000;
/** More threads would wait for the one that reads the store. */
const lanesMax = 4;

export const checkDeployCommand: Command = {
  name: "check-deploy",
  summary: "say, before new code goes live, whether the runs that are open go on under it",
  usage: "[module…] [--function <id>] [--sample <10000>]",
  words: { min: 0, max: 1_000 },
  options: {
    function: { value: "id", help: "only this function; may be repeated", isMany: true },
    sample: { value: "10000", help: "of each function, and of each position its runs stand at, look at so many" },
    ...serverOptions,
  },
  details: [
    "Name the modules of the new code. The record of each open run is replayed over it in a world without effects: steps that are done give back what",
    "they gave, and the first one that is not ends the replay. Told are runs that would do a step again, never ask for one again or get stuck, and what",
    "becomes of windows, lines and schedules that changed. The store is only read, beside whoever works on it. docs/deploying.md has it all.",
  ],
  examples: [
    "idem check-deploy dist/functions.js --store postgres://idem@db.internal/shop",
    "idem check-deploy src/functions.ts --function bill --json",
  ],
  exits: {
    list: [
      [0, "every run goes on"],
      [1, "something would be done again, never asked for again or stuck, or may be"],
      [2, "of some runs it could not be told, and nothing else is wrong"],
      [unable, "it could not check"],
    ],
    unable,
  },
  async run(context) {
    const sample = countOption(context, "sample", sampleDefault, sampleMax);
    const threads = programThreads(context, lanesMax);
    try {
      const program = await loadProgram(context, threads, { command: "check-deploy" });
      const startedAt = context.io.platform.monoMs();
      const parts: DeployReport[] = [];
      for (const env of environmentsOf(context, program)) {
        parts.push(
          await context.read(
            async ({ reads, store }) => checkOne(context, program, threads, { env, reads, store, sample }),
            env,
          ),
        );
      }
      const functions = parts.flatMap((each) => each.functions);
      checkNames(context, program, functions);
      const report: DeployReport = {
        store: parts[0]!.store,
        functions,
        others: {
          apps: [...new Set(parts.flatMap(({ others }) => others.apps))].sort(),
          open: parts.reduce((sum, { others }) => sum + others.open, 0),
        },
        summary: {
          ...sumOf(functions.map(({ runs }) => runs)),
          sample,
          tookMs: context.io.platform.monoMs() - startedAt,
        },
      };
      if (context.isJson) context.json(jsonOf(report, (file) => relative(context.io.cwd, file)));
      else showDeploy(context, report);
      return exitCodeOf(report);
    } finally {
      await threads.close();
    }
  },
};

/** The one that was asked for, else those the clients were made for. */
function environmentsOf({ options }: Context, { clients }: Program): string[] {
  return options.env === undefined ? [...new Set(clients.map(({ env }) => env))] : [options.env];
}

async function checkOne(
  context: Context,
  { modules, functions, clients }: Program,
  threads: PlayingThreads,
  of: {
    readonly env: string;
    readonly reads: Parameters<typeof checkDeploy>[0]["reads"];
    readonly store: string;
    readonly sample: number;
  },
): Promise<DeployReport> {
  const { io, options, lists } = context;
  const { env, reads, store, sample } = of;
  // With an environment of one's own the code is that which goes live there, whatever it says here.
  const isOf = (each: { readonly env: string }) => options.env !== undefined || each.env === env;
  const names = lists.function;
  const own = functions.filter(isOf);
  const apps = [...new Set(clients.filter(isOf).map(({ app }) => app))];
  const namesOf = new Map(own.map((each) => [each.fn, [each.config.id, ...allNames(each)]]));
  const listing = showProgress(io, "open runs found");
  const checking = showProgress(io, "runs replayed");
  try {
    const checked = await checkDeploy({
      threads,
      lanes: lanesMax,
      modules,
      reads,
      env,
      functions: own,
      apps,
      isWanted: (fn) =>
        names === undefined ||
        names.some(
          (name) =>
            name === fn || namesOf.get(fn)?.includes(name) || apps.some((app) => functionSlug(app, name) === fn),
        ),
      sample,
      now: context.now(),
      onListed: (count) => listing.update(count, null),
      onChecked: (done, total) => checking.update(done, total),
    });
    return { store, ...checked, summary: { ...sumOf([]), sample, tookMs: 0 } };
  } catch (error) {
    if (error instanceof CannotReplay) throw cannot(`The runs could not be replayed: ${error.message}.`);
    throw error;
  } finally {
    listing.end();
    checking.end();
  }
}

function checkNames({ lists }: Context, program: Program, functions: readonly CheckedFunction[]): void {
  for (const name of lists.function ?? []) {
    const own = program.functions.filter((each) =>
      allNames(each).some((full) => [name, functionSlug(each.app, name)].includes(full)),
    );
    if (functions.some(({ id, fn, app }) => id === name || fn === name || fn === functionSlug(app, name))) continue;
    if (own.length > 0) continue;
    const near = nearestWord(
      name,
      program.functions.map(({ config }) => config.id),
    );
    const hint = near === null ? "" : ` Did you mean "${near}"?`;
    throw cannot(`There is no function "${printable(name)}" in these modules, and no open run of one.${hint}`);
  }
}
