// The store's time, as far as this process knows. Node clocks may differ by an hour; only the store's decides,
// and an answer takes its time, so there are two bounds: one that is never behind the store's clock, to plan from (a sleep
// asked for now is never over early), and one that is never ahead of it, to judge by (a retry planned elsewhere is never early).
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import type { Registry } from "./registry.ts";

// A difference this large is a stepped clock, not a slow answer.
const steppedMs = 1_000;
// A commit takes milliseconds; one that takes this long makes everybody wait.
const slowMs = 2_000;

export class StoreTime {
  private offset: number | null = null;
  /** The latest time the store said, and when it was heard. */
  private said: { readonly now: number; readonly heardMono: number } | null = null;

  constructor(
    private readonly platform: Pick<Platform, "monoMs" | "wallMs">,
    private readonly onSlow: (tookMs: number) => void = () => {},
  ) {}

  /** Until the store has said its time, this process's own clock stands in, which may be an hour ahead. */
  get isHeard(): boolean {
    return this.said !== null;
  }

  /** Takes in an answer: the store said `now` after we asked at `askedMono`. The smallest bound is the best one. */
  note(askedMono: number, now: number): void {
    const heardMono = this.platform.monoMs();
    if (heardMono - askedMono >= slowMs) this.onSlow(heardMono - askedMono);
    const offset = now - askedMono;
    if (this.offset === null || offset < this.offset || offset > this.offset + steppedMs) this.offset = offset;
    // Said again later, the same time counts from then: the store's clock may be standing still.
    if (this.said === null || now >= this.said.now) this.said = { now, heardMono };
  }

  /** Not behind the store's clock. */
  now(): number {
    return this.offset === null ? this.platform.wallMs() : Math.ceil(this.platform.monoMs() + this.offset);
  }

  /** Not ahead of the store's clock: every time up to this one has come. */
  reached(): number {
    if (this.said === null) return Math.floor(this.platform.wallMs());
    return this.said.now + Math.floor(this.platform.monoMs() - this.said.heardMono);
  }
}

/** Asks the store for its time, and whether the functions known here are the newest: an answer that they are not does not say the time. */
export async function hearTime(options: {
  readonly store: Pick<Store, "tick">;
  readonly platform: Pick<Platform, "monoMs">;
  readonly env: string;
  readonly registry: Pick<Registry, "registration" | "refresh">;
  readonly time: Pick<StoreTime, "note">;
}): Promise<void> {
  const { store, platform, env, registry, time } = options;
  for (;;) {
    const askedMono = platform.monoMs();
    const answer = await store.tick({ env, registration: registry.registration, ticks: [], leaseTo: null });
    if (answer.kind === "ticked") {
      time.note(askedMono, answer.now);
      return;
    }
    await registry.refresh();
  }
}
