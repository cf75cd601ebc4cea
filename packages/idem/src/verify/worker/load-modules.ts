// The user's modules, loaded for one life: a graph of their own, ES modules and CommonJS.
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
import { ourFolder } from "./our-folder.ts";

const require = createRequire(import.meta.url);

/** Once for the thread. `loader` is a module with hooks of its own, for TypeScript say: it is asked before these. */
export function openLoader(loader: string | null): void {
  register(new URL("./life-hooks.js", import.meta.url), { data: { ours: pathToFileURL(ourFolder).href } });
  if (loader !== null) register(loader, import.meta.url);
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
