// The `if` of a wait for an event, as the store keeps it.
import { type TakenEquality, wholeExpression } from "../model/expression-equality.ts";
import type { RunPorts } from "./ports.ts";

/** Throws for an expression that cannot be compiled. */
export function planCondition(text: string, ports: Pick<RunPorts, "checkExpression" | "takeEquality">): TakenEquality {
  if (ports.takeEquality !== undefined) return ports.takeEquality(text);
  ports.checkExpression(text);
  return wholeExpression(text);
}
