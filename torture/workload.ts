// The calls of a seed: call n is the same in every life, so that a call whose answer was lost is made again word for word.
// Some events are redelivered with their id, some orders are paid twice under other ids or none.
import { Chance } from "./chance.ts";

export interface Sent {
  readonly name: string;
  readonly id?: string;
  readonly data: Record<string, any>;
  readonly meta: { readonly call: number; readonly index: number };
}

const eventsPerCallMax = 8;
// Duplicates come soon after the first, while its run is open, or much later.
const lookBackMax = 60;

/** `nodes` adds what several processes over one store are there for: slow work, and work with limits. */
export type Mix = "one process" | "nodes";

export function callOf(seed: number, call: number, mix: Mix = "one process"): Sent[] {
  return Array.from({ length: countOf(seed, call) }, (_, index) => eventOf(seed, call, index, mix));
}

export function eventOf(seed: number, call: number, index: number, mix: Mix = "one process"): Sent {
  return { ...originalOf(seed, call, index, mix), meta: { call, index } };
}

const countOf = (seed: number, call: number): number => {
  const chance = new Chance(seed, "count", call);
  return chance.happens(0.5) ? 1 : chance.int(2, eventsPerCallMax);
};

function originalOf(seed: number, call: number, index: number, mix: Mix): Omit<Sent, "meta"> {
  const chance = new Chance(seed, "event", call, index);
  const earlier = () => {
    const before = Math.max(0, call - 1 - Math.floor(chance.next() ** 2 * lookBackMax));
    return originalOf(seed, before, chance.int(0, countOf(seed, before) - 1), mix);
  };
  if (call > 0 && chance.happens(0.12)) return earlier();
  const number = call * 100 + index;
  const id = `e-${call}-${index}`;
  if (mix === "nodes" && chance.happens(0.3)) {
    const slow = chance.next();
    if (slow < 0.5) return { name: "slow/go", id, data: { number, ms: chance.int(200, 1_500) } };
    if (slow < 0.75) return { name: "chain/go", id, data: { number, ms: chance.int(20, 150) } };
    return {
      name: "capped/go",
      id,
      data: { number, ms: chance.int(100, 500), lane: chance.pick(["red", "green", "blue"]) },
    };
  }
  const kind = chance.next();
  if (kind < 0.42) {
    const other = call > 0 && chance.happens(0.25) ? earlier() : null;
    const order = other?.name === "order/paid" ? other.data.order : number;
    const data = { order, note: `paid by ${id}` };
    // Without an id only the function's key recognises it.
    return chance.happens(0.3) ? { name: "order/paid", data } : { name: "order/paid", id, data };
  }
  if (kind < 0.55) return { name: "fan/go", id, data: { number } };
  if (kind < 0.68) return { name: "flaky/go", id, data: { number, failures: chance.int(0, 4) } };
  if (kind < 0.8) return { name: "nap/go", id, data: { number, ms: napMs(chance) } };
  if (kind < 0.88) return { name: "ticket/opened", id, data: { ticket: number, isAnswered: chance.happens(0.7) } };
  if (kind < 0.97) return { name: "double/go", id, data: { number } };
  return { name: "long/go", id, data: { number } };
}

/** Mostly within a life; some outlast several. */
const napMs = (chance: Chance): number => (chance.happens(0.8) ? chance.int(20, 300) : chance.int(500, 2_500));
