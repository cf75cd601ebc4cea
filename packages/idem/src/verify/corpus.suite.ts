// The corpus: small programs in pairs, one faulty and one mended. In the faulty one a comment "✗ VERDICT" stands above the line that is to be found.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodePlatform } from "../platform/node-platform.ts";
import { PlayingThreads } from "./playing-threads.ts";
import type { FunctionReport } from "./report.ts";
import { type VerifyFunctionOptions, verifyFunction } from "./verify-function.ts";

const corpus = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..", "verify-corpus");

export interface Pair {
  readonly name: string;
  readonly faulty: string;
  readonly mended: string;
  readonly expected: { readonly verdict: string; readonly line: number };
}

/** `shelf`: those that stand by themselves, or "packages", which use others' clients and SDKs. */
export function corpusPairs(shelf: "." | "packages" | "databases" = "."): Pair[] {
  const folder = join(corpus, shelf);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "faulty.mjs")))
    .map(({ name }) => {
      const faulty = join(folder, name, "faulty.mjs");
      const lines = readFileSync(faulty, "utf8").split("\n");
      const at = lines.findIndex((line) => line.includes("// ✗ "));
      const verdict = lines[at]!.split("✗ ")[1]!.trim();
      return { name, faulty, mended: join(folder, name, "mended.mjs"), expected: { verdict, line: at + 2 } };
    });
}

/** A program that stands by itself. */
export const corpusProgram = (name: string): string => join(corpus, name);

/** Threads that are warm, for all programs of a file. */
export const openThreads = (answerMsMax = 20_000, loader: "typescript" | null = null): PlayingThreads =>
  new PlayingThreads({ platform: nodePlatform, loader, size: 1, answerMsMax });

export async function verifyProgram(
  threads: PlayingThreads,
  program: string,
  options: Partial<VerifyFunctionOptions> = {},
): Promise<FunctionReport> {
  const modules = [program];
  const functions = await threads.describe(modules, options.databases);
  if (!Array.isArray(functions)) throw new Error(`${program} could not be loaded: ${JSON.stringify(functions)}`);
  const fn = functions.find(({ handlesEnd }) => !handlesEnd)!;
  const own = join(dirname(program), "event.json");
  const example = JSON.parse(readFileSync(existsSync(own) ? own : join(corpus, "event.json"), "utf8"));
  const event = fn.config.triggers.some((each: object) => "cron" in each) ? null : example;
  const endHandlers = functions.filter(({ handlesEnd }) => handlesEnd).map((each) => each.fn);
  // Mends have tests of their own, and are looked for in every schedule again.
  const plain = { threads, platform: nodePlatform, modules, fn, endHandlers, event, budgetMs: 0, mends: false };
  return verifyFunction({ ...plain, ...options });
}
