// The way between one process and the store, with everything a network does to a call: delay, loss before the effect, loss of
// the reply after it, and the same call delivered twice. The store itself is the real one and loses nothing. For a while it may take no
// writes: what comes then waits, and is refused where it has waited long enough.
// Calls in flight outlive the process that made them; replies do not.
import type { Counters } from "./counters.ts";
import type { Store } from "./engine.ts";
import type { EventLoop } from "./event-loop.ts";
import type { Faults } from "./faults.ts";
import { never, type SimProcess } from "./platform.ts";
import type { Random } from "./random.ts";
import { notRepeated, writeNames } from "./store-calls.ts";

export interface StoreLink {
  readonly store: Store;
  readonly loop: EventLoop;
  readonly process: SimProcess;
  readonly random: Random;
  readonly counters: Counters;
  /** The present faults of the way. */
  readonly faults: () => Faults;
  readonly unavailable: (why: string) => Error;
  /** Since when and until when the store takes no writes, and what it says; null while it takes them. */
  readonly refusal: () => { readonly since: number; readonly until: number; readonly error: () => Error } | null;
  /** Told when a call took effect. */
  readonly onApplied: (name: string, input: readonly unknown[], answer: unknown) => void;
}

export function faultyStore(link: StoreLink): Store {
  const writes = Object.fromEntries(
    writeNames.map((name) => [name, (...input: unknown[]) => call(link, name, input, link.store as any)]),
  );
  const reads = new Proxy(link.store.reads, {
    get:
      (real, name: string) =>
      (...input: unknown[]) =>
        call(link, name, input, real as any),
  });
  const { shared, outbox, transactional } = link.store;
  return { ...writes, reads, shared, outbox, transactional, close: async () => {} } as unknown as Store;
}

// As long as a batch waits in the store's own thread (store/sqlite/patience.ts).
const patienceMs = 5_000;

type Operation = (...input: unknown[]) => Promise<unknown>;

function call(link: StoreLink, name: string, input: unknown[], target: Record<string, Operation>): Promise<unknown> {
  const { loop, process, random, counters } = link;
  if (!process.alive) return never();
  const { rates, delayMaxMs } = link.faults();
  const strikes = (fault: "delay" | "fail-before" | "lost-reply" | "duplicate"): boolean => {
    if (!random.chance(rates[fault])) return false;
    counters.add(`fault ${fault}`);
    return true;
  };
  const wayMs = (): number => (strikes("delay") ? random.between(0, delayMaxMs) : random.between(0, 1));
  const isWrite = target === (link.store as unknown);
  return new Promise((resolve, reject) => {
    const reply = (settle: () => void) => loop.schedule(wayMs(), settle, process);
    const lost = (why: string) => reply(() => reject(link.unavailable(why)));
    const apply = async () => {
      try {
        const answer = await target[name]!(...input);
        link.onApplied(name, input, answer);
        return () => resolve(answer);
      } catch (error) {
        return () => reject(error);
      }
    };
    const deliver = async (answered: boolean, replyLost: boolean) => {
      const settle = await apply();
      if (!answered) return;
      if (replyLost) lost(`the connection broke after ${name} was sent`);
      else reply(settle);
    };
    loop.schedule(wayMs(), () => {
      if (strikes("fail-before")) {
        lost(`the connection broke before ${name} was sent`);
        return;
      }
      const replyLost = strikes("lost-reply");
      const twice = isWrite && !notRepeated.has(name) && strikes("duplicate");
      // Of two deliveries either may be the one that is answered.
      const answeredFirst = !twice || random.chance(0.5);
      const refusal = isWrite && !twice ? link.refusal() : null;
      if (refusal !== null) {
        const waitsMs = Math.max(0, refusal.since + patienceMs - loop.now);
        const lastsMs = refusal.until - loop.now;
        const isOver = lastsMs <= waitsMs;
        counters.add(isOver ? "calls that waited for the store" : "calls refused with nothing stored");
        const refuse = () => reply(() => reject(refusal.error()));
        loop.schedule(Math.min(lastsMs, waitsMs), () => (isOver ? void deliver(true, replyLost) : refuse()));
        return;
      }
      void deliver(answeredFirst, replyLost);
      if (twice) loop.schedule(random.between(0, delayMaxMs), () => void deliver(!answeredFirst, replyLost));
    });
  });
}
