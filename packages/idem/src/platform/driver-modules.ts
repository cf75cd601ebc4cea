// Modules that are not everywhere: what a runtime has inside, and what people install beside this package. Loaded when they are needed, in one go: nothing
// of this package awaits while it loads, or CommonJS could not require it.
import { createRequire } from "node:module";
import { join } from "node:path";

/** The runtime of this process, by the name and version people know it by. */
export const runtime = (): { readonly kind: "node" | "bun" | "deno"; readonly name: string } => {
  const { bun, deno, node } = process.versions;
  if (bun !== undefined) return { kind: "bun", name: `Bun ${bun}` };
  return deno === undefined ? { kind: "node", name: `Node ${node}` } : { kind: "deno", name: `Deno ${deno}` };
};

/**
 * A module of the runtime itself. Node 22 says of its SQLite that it may change, on the console of people who never chose it: that one sentence is
 * not passed on, while it loads.
 */
export function runtimeModule(name: string): unknown {
  const emit = process.emitWarning;
  const isAboutSqlite = (text: unknown, kind: unknown) =>
    kind === "ExperimentalWarning" && /^SQLite is an experimental feature/.test(String(text));
  process.emitWarning = (...told: [never]) => {
    const [text, kind] = told as readonly unknown[];
    if (!isAboutSqlite(text, kind)) Reflect.apply(emit, process, told);
  };
  try {
    return createRequire(import.meta.url)(name);
  } finally {
    process.emitWarning = emit;
  }
}

/** A package that is installed beside this one, or where the program was started (`npx` has this one elsewhere). */
export function installedModule(name: string): unknown {
  const beside = createRequire(import.meta.url);
  try {
    return beside(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    return createRequire(join(process.cwd(), "package.json"))(name);
  }
}

/** The user's own choice. */
export const chosenDriver = (): string | undefined => process.env.IDEM_SQLITE;
