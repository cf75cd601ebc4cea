// The user's modules, loaded for one life: a graph of their own, ES modules and CommonJS.
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
import type { ThreadInput } from "./messages.ts";
import { ourFolder } from "./our-folder.ts";

const require = createRequire(import.meta.url);

/** Once for the thread. With `loader`, hooks that are asked before these; what no hook is asked for, it teaches the thread itself. */
export async function openLoader(loader: ThreadInput["loader"]): Promise<void> {
  register(new URL("./life-hooks.js", import.meta.url), { data: { ours: pathToFileURL(ourFolder).href } });
  if (loader === null) return;
  register(new URL("./typescript/hooks.js", import.meta.url));
  const { openRequire } = await import("./typescript/require.ts");
  process.setSourceMapsEnabled(true);
  openRequire();
}

let lives = 0;

export async function loadModules(paths: readonly string[]): Promise<void> {
  for (const file of Object.keys(require.cache)) {
    if (!file.startsWith(ourFolder)) delete require.cache[file];
  }
  lives++;
  for (const path of paths) {
    const url = pathToFileURL(path);
    url.searchParams.set("idem-life", String(lives));
    await import(url.href);
  }
}
