// A paused function starts runs again, and its events of the meantime are decided: they are kept, released or dropped.
// Released events come first, while the function is still paused: an event that arrives afterwards must not take the key, or
// cancel the run, of one that came before it. Long work is done in parts, so that the asker hears of it and can stop.

import type { Audited } from "../store/audit.ts";
import type { Engine } from "./engine.ts";
import { redecideOldest, type Verdict } from "./redecide-events.ts";

export const waitingChoices = ["keep", "release", "drop"] as const;

/** The fate of the events that were decided as paused. */
export type Waiting = (typeof waitingChoices)[number];

export interface ResumeRequest extends Audited {
  readonly reason: string;
  readonly waiting: Waiting;
  /** The `next` of the part before; null for the first. */
  readonly next: number | null;
}

export interface ResumedPart {
  /** Whether this made it start runs again. */
  readonly changed: boolean;
  readonly decided: number;
  /** For the next part: the instant before which events are decided while the function is still paused. Null when all is done. */
  readonly next: number | null;
}

// A second or so of commits; each caller waits longer than that for an answer.
const partMax = 1_000;

/** Repeat: what was decided is not decided again. Throws FUNCTION_UNKNOWN. */
export async function resumePart(
  engine: Engine,
  fn: string,
  { reason, waiting, next, actor }: ResumeRequest,
): Promise<ResumedPart> {
  const decide = (verdict: Verdict, until: number | null) =>
    redecideOldest(engine, fn, {
      verdict,
      reason,
      actor,
      // Held ones wait for something else than the end of a pause.
      kinds: ["paused"],
      max: partMax,
      ...(until === null ? {} : { until }),
    });
  // Fixed by the first part, or events that keep arriving could keep the function paused.
  const until = next ?? engine.now() + 1;
  const before = waiting === "release" ? await decide("release", until) : { decided: 0, isAll: true };
  if (!before.isAll) return { changed: false, decided: before.decided, next: until };
  const { changed } = await engine.pause({ fn, paused: false, reason, actor });
  if (waiting === "keep") return { changed, decided: 0, next: null };
  const rest = await decide(waiting, null);
  return { changed, decided: before.decided + rest.decided, next: rest.isAll ? null : until };
}
