// The key that makes two events the same to a function: its expression, evaluated over the event, within the source of a delivery.
import { sourceOf } from "../model/event.ts";
import type { Expressions } from "../model/expression.ts";
import type { KeyConfig } from "../model/function-config.ts";
import { exactKey, type KeyedEvent } from "./exact-key.ts";

export type DerivedKey =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly key: string }
  /** The key is missing, null or failed: never a slot shared by strangers. */
  | { readonly kind: "missing"; readonly reason: string }
  /** It depends on digits that are gone: two events may look like one, and neither may be taken for the other. */
  | { readonly kind: "lost"; readonly reason: string };

export function deriveKey(config: KeyConfig | null, event: KeyedEvent, expressions: Expressions): DerivedKey {
  if (config === null) return { kind: "none" };
  const result = exactKey(expressions.stored(config.key), event);
  if (result.kind === "key") return { kind: "key", key: keyWithin(sourceOf(event), result.key) };
  if (result.kind === "lost") return { kind: "lost", reason: `key \`${config.key}\`: ${result.reason}` };
  return {
    kind: "missing",
    reason: `key \`${config.key}\` ${result.kind === "missing" ? "is missing" : "failed"}: ${result.reason}`,
  };
}

/**
 * A delivery's key is `<source>:<key>`. Keys of other events are JSON, which no such text is: an event by another way cannot take the key of a
 * delivery, whatever its data says.
 */
const keyWithin = (source: string | null, key: string): string => (source === null ? key : `${source}:${key}`);
