// The program that a command runs in threads of its own: its modules, named by the command or by its configuration, loaded once to see which functions there are.
import { availableParallelism } from "node:os";
import { dirname, relative } from "node:path";
import { type Answer, coldFactor, PlayingThreads } from "../verify/playing-threads.ts";
import { noConfiguration, readConfiguration, type VerifyConfiguration } from "../verify/verify-configuration.ts";
import { placeIn } from "../verify/worker/caller.ts";
import type { DescribedFunction } from "../verify/worker/messages.ts";
import { isOurs } from "../verify/worker/our-folder.ts";
import type { DatabaseScript } from "../verify/worker/sql/database-script.ts";
import type { Context } from "./command.ts";
import { Refusal } from "./exit.ts";
import type { PrepareDatabases } from "./verify-databases.ts";
import { findConfiguration, findModules, readSource } from "./verify-inputs.ts";

/** The exit code of a verification that could not run. */
export const unable = 3;
export const cannot = (message: string): Refusal => new Refusal(unable, message);
/** Real time in which a world is played, or a run replayed: more is an endless loop. */
const answerMsMax = 15_000;

export const programThreads = (
  { io }: { readonly io: Pick<Context["io"], "platform"> },
  sizeMax: number,
): PlayingThreads =>
  new PlayingThreads({
    platform: io.platform,
    loader: "typescript",
    size: Math.max(1, Math.min(sizeMax, availableParallelism())),
    answerMsMax,
  });

export interface Program {
  /** Files; its configuration first, if it has one. */
  readonly modules: readonly string[];
  readonly functions: readonly DescribedFunction[];
  readonly configuration: VerifyConfiguration;
  /** As they were prepared. */
  readonly databases: readonly DatabaseScript[];
  /** The clients that were constructed. */
  readonly clients: readonly { readonly app: string; readonly env: string }[];
}

export async function loadProgram(
  { io, words }: { readonly io: Pick<Context["io"], "cwd">; readonly words: readonly string[] },
  threads: PlayingThreads,
  {
    command = "verify",
    prepare = null,
  }: {
    readonly command?: string;
    /** Makes the databases of its configuration ready, before its modules open them. */
    readonly prepare?: PrepareDatabases | null;
  } = {},
): Promise<Program> {
  const file = findConfiguration(io.cwd);
  if (words.length === 0 && file === null) {
    throw cannot(
      `Which modules? Name those that define functions: idem ${command} src/functions.ts. Or write an idem.verify.ts that loads them.`,
    );
  }
  const before = file === null ? [] : [file];
  let modules = [...before, ...findModules(words, io.cwd)];
  // Its databases have to be known before the program is loaded.
  const hasDatabases = prepare !== null && file !== null && /\bdatabases\b/.test(readSource(file) ?? "");
  const alone = hasDatabases ? configurationOf(file, (await describe(io.cwd, threads, before)).configuration) : null;
  const databases = (alone === null ? undefined : await prepare?.(alone)) ?? [];
  let described = await describe(io.cwd, threads, modules, databases);
  let configuration = configurationOf(file, described.configuration);
  if (words.length === 0 && configuration.modules.length > 0) {
    modules = [...before, ...findModules(configuration.modules, dirname(file!))];
    described = await describe(io.cwd, threads, modules, databases);
    configuration = configurationOf(file, described.configuration);
  }
  const { functions, clients } = described;
  const names = modules.map((path) => relative(io.cwd, path)).join(", ");
  if (clients.length === 0)
    throw cannot(
      `${names} constructed no Idem: name the module in which your client is made, or one that imports it; where a container makes it, let load of idem.verify.ts open that (docs/verify.md).`,
    );
  if (functions.length === 0) throw cannot(`${names} defined no function: name the modules that call createFunction.`);
  const twice = functions.find(
    (each, i) => functions.findIndex(({ fn, env }) => fn === each.fn && env === each.env) < i,
  );
  if (twice !== undefined) {
    throw cannot(
      `"${twice.config.id}" is defined twice in ${names}, and of two with one name only one would run: name their modules one after the other.`,
    );
  }
  const own = clients.filter((each) => each.functions > 0);
  const alike = own.find(({ app, env }, i) => own.findIndex((each) => each.app === app && each.env === env) < i);
  if (alike !== undefined) {
    throw cannot(
      `${names} constructed two clients with the id "${alike.app}", and of two with one id only the functions of one would run: give each an id of its own, or name their modules one after the other.`,
    );
  }
  return { modules, functions, configuration, clients, databases };
}

/** The project's configuration, without its modules. */
export async function loadConfiguration({ io }: Context, threads: PlayingThreads): Promise<VerifyConfiguration> {
  const file = findConfiguration(io.cwd);
  return file === null
    ? noConfiguration
    : configurationOf(file, (await describe(io.cwd, threads, [file])).configuration);
}

function configurationOf(file: string | null, written: unknown): VerifyConfiguration {
  if (file === null) return noConfiguration;
  const read = readConfiguration(written);
  if (typeof read === "string") throw cannot(`${file}: ${read}${read.endsWith("?") ? "" : "."}`);
  return read;
}

/** Modules that export a handler: they need not construct a client. */
export async function loadHandlers(
  cwd: string,
  names: readonly string[],
  threads: PlayingThreads,
  prepare: PrepareDatabases,
): Promise<Pick<Program, "modules" | "configuration" | "databases">> {
  const file = findConfiguration(cwd);
  const before = file === null ? [] : [file];
  const modules = [...before, ...findModules(names, cwd)];
  const alone =
    file === null ? noConfiguration : configurationOf(file, (await describe(cwd, threads, before)).configuration);
  const databases = await prepare(alone);
  const { configuration } = await describe(cwd, threads, modules, databases);
  return { modules, configuration: configurationOf(file, configuration), databases };
}

type Described = Extract<Answer, { kind: "described" }>;

async function describe(
  cwd: string,
  threads: PlayingThreads,
  modules: readonly string[],
  prepared: readonly DatabaseScript[] = [],
): Promise<Described> {
  const databases = prepared.length === 0 ? {} : { databases: prepared };
  const answer = await threads.ask({ kind: "describe", modules, ...databases });
  if (answer.kind === "described") return answer;
  // Each by itself, to name the one.
  for (const path of modules.length > 1 ? modules : []) {
    const alone = await threads.ask({ kind: "describe", modules: [path], ...databases });
    if (alone.kind !== "described") throw notLoaded(cwd, relative(cwd, path), alone);
  }
  throw notLoaded(cwd, modules.map((path) => relative(cwd, path)).join(", "), answer);
}

function notLoaded(cwd: string, name: string, answer: Answer): Refusal {
  switch (answer.kind) {
    case "stuck":
      return cannot(
        `${name} does not come to its end: after ${(answerMsMax * coldFactor) / 1_000} s it was still being loaded. Look for a loop, or an await at the top that nothing answers.`,
      );
    case "failed": {
      const place = placeIn(answer.stack, isOurs);
      const where = place === null ? "" : ` (${relative(cwd, place.file)}:${place.line})`;
      return cannot(`${name} cannot be loaded: ${answer.why}${where}`);
    }
    case "gone":
      return cannot(`${name} cannot be loaded: its thread ended (${answer.why}).`);
    default:
      return cannot(`${name} cannot be loaded.`);
  }
}
