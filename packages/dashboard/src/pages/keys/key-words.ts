// Claims in words: which layer asks "has this been done?", and the key as a person would write it.
import { layerOf, layers } from "../../../../idem/src/server/api/key-layers.ts";
import { plainOf } from "../../../../idem/src/stories/story-words.ts";
import type { Answer } from "../../api/client.ts";

export type KeyItem = Answer<"GET /api/keys">["keys"][number];

/** The layer that asks; "claim" for one without a name. */
export function layerWords({ scope }: Pick<KeyItem, "scope">): string {
  const layer = layerOf(scope);
  return layer === null ? "claim" : layers[layer].words;
}

/** The function, or what else the key is unique within. */
export function scopeWords({ scope }: Pick<KeyItem, "scope">): string {
  if (scope === "event") return "all events";
  if (scope === "webhook") return "all deliveries";
  const layer = layerOf(scope);
  const under = layer === null ? undefined : layers[layer].under;
  return under === undefined ? scope : scope.slice(under.length);
}

/** A text that is JSON is shown without its quotes. */
export function keyWords({ scope, key }: Pick<KeyItem, "scope" | "key">): string {
  const layer = layerOf(scope);
  return layer !== null && layers[layer].isJson ? plainOf(key) : key;
}

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
