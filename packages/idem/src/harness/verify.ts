// `verify(idem, …)`: `idem verify` from a test. The functions are played in threads that load the modules they were made in, as a process would.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal } from "../cli/exit.ts";
import { loadProgram } from "../cli/load-program.ts";
import { withDatabases } from "../cli/verify-databases.ts";
import { findModules, projectPath, readMemoryOf, readRecordingsOf, readSource } from "../cli/verify-inputs.ts";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { shownApp } from "../model/function-names.ts";
import { type KnownOptions, refuseUnknown } from "../model/known-options.ts";
import { nearestWord } from "../model/nearest-word.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { environment } from "../platform/node-thread.ts";
import { makersOf, traceAbove } from "../sdk/made-by.ts";
import { type ChosenEvent, eventOfSchema } from "../verify/choose-event.ts";
import { readSchedule } from "../verify/schedules.ts";
import { readConfiguration, type VerifyConfiguration } from "../verify/verify-configuration.ts";
import type { Accepted } from "../verify/verify-memory.ts";
import { verifyProgram } from "../verify/verify-program.ts";
import type { DescribedFunction } from "../verify/worker/messages.ts";
import { type HeldReport, heldReport } from "./held-report.ts";
import { type MadeIn, madeIn, ownFiles } from "./made-in.ts";
import { withThreads } from "./worlds.ts";

/** An answer of a destination, in place of an echo of what was sent. */
export interface FixtureGiven {
  readonly method: string;
  /** With its port, if it has one of its own. */
  readonly host: string;
  /** Segments between slashes; "*" for any one. */
  readonly path: string;
  readonly status?: number;
  readonly body?: unknown;
}

/** Options of everything in `idem/verify`. */
export interface WorldOptions {
  /** Answers of destinations; before those of idem.verify.ts. */
  readonly fixtures?: readonly FixtureGiven[];
  /** Accepted effects, with a reason and an end: `{ effect: "POST metrics.local/*", because: "telemetry", until: "2027-06-01" }`. */
  readonly accept?: readonly Accepted[];
  /** Another chance for the code, and other ids. 1 by default. */
  readonly seed?: number;
  /** Only what goes wrong under these names; a finding has its own. */
  readonly schedule?: string | readonly string[];
  /** The folder of the project, with its idem.verify.ts. By default where the process was started. */
  readonly cwd?: string;
}

export interface VerifyOptions extends WorldOptions {
  /** The id of one function; by default all of the client's. */
  readonly function?: string;
  /** The event that starts it, as you would send it; otherwise the event of idem.verify.ts, or its schema's example. */
  readonly event?: { readonly name: string; readonly data?: unknown; readonly id?: string };
  /** The data of another entity's event, where it cannot be made from the event's. */
  readonly twin?: unknown;
  /** The field of the data that says which entity the event is about. */
  readonly entity?: string;
  /** The data of what its runs wait for, by the event's or the signal's name; a star stands for anything. */
  readonly waits?: Readonly<Record<string, unknown>>;
  /** The time for playing pairs of things that go wrong, "10s"; by default 0: every single one, and no pair. */
  readonly budget?: string | number;
  /** The modules that make the client and its functions, from `cwd` or as `file:` addresses. Found by themselves by default. */
  readonly modules?: readonly (string | URL)[];
}

const known: KnownOptions<VerifyOptions> = {
  function: true,
  event: true,
  twin: true,
  entity: true,
  waits: true,
  fixtures: true,
  accept: true,
  budget: true,
  seed: true,
  schedule: true,
  modules: true,
  cwd: true,
};

/**
 * If these functions ran twice, would there be two of something? They are run as `idem verify` runs them, in worlds in which something goes wrong, and what
 * the outside holds then is compared with one clean run.
 *
 * ```ts
 * import { verify } from "idem/verify";
 * import { idem } from "#functions";
 *
 * test("an invoice is drafted once", async () => {
 *   const event = { name: "crm/placement.made", data: { placementId: "7", clientId: "c3" } };
 *   const report = await verify(idem, { function: "draft-invoice", event });
 *   report.assertHeld();
 * });
 * ```
 *
 * The client's own store is not opened, and nothing of this process is used but the modules' files: each world loads them anew, and again after each death.
 */
export async function verify(
  idem: { readonly id: string; readonly env: string },
  options: VerifyOptions = {},
): Promise<HeldReport> {
  refuseUnknown<VerifyOptions>("verify", options, known);
  const asking = ownFiles(traceAbove(verify).stack ?? "", true);
  const cwd = resolve(options.cwd ?? ".");
  const about = `the functions of "${idem.id}"`;
  const { function: id = null, seed = 1 } = options;
  if (id === null && (options.event ?? options.twin ?? options.entity ?? options.waits) !== undefined) {
    throw errors.OPTION_INVALID({ option: "function", why: "say of which one event, twin, entity and waits are" });
  }
  const schedules = schedulesOf(options, (name) => readSchedule(name) !== null);
  const words = pathsOf(options.modules) ?? modulesOf(idem, id, asking);
  return explaining(about, () =>
    withThreads((threads) =>
      withDatabases({ cwd, server: environment().IDEM_VERIFY_DATABASE }, async (prepare) => {
        const program = await loadProgram({ io: { cwd }, words: findModules(words, cwd) }, threads, { prepare });
        const configuration = joined(program.configuration, configurationOf(options, id));
        const own = program.functions.filter((each) => shownApp(each) === idem.id && each.env === idem.env);
        const functions = own.filter(({ handlesEnd }) => !handlesEnd);
        const wanted = wantedOf(functions, id).map((fn) => ({ fn, event: eventFor(fn, configuration, options) }));
        const { report } = await verifyProgram({
          ...program,
          configuration,
          threads,
          platform: nodePlatform,
          wanted,
          memory: readMemoryOf(cwd),
          recordings: readRecordingsOf(cwd),
          recordHosts: [],
          budgetMs: options.budget === undefined ? 0 : parseDuration(options.budget, "budget"),
          seed,
          schedules,
          isWhole: schedules === null && wanted.length === program.functions.filter((each) => !each.handlesEnd).length,
          readSource,
          shorten: (file) => projectPath(cwd, file),
          leftOut: [],
          repeatOf: (of, schedule, at) =>
            `verify(…, { function: ${JSON.stringify(of)}, …, schedule: ${JSON.stringify(schedule)}, seed: ${at} })`,
        });
        return heldReport(report, cwd);
      }),
    ),
  );
}

