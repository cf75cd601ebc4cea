// LISTEN and NOTIFY between the nodes. A hint may come late, twice or never, so nothing may depend on one; nodes look for
// themselves every now and then.
import type { Counters } from "../counters.ts";
import type { StoreHint } from "../engine.ts";
import type { EventLoop } from "../event-loop.ts";
import type { Faults } from "../faults.ts";
import type { SimProcess } from "../platform.ts";
import type { Random } from "../random.ts";

export interface HintsOptions {
  readonly loop: EventLoop;
  readonly random: Random;
  readonly counters: Counters;
  readonly faults: () => Faults;
}

type Listener = (hint: StoreHint) => void;

// They are gathered before they are sent.
const soonMs = 100;
const lateMs = 5_000;

export class Hints {
  private readonly listeners = new Map<Listener, SimProcess>();

  constructor(private readonly options: HintsOptions) {}

  subscribe(process: SimProcess, listener: Listener): () => void {
    this.listeners.set(listener, process);
    return () => this.listeners.delete(listener);
  }

  /** To everybody but the process itself. */
  tell(from: SimProcess, hint: StoreHint): void {
    for (const [listener, process] of this.listeners) {
      if (process === from || !process.alive) continue;
      const arrive = () => {
        if (this.listeners.has(listener)) listener(hint);
      };
      for (const ms of this.arrivals()) this.options.loop.schedule(ms, arrive, process);
    }
  }

  /** After how long it arrives, as often as it does. */
  private arrivals(): readonly number[] {
    const { random, counters, faults } = this.options;
    counters.add("hints");
    const soon = random.between(0, soonMs);
    if (!random.chance(faults().rates["hint-trouble"])) return [soon];
    counters.add("fault hint-trouble");
    return random.pick([[], [], [random.between(0, lateMs)], [soon, random.between(0, lateMs)]]);
  }
}
