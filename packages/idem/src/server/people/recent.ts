// When something last happened, by whom: the latest few times of each name, for so long as they matter. Bounded like everything a stranger can make
// grow; whose name is dropped first has been silent longest.
import type { Platform } from "../../platform/platform.ts";

export interface RecentOptions {
  readonly platform: Pick<Platform, "monoMs">;
  readonly namesMax: number;
  /** Of one name; more are not needed to know that it was often enough. */
  readonly timesMax: number;
}

export class Recent {
  private readonly times = new Map<string, number[]>();

  constructor(private readonly options: RecentOptions) {}

  /** Times it was within the last `ms`. */
  count(name: string, ms: number): number {
    const since = this.options.platform.monoMs() - ms;
    return (this.times.get(name) ?? []).filter((at) => at > since).length;
  }

  /** Until it was less often than `max` within `ms`; 0 where it is. */
  waitMs(name: string, max: number, ms: number): number {
    const now = this.options.platform.monoMs();
    const at = (this.times.get(name) ?? []).at(-max);
    return at === undefined ? 0 : Math.max(0, Math.ceil(at + ms - now));
  }

  /** Returns how to take it back; what others added stays. */
  add(name: string): () => void {
    const { platform, namesMax, timesMax } = this.options;
    const now = platform.monoMs();
    const times = this.times.get(name) ?? [];
    times.push(now);
    if (times.length > timesMax) times.shift();
    this.times.delete(name);
    this.times.set(name, times);
    if (this.times.size > namesMax) this.times.delete(this.times.keys().next().value!);
    return () => {
      const at = times.indexOf(now);
      if (at !== -1) times.splice(at, 1);
    };
  }
}