/** Whatever keeps it from being played is said in one way. */
export async function explaining<T>(about: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof Refusal) throw errors.VERIFY_UNABLE({ about, why: error.message.replace(/\.$/, "") });
    throw error;
  }
}

export function schedulesOf(
  { schedule, seed = 1 }: WorldOptions,
  isKnown: (name: string) => boolean,
): readonly string[] | null {
  if (!Number.isInteger(seed) || seed < 1)
    throw errors.OPTION_INVALID({ option: "seed", why: "it must be a whole number above 0" });
  if (schedule === undefined) return null;
  const names = typeof schedule === "string" ? [schedule] : schedule;
  const strange = names.find((name) => !isKnown(name));
  if (strange === undefined) return names;
  const why = `there is none called "${strange}"; docs/verify.md lists them, and a finding names its own`;
  throw errors.OPTION_INVALID({ option: "schedule", why });
}

export const pathOf = (module: string | URL): string =>
  module instanceof URL || module.startsWith("file:") ? fileURLToPath(module) : module;

const pathsOf = (modules: VerifyOptions["modules"]): string[] | null =>
  modules === undefined ? null : modules.map(pathOf);

/** The modules that made the client and its functions, while they were loaded. */
function modulesOf(idem: { readonly id: string }, id: string | null, asking: readonly string[]): string[] {
  const makers = makersOf(idem);
  if (makers === null) throw errors.OPTION_INVALID({ option: "idem", why: "it is no client: give what new Idem made" });
  const idOf = (fn: string): string => fn.slice(idem.id.length + 1);
  const functions = [...makers.functions].filter(([fn]) => id === null || fn === id || idOf(fn) === id);
  if (id !== null && functions.length === 0) throw noFunction(id, [...makers.functions.keys()].map(idOf));
  const traces = [makers.client, ...functions.map(([, trace]) => trace)];
  const found = traces.map(({ stack = "" }) => madeIn(stack, asking));
  const wrong = found.find((each): each is Exclude<MadeIn, { kind: "module" }> => each.kind !== "module");
  if (wrong === undefined) {
    return [...new Set(found.flatMap((each) => (each.kind === "module" ? [each.file] : [])))];
  }
  const where = wrong.kind === "test" ? ` (${wrong.file})` : "";
  const why = `it was made by the test${where}, and a process that takes over after a death could not load that: make the client and its functions in a module of their own and import it here, or name such a module (modules)`;
  throw errors.VERIFY_UNABLE({ about: `"${idem.id}"`, why });
}

/** The test's options, as idem.verify.ts would say them. */
export function configurationOf(
  { event, twin, entity, waits, fixtures = [], accept = [] }: VerifyOptions,
  id: string | null,
): VerifyConfiguration {
  const functions = id === null ? {} : { [id]: { event, twin, entity, waits } };
  const read = readConfiguration(JSON.parse(JSON.stringify({ fixtures, accept, functions })));
  if (typeof read === "string") throw errors.OPTION_INVALID({ option: "verify", why: read.replace(/[.?]$/, "") });
  return read;
}

/** The test's own options count first. */
export function joined(project: VerifyConfiguration, own: VerifyConfiguration): VerifyConfiguration {
  const functions = { ...project.functions };
  for (const [id, said] of Object.entries(own.functions)) functions[id] = { ...functions[id], ...said };
  return {
    modules: project.modules,
    fixtures: [...own.fixtures, ...project.fixtures],
    accept: [...own.accept, ...project.accept],
    databases: project.databases,
    functions,
  };
}

function wantedOf(functions: readonly DescribedFunction[], id: string | null): readonly DescribedFunction[] {
  if (id === null) return functions;
  const found = functions.filter(({ fn, config }) => config.id === id || fn === id);
  if (found.length > 0) return found;
  throw noFunction(
    id,
    functions.map(({ config }) => config.id),
  );
}

function noFunction(id: string, ids: readonly string[]): Error {
  const near = nearestWord(id, ids);
  const hint = near === null ? "" : `; did you mean "${near}"?`;
  return errors.OPTION_INVALID({ option: "function", why: `the client has none called "${id}"${hint}` });
}

function eventFor(
  fn: DescribedFunction,
  { functions }: VerifyConfiguration,
  { event }: VerifyOptions,
): ChosenEvent | null {
  const written = functions[fn.config.id]?.event;
  if (written === undefined) return eventOfSchema(fn, false);
  return { ...written, from: event === undefined ? "from idem.verify" : "from the test", isReal: false };
}
