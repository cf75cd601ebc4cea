// The user's modules, loaded for one life: a graph of their own, ES modules and CommonJS.
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
import { openMailbox, setEnvironment } from "../../platform/node-thread.ts";
import { builtFile } from "../../platform/package-files.ts";
import { KnownModules, LifeModules } from "./known-modules.ts";
import type { ThreadInput } from "./messages.ts";
import { ourFolder } from "./our-folder.ts";
import { shareCode } from "./share-code.ts";
import { world as postgresWorld } from "./sql/postgres-world.ts";
import type { Told } from "./tell-hooks.ts";

const require = createRequire(import.meta.url);

/** Once for the thread. With `loader`, hooks that are asked before these; `require`, for which no hook is asked, is taught to the thread itself. */
export async function openLoader(loader: ThreadInput["loader"]): Promise<void> {
  shareCode();
  const ours = pathToFileURL(ourFolder).href;
  register(builtFile("verify/worker/life-hooks"), { data: { ours } });
  if (loader !== null) register(builtFile("verify/worker/typescript/hooks"));
  const { port, drain } = openMailbox<Told>();
  register(builtFile("verify/worker/tell-hooks"), { data: { ours, port }, transferList: [port] });
  known = new KnownModules(ours, drain);
  if (loader === null) return;
  const { openRequire } = await import("./typescript/require.ts");
  process.setSourceMapsEnabled(true);
  openRequire();
}

let lives = 0;
let known: KnownModules | null = null;
let isKnown = false;

const entriesOf = (paths: readonly string[]): string[] => paths.map((path) => pathToFileURL(path).href);

/** Programs that asked for unknown modules, and how often: they ask for others each time. */
const surprises = new Map<string, number>();
const surprisesMax = 3;

/**
 * Plays something with the user's modules from what is known of them, where that may be (`mayRepeat`: it can be done once more), and once more with Node's own
 * loader where it was not enough.
 */
export async function withModules<T>(paths: readonly string[], mayRepeat: boolean, body: () => Promise<T>): Promise<T> {
  const entries = entriesOf(paths);
  const program = entries.join("\n");
  const count = surprises.get(program) ?? 0;
  if (mayRepeat && count < surprisesMax && known!.knows(entries)) {
    known!.wasEnough();
    isKnown = true;
    const [played] = await Promise.allSettled([body()]);
    isKnown = false;
    if (known!.wasEnough() && played.status === "fulfilled") return played.value;
    surprises.set(program, count + 1);
  }
  const played = await body();
  await known!.learn();
  return played;
}

/** The part of a program's configuration that matters for loading it. */
interface Configuration {
  readonly env?: Readonly<Record<string, string>>;
  /** Constructs clients that no import does: a container's. */
  readonly load?: () => unknown;
}

const isConfiguration = (path: string): boolean => /[\\/]idem\.verify\.[cm]?[jt]s$/.test(path);

/** Gives what the configuration among them exports, if one is. */
export async function loadModules(
  paths: readonly string[],
  onModule: (path: string, exported: object) => void = () => {},
): Promise<unknown> {
  for (const file of Object.keys(require.cache)) {
    if (!file.startsWith(ourFolder)) delete require.cache[file];
  }
  const life = `idem-life=${++lives}`;
  const modules = isKnown ? new LifeModules(known!, life) : null;
  let configuration: Configuration | null = null;
  for (const [i, url] of entriesOf(paths).entries()) {
    const loaded = ((await modules?.import(url))?.namespace ?? (await import(`${url}?${life}`))) as {
      readonly default?: Configuration & { readonly default?: Configuration };
    };
    onModule(paths[i]!, loaded);
    if (!isConfiguration(paths[i]!)) continue;
    // Of a CommonJS file, the default is all of it.
    configuration = loaded.default?.default ?? loaded.default ?? {};
    setEnvironment(configuration.env ?? {});
    postgresWorld?.setAddresses();
  }
  await configuration?.load?.();
  return configuration;
}
