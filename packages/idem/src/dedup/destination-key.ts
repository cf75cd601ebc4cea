// The key a step hands to the system it writes to. The same on every retry, in a duplicate run and in a rerun; new only when
// a window ended by itself. Never random, and short enough for every destination we know (45 characters).
import { createHash } from "node:crypto";

export interface DestinationOf {
  readonly env: string;
  readonly fn: string;
  readonly subject: string;
  readonly generation: string;
}

// 40 characters of base64url are 240 bits.
const hashChars = 40;

export function destinationKey(run: DestinationOf, step: string, repeat: number): string {
  // As a JSON list, so that no part can borrow characters from its neighbour.
  const parts = JSON.stringify([run.env, run.fn, run.subject, run.generation, step, repeat]);
  return `idem_${createHash("sha256").update(parts).digest("base64url").slice(0, hashChars)}`;
}
