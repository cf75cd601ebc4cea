// Where a run stands in line. Runs of one function that take the same slots stand in one lane; lanes take turns, so a hot key
// does not starve the others. A slot is held by a run at work: a run that sleeps, waits or is queued holds none
// (docs/decisions/0011).
import type { Expressions } from "../model/expression.ts";
import type { ConcurrencyLimit } from "./concurrency/config.ts";
import { planSlots } from "./concurrency/plan.ts";
import type { FlowConfig } from "./options.ts";
import type { RunFlow } from "./plan.ts";
import type { FlowOf } from "./plan-keys.ts";
import { planThrottle, type ThrottleRule, throttleRule } from "./throttle/plan.ts";

/** The lane's name says everything about it, so a job needs no other row to be leased. */
export interface LaneName {
  readonly fn: string;
  /** Names of the slots it takes while at work; a name is unique in the whole store, so limits may reach over functions. */
  readonly slots: readonly string[];
  /** Spaces its start; null for nothing, and for every run that has begun. */
  readonly throttle: string | null;
}

/** The function's limits, by position in the lane's slots: the newest configuration counts, not the lane's. */
export interface LaneCaps {
  readonly slots: readonly number[];
  readonly throttle: ThrottleRule | null;
}

export interface LaneUse {
  /** As laneText wrote it. */
  readonly name: string;
  readonly caps: LaneCaps;
}

/** Of a run that never stood in line, and that nothing holds up. */
export const unlimited: RunFlow = { lane: null, startBy: null, cancelOn: [], singleton: null };

/** Its runs wait in line for a slot or an instant, where others start at once. */
export const needsLane = ({ concurrency, throttle }: FlowConfig): boolean =>
  concurrency !== undefined || throttle !== undefined;

/** Where a run of this function stands in line for this event; null where it need not. */
export function planLane(of: FlowOf, payload: unknown, expressions: Expressions): LaneUse | null {
  const caps = capsOf(of.config);
  if (caps === null) return null;
  const slots = planSlots(of, payload, expressions);
  const throttle = planThrottle(of, payload, expressions);
  return { name: laneText({ fn: of.fn, slots, throttle }), caps };
}

/** Limits of a function's newest configuration; null where it has none. */
export function capsOf(config: FlowConfig): LaneCaps | null {
  if (!needsLane(config)) return null;
  const slots = (config.concurrency ?? []).map(({ limit }) => limit);
  return { slots, throttle: throttleRule(config.throttle) };
}

export function sameCaps(a: LaneCaps, b: LaneCaps): boolean {
  const { throttle: one } = a;
  const { throttle: other } = b;
  if (a.slots.length !== b.slots.length || a.slots.some((cap, i) => cap !== b.slots[i])) return false;
  if (one === null || other === null) return one === other;
  return one.limit === other.limit && one.periodMs === other.periodMs && one.burst === other.burst;
}

export const laneText = ({ fn, slots, throttle }: LaneName): string => JSON.stringify([fn, slots, throttle]);

export function readLane(text: string): LaneName {
  const [fn, slots, throttle] = JSON.parse(text) as [string, string[], string | null];
  return { fn, slots, throttle };
}

/** The names of all it has to pass. */
export const limitsOfLane = ({ slots, throttle }: LaneName): readonly string[] =>
  throttle === null ? slots : [...slots, throttle];

/** A throttle spaces starts: what has begun only takes slots. Null when it takes none. */
export function laneOnceBegun({ fn, slots, throttle }: LaneName, text: string): string | null {
  if (slots.length === 0) return null;
  return throttle === null ? text : laneText({ fn, slots, throttle: null });
}

/** A slot that the configuration no longer knows has room for everyone. */
export const capOf = (caps: LaneCaps | undefined, position: number): number =>
  caps?.slots[position] ?? Number.POSITIVE_INFINITY;

// ---------------------------------------------------------------------------------------------------- what holds a run in line

export const laneLimitKinds = ["concurrency", "throttle"] as const;

export interface LaneLimit {
  readonly kind: (typeof laneLimitKinds)[number];
  /** Its name in the lane. */
  readonly id: string;
  readonly limit: number;
  /** Of a throttle: in which so many may begin. */
  readonly periodMs: number | null;
  /** CEL over `event`; null for one limit on all. */
  readonly key: string | null;
  /** Whose runs share it. */
  readonly scope: ConcurrencyLimit["scope"];
  /** While it is another than the function's own, by a person's word: the own one, and until when. */
  readonly temporary: { readonly own: number; readonly until: number } | null;
}

/** The limits of a lane that its function's configuration made. */
export function laneLimits({ slots, throttle }: LaneName, config: FlowConfig): LaneLimit[] {
  const limits = slots.map((id, i): LaneLimit => {
    const { limit, key, scope, own, until } = config.concurrency![i]!;
    const temporary = own === undefined || until === undefined ? null : { own, until };
    return { kind: "concurrency", id, limit, periodMs: null, key, scope, temporary };
  });
  if (throttle === null) return limits;
  const { limit, periodMs, key } = config.throttle!;
  return [...limits, { kind: "throttle", id: throttle, limit, periodMs, key, scope: "fn", temporary: null }];
}
