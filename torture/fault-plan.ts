// The faults of nodes, sessions and the server, and their times; the same seed plans the same.
import { Chance } from "./chance.ts";
import { type Sending, sendings } from "./freeze-standby.ts";
import { cuts } from "./proxy.ts";

const stormKinds = ["kill", "freeze", "terminate", "crash", ...cuts, "reset", "silence"] as const;
type StormKind = (typeof stormKinds)[number];
/** The last one is an episode of its own. */
export const faultKinds = [...stormKinds, "freeze-standby"] as const;
export type FaultKind = (typeof faultKinds)[number];
/** Each kind's number in a storm. */
export type Bag = Readonly<Partial<Record<StormKind, number>>>;

export interface Fault {
  readonly kind: StormKind;
  /** The how-manieth node; one that is down or frozen just then leaves it to the next. */
  readonly node: number;
  /** How long it is down, frozen or silent. */
  readonly ms: number;
  /** Before it comes. */
  readonly gapMs: number;
}

export type Episode =
  /** Many faults, each whenever it comes. */
  | { readonly kind: "storm"; readonly faults: readonly Fault[] }
  /** One node is killed and another frozen for longer than a lease lasts, and nothing else happens until others took over. */
  | {
      readonly kind: "calm";
      readonly killed: number;
      readonly frozen: number;
      readonly frozenMs: number;
      readonly ms: number;
    }
  /** The standby is frozen, and those who wait for it are sent away. */
  | { readonly kind: "standby"; readonly ways: readonly Sending[] };

export interface EpisodeShape {
  readonly kind: Episode["kind"];
  readonly bag?: Bag;
  readonly meanGapMs?: number;
}

export function planEpisodes(
  seed: number,
  shapes: readonly EpisodeShape[],
  { nodes, leaseTermMs, sweepMs }: { readonly nodes: number; readonly leaseTermMs: number; readonly sweepMs: number },
): Episode[] {
  const chance = new Chance(seed, "faults");
  const lasts: Partial<Record<StormKind, () => number>> = {
    kill: () => chance.int(0, 1_500),
    // Some shorter than the lease, some longer.
    freeze: () => Math.round(leaseTermMs * (0.2 + chance.next() * 1.2)),
    silence: () => chance.int(500, Math.min(6_000, leaseTermMs)),
  };
  return shapes.map(({ kind, bag = {}, meanGapMs = 1_000 }): Episode => {
    if (kind === "calm") {
      const killed = chance.int(0, nodes - 1);
      // Others need the term, a sweep that may come a quarter late, and a poll.
      const ms = Math.round(leaseTermMs + sweepMs * 1.25 + 1_500);
      // It comes back around the time others take over: while they do, or a little later.
      const frozenMs = Math.round(leaseTermMs + sweepMs * 1.25 * chance.next() + 500);
      return { kind, killed, frozen: (killed + chance.int(1, nodes - 1)) % nodes, frozenMs, ms };
    }
    if (kind === "standby") return { kind, ways: chance.shuffled(sendings) };
    const kinds = stormKinds.flatMap((each) => Array.from({ length: bag[each] ?? 0 }, () => each));
    const faults = chance.shuffled(kinds).map(
      (each): Fault => ({
        kind: each,
        node: chance.int(0, nodes - 1),
        ms: lasts[each]?.() ?? 0,
        gapMs: Math.round(Math.min(chance.exponential(meanGapMs), meanGapMs * 4)),
      }),
    );
    return { kind, faults };
  });
}
