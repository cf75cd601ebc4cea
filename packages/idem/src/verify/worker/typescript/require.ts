// TypeScript for a program that is loaded with `require`, in its own thread: Node's CommonJS loader, taught the endings and where names lead, with a cache
// for each life: a file that a dead process asks for late is not the living one's.
import Module, { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { findFile } from "./find-file.ts";
import { asImportOf } from "./import-of-life.ts";
import { transpile } from "./transpile.ts";

type Cache = Record<string, unknown>;
interface Loading {
  readonly filename?: string | null;
  _compile(code: string, file: string): void;
}
interface Loader {
  _cache: Cache;
  _extensions: Record<string, (module: Loading, file: string) => void>;
  _load(name: string, parent: Loading | null | undefined, ...rest: unknown[]): unknown;
  _resolveFilename(name: string, parent: Loading | null | undefined, ...rest: unknown[]): string;
}

/** The search part of a module's address, which names its life. */
type Life = string;

// A few: the process that lives, the one it took over from, and one that is being loaded.
const livesKept = 4;
const cacheByLife = new Map<Life, Cache>();
const lifeByModule = new WeakMap<object, Life>();
let currentLife: Life = "";

function cacheOf(life: Life): Cache {
  const known = cacheByLife.get(life);
  if (known !== undefined) return known;
  const cache: Cache = Object.create(null);
  cacheByLife.set(life, cache);
  const [oldest] = cacheByLife.keys();
  if (cacheByLife.size > livesKept) cacheByLife.delete(oldest!);
  return cache;
}

function inLife<T>(life: Life, body: () => T): T {
  const loader = Module as unknown as Loader;
  const before = { cache: loader._cache, life: currentLife };
  loader._cache = cacheOf(life);
  currentLife = life;
  try {
    return body();
  } finally {
    loader._cache = before.cache;
    currentLife = before.life;
  }
}

/** Where a module that stands for a typed CommonJS file finds it: called by the code that `facade` of hooks.ts writes. */
export const requireName = "idem.require";

export function openRequire(): void {
  const loader = Module as unknown as Loader;
  for (const ending of [".ts", ".tsx", ".mts", ".cts", ".jsx"]) {
    loader._extensions[ending] = (module, file) => {
      lifeByModule.set(module, currentLife);
      const code = transpile(file, "commonjs");
      module._compile(asImportOf(code, pathToFileURL(file).href + currentLife), file);
    };
  }
  const script = loader._extensions[".js"]!;
  loader._extensions[".js"] = (module, file) => {
    if (currentLife !== "") lifeByModule.set(module, currentLife);
    script(module, file);
  };
  const load = loader._load;
  loader._load = function (this: unknown, name, parent, ...rest) {
    const life = parent === null || parent === undefined ? undefined : lifeByModule.get(parent);
    const loading = () => load.call(this, name, parent, ...rest);
    return life === undefined || life === currentLife ? loading() : inLife(life, loading);
  };
  openResolving(loader);
  Reflect.set(globalThis, Symbol.for(requireName), (file: string, url: string) =>
    inLife(new URL(url).search, () => createRequire(file)(file) as unknown),
  );
}

function openResolving(loader: Loader): void {
  const before = loader._resolveFilename;
  // Reading a tsconfig.json asks for packages, too.
  let isFinding = false;
  const find = (name: string, from: string): string | null => {
    if (isFinding) return null;
    isFinding = true;
    try {
      return findFile(name, from);
    } finally {
      isFinding = false;
    }
  };
  loader._resolveFilename = function (this: unknown, name, parent, ...rest) {
    const from = parent?.filename ?? null;
    return (from === null ? null : find(name, from)) ?? before.call(this, name, parent, ...rest);
  };
}
