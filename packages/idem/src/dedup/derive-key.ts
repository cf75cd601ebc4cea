// What makes two events the same to a function: its key expression, evaluated over the event.
import type { Expressions } from "../model/expression.ts";
import { evaluateKey } from "../model/expression.ts";
import type { KeyConfig } from "../model/function-config.ts";

export type DerivedKey =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly key: string }
  /** The key is missing, null or failed: never a slot shared by strangers. */
  | { readonly kind: "missing"; readonly reason: string };

export function deriveKey(config: KeyConfig | null, event: unknown, expressions: Expressions): DerivedKey {
  if (config === null) return { kind: "none" };
  const result = evaluateKey(expressions.get(config.key), { event });
  if (result.kind === "key") return result;
  return {
    kind: "missing",
    reason: `key \`${config.key}\` ${result.kind === "missing" ? "is missing" : "failed"}: ${result.reason}`,
  };
}
