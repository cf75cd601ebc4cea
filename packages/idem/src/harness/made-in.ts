// Which modules have to be loaded so that a client is there again, read from the stacks of its making. Pure.
import { ownPlace } from "../verify/worker/caller.ts";
import { isOurs } from "../verify/worker/our-folder.ts";

// Where a module begins: what evaluates one, in Node and in the runners of tests.
const beginning =
  /\bnode:internal\/modules\/|\/node_modules\/(?:vite|vite-node|vitest|jest-runtime)\/|\bat (?:async )?loadModules \(/;

/** Files of the user's on a stack, the innermost first; as far as the beginning of the module they are in where `isWhole` does not ask for all. */
export function ownFiles(stack: string, isWhole = false): string[] {
  const files: string[] = [];
  for (const line of stack.split("\n").slice(1)) {
    if (!isWhole && beginning.test(line)) break;
    const file = ownPlace(line, isOurs)?.file;
    if (file !== undefined && !files.includes(file)) files.push(file);
  }
  return files;
}

/** Found: a module that makes it while it is loaded. Otherwise its maker: the test itself, or one that cannot be seen. */
export type MadeIn =
  | { readonly kind: "module"; readonly file: string }
  | { readonly kind: "test"; readonly file: string }
  | { readonly kind: "unseen" };

/** `asking`: the files that are at work where a verdict is asked for. Their clients were made in passing. */
export function madeIn(stack: string, asking: readonly string[]): MadeIn {
  const file = ownFiles(stack).at(-1);
  if (file === undefined) return { kind: "unseen" };
  return asking.includes(file) ? { kind: "test", file } : { kind: "module", file };
}
