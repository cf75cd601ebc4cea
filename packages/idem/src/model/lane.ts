// Where a run stands in line. Runs of one function that take the same slots stand in one lane; lanes take turns, so a hot key
// does not starve the others. A slot is held by a run at work: a run that sleeps, waits or is queued holds none
// (docs/decisions/0011).

/** The lane's name says everything about it, so a job needs no other row to be leased. */
export interface LaneName {
  readonly fn: string;
  /** Names of the slots it takes while at work; a name is unique in the whole store, so limits may reach over functions. */
  readonly slots: readonly string[];
  /** What its start is spaced by; null for nothing, and for every run that has begun. */
  readonly throttle: string | null;
}

/** What the function's configuration allows, by position in the lane's slots: the newest configuration counts, not the lane's. */
export interface LaneCaps {
  readonly slots: readonly number[];
  readonly throttle: ThrottleRule | null;
}

export interface ThrottleRule {
  readonly limit: number;
  readonly periodMs: number;
  /** How many may begin at once. */
  readonly burst: number;
}

export const laneText = ({ fn, slots, throttle }: LaneName): string => JSON.stringify([fn, slots, throttle]);

export function readLane(text: string): LaneName {
  const [fn, slots, throttle] = JSON.parse(text) as [string, string[], string | null];
  return { fn, slots, throttle };
}

/** A throttle spaces starts: what has begun only takes slots. Null when it takes none. */
export function laneOnceBegun({ fn, slots, throttle }: LaneName, text: string): string | null {
  if (slots.length === 0) return null;
  return throttle === null ? text : laneText({ fn, slots, throttle: null });
}

/** A slot that the configuration no longer knows has room for everyone. */
export const capOf = (caps: LaneCaps | undefined, position: number): number =>
  caps?.slots[position] ?? Number.POSITIVE_INFINITY;

export type Admission =
  | { readonly kind: "now" /** The new state to keep. */; readonly tat: number }
  | { readonly kind: "later"; readonly at: number };

/**
 * GCRA: starts are `period / limit` apart, and up to `burst` of them may come early. `tat` is when the next start is due if all
 * that began had come evenly; null when nothing has begun yet.
 */
export function admitStart(tat: number | null, rule: ThrottleRule, now: number): Admission {
  const spacing = rule.periodMs / rule.limit;
  const due = Math.max(tat ?? now, now);
  const earliest = due - spacing * (rule.burst - 1);
  return earliest > now ? { kind: "later", at: Math.ceil(earliest) } : { kind: "now", tat: due + spacing };
}
