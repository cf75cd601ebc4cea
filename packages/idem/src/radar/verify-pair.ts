// The command that plays the very pair of events an alert saw, in worlds of its own: what happened is seen to happen, and after the mend to hold.
import { shellWord } from "../model/shell-word.ts";
import type { Alert, AlertPair } from "../store/alerts.ts";

// Of the others, no two events did one thing twice.
const kinds: readonly string[] = ["doubled-runs", "maybe-doubled", "key-ran-again", "equal-events", "rule"];

export interface PairOf {
  /** The function's name for people; the command knows its full name, too. */
  readonly name: string;
  /** The file that defines it, where a verdict said so. */
  readonly module: string | null;
  /** Where its events are: an address without secrets; null for the one the command finds. */
  readonly store: string | null;
}

/** Null where there is nothing to play. */
export function verifyPair(
  { kind, fn }: Pick<Alert, "kind" | "fn">,
  { firstId, laterId }: Pick<AlertPair, "firstId" | "laterId">,
  { name, module, store }: PairOf,
): string | null {
  if (fn === "" || firstId === null || !kinds.includes(kind)) return null;
  const from = store === null ? "--from-store" : `--from-store ${shellWord(store)}`;
  const file = module === null ? "path/to/module.ts" : shellWord(module);
  return `idem verify ${file} --function ${shellWord(name)} ${from} --events ${shellWord(`${firstId},${laterId}`)}`;
}
