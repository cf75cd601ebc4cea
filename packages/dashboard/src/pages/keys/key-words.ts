// Claims in words: which layer asks "has this been done?", and the key as a person would write it.
import { plainOf } from "../../../../idem/src/stories/story-words.ts";
import type { Answer } from "../../api/client.ts";

export type KeyItem = Answer<"GET /api/keys">["keys"][number];

export type Layer = "function" | "event" | "webhook" | "http" | "singleton" | "effect" | "other";

export const layerOf = ({ scope }: Pick<KeyItem, "scope">): Layer => {
  if (scope === "event") return "event";
  if (scope === "webhook") return "webhook";
  if (scope.startsWith("fn:")) return "function";
  if (scope.startsWith("singleton:")) return "singleton";
  if (scope.startsWith("effect:")) return "effect";
  return scope === "http" || scope.startsWith("http:") ? "http" : "other";
};

export const layerWords: Readonly<Record<Layer, string>> = {
  function: "function key",
  event: "event id",
  webhook: "webhook id",
  http: "HTTP",
  singleton: "one at a time",
  effect: "effect",
  other: "claim",
};

/** The function, or what else the key is unique within. */
export const scopeWords = ({ scope }: Pick<KeyItem, "scope">): string =>
  scope === "event"
    ? "all events"
    : scope === "webhook"
      ? "all deliveries"
      : scope.replace(/^(fn|singleton|effect):/, "");

/** Keys of functions are JSON, where 7 and "7" differ; a text is shown without its quotes. */
export const keyWords = ({ scope, key }: Pick<KeyItem, "scope" | "key">): string =>
  /^(fn|singleton):/.test(scope) ? plainOf(key) : key;

const hotPerMinute = 100;
const minuteMs = 60_000;

/** Asks a minute, once they are worth a word; null below. */
export function rateOf({
  askedCount,
  takenAt,
  lastAskedAt,
}: Pick<KeyItem, "askedCount" | "takenAt" | "lastAskedAt">): number | null {
  const perMinute = askedCount / Math.max(1, (lastAskedAt - takenAt) / minuteMs);
  return perMinute > hotPerMinute ? Math.round(perMinute) : null;
}
