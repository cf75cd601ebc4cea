// One logical event under two names: Bullhorn says INSERTED, and a moment later UPDATED, of one placement that was saved once.
//
// Raw events are unique by (source, id), logical ones by (source, key, window number). The first raw event opens a window; others within it
// are absorbed; when it is over, one logical event is delivered. A later one opens another window, but is absorbed too when it adds nothing.

import { batchSizeMax } from "../../flow/batch/config.ts";
import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { canonicalJson } from "../../model/json.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { businessKeyHash, businessKeyText } from "./business-key.ts";
import type { WebhookEvent } from "./webhook-event.ts";

export interface Merged {
  readonly type: string;
  readonly changed: readonly string[];
  /** Whether the thing came to be within this window: DELETED with `wasNew` was never there for long. */
  readonly wasNew: boolean;
}

export interface CoalesceOptions<Payload = unknown> {
  /** Makes two events one, such as [entityName, entityId, transactionId ?? "-"]. */
  readonly key: (event: WebhookEvent<Payload>) => readonly (string | number | null | undefined)[];
  /** Time to wait for the twin, and so the price: this much latency. Without a transaction in the key it also bounds "the same". */
  readonly windowMs: number;
  /** By default the stronger type and the union of what changed. */
  readonly merge?: (first: Merged, next: Merged) => Pick<Merged, "type" | "changed">;
  /** With a transaction in the key: how many names to expect; the last of them ends the wait. */
  readonly expects?: number;
  /**
   * For this long after a window its key still absorbs events that add nothing; `windowMs` by default. Longer is right only where the key
   * names one change and not just one thing: an UPDATED of next week must not be taken for a late twin.
   */
  readonly lateMs?: number | ((event: WebhookEvent<Payload>) => number);
}

export interface Coalescing {
  readonly windowMs: number;
  readonly expects: number | null;
  /** The key as JSON, and short. */
  keyOf(event: WebhookEvent<unknown>): { readonly text: string; readonly hash: string };
  lateMsOf(event: WebhookEvent<unknown>): number;
  merge(first: Merged, next: Merged): Merged;
  /** Whether the first one said it all. */
  addsNothing(first: Merged, next: Merged): boolean;
}

const windowMsMax = 7 * 24 * 60 * 60 * 1_000;

/** The payload's type is the caller's word for what its provider sends. */
export function readCoalesce<Payload>(given: CoalesceOptions<Payload>): Coalescing {
  const options = given as unknown as CoalesceOptions<unknown>;
  refuseUnknown<CoalesceOptions>("coalesce", options, {
    key: true,
    windowMs: true,
    merge: true,
    expects: true,
    lateMs: true,
  });
  const refuse = (option: string, why: string) =>
    errors.TOOLKIT_OPTION_INVALID({ call: "webhook", option: `coalesce.${option}`, why });
  const { key, merge: chosen, expects = null, lateMs } = options;
  if (typeof key !== "function") throw refuse("key", "it must be a function that gives a list");
  const windowMs = parseDuration(options.windowMs, "coalesce.windowMs");
  if (windowMs < 1_000 || windowMs > windowMsMax) throw refuse("windowMs", "it must be between 1 second and 7 days");
  if (expects !== null && (!Number.isInteger(expects) || expects < 2 || expects > batchSizeMax)) {
    throw refuse("expects", `it must be a whole number from 2 to ${batchSizeMax}`);
  }
  const merge = (first: Merged, next: Merged): Merged => {
    const { type, changed } = (chosen ?? mergeByStrength)(first, next);
    return { type, changed: [...changed], wasNew: first.wasNew || next.wasNew };
  };
  return {
    windowMs,
    expects,
    keyOf(event) {
      const text = businessKeyText(key(event));
      return { text, hash: businessKeyHash(text) };
    },
    lateMsOf: (event) => (typeof lateMs === "function" ? lateMs(event) : (lateMs ?? windowMs)),
    merge,
    addsNothing: (first, next) => sameMerged(merge(first, next), first),
  };
}

const sameMerged = (a: Merged, b: Merged): boolean =>
  canonicalJson([a.type, a.changed, a.wasNew]) === canonicalJson([b.type, b.changed, b.wasNew]);

/** The sum of one raw event alone. */
export const mergedOf = ({ type, changed }: Pick<WebhookEvent, "type" | "changed">): Merged => ({
  type,
  changed: [...changed].sort(),
  wasNew: strengthOf(type) === strengths.indexOf("inserted"),
});

const mergeByStrength = (first: Merged, next: Merged): Pick<Merged, "type" | "changed"> => ({
  type: strongest(first.type, next.type),
  changed: [...new Set([...first.changed, ...next.changed])].sort(),
});

// Strongest last.
const strengths = ["", "updated", "inserted", "deleted"];
const synonyms: Readonly<Record<string, string>> = { created: "inserted", removed: "deleted", changed: "updated" };

/** By its last word: "Placement.INSERTED", "orders/create" and "created" are alike. */
function strengthOf(type: string): number {
  const word =
    type
      .toLowerCase()
      .split(/[^a-z]+/)
      .at(-1) ?? "";
  const past = word.endsWith("ed") ? word : `${word.replace(/e$/, "")}ed`;
  return Math.max(0, strengths.indexOf(synonyms[past] ?? past));
}

/** DELETED is stronger than INSERTED, which is stronger than UPDATED; of two alike the first stays. */
export const strongest = (first: string, next: string): string => (strengthOf(next) > strengthOf(first) ? next : first);
