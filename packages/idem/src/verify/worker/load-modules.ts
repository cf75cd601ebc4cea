// The user's modules, loaded for one life: a graph of their own, ES modules and CommonJS.
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
import { setEnvironment } from "../../platform/node-thread.ts";
import type { ThreadInput } from "./messages.ts";
import { ourFolder } from "./our-folder.ts";
import { shareCode } from "./share-code.ts";

const require = createRequire(import.meta.url);

/** Once for the thread. With `loader`, hooks that are asked before these; what no hook is asked for, it teaches the thread itself. */
export async function openLoader(loader: ThreadInput["loader"]): Promise<void> {
  shareCode();
  register(new URL("./life-hooks.js", import.meta.url), { data: { ours: pathToFileURL(ourFolder).href } });
  if (loader === null) return;
  register(new URL("./typescript/hooks.js", import.meta.url));
  const { openRequire } = await import("./typescript/require.ts");
  process.setSourceMapsEnabled(true);
  openRequire();
}

let lives = 0;

/** A program's configuration: what it says, and what loads it. */
interface Configuration {
  readonly env?: Readonly<Record<string, string>>;
  /** Constructs clients that no import does: a container's. */
  readonly load?: () => unknown;
}

const isConfiguration = (path: string): boolean => /[\\/]idem\.verify\.[cm]?[jt]s$/.test(path);

/** Gives what the configuration among them exports, if one is. */
export async function loadModules(paths: readonly string[]): Promise<unknown> {
  for (const file of Object.keys(require.cache)) {
    if (!file.startsWith(ourFolder)) delete require.cache[file];
  }
  lives++;
  let configuration: Configuration | null = null;
  for (const path of paths) {
    const url = pathToFileURL(path);
    url.searchParams.set("idem-life", String(lives));
    const loaded = (await import(url.href)) as {
      readonly default?: Configuration & { readonly default?: Configuration };
    };
    if (!isConfiguration(path)) continue;
    // Of a CommonJS file, the default is all of it.
    configuration = loaded.default?.default ?? loaded.default ?? {};
    setEnvironment(configuration.env ?? {});
  }
  await configuration?.load?.();
  return configuration;
}
