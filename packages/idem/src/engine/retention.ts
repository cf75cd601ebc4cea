// History older than its retention is deleted in the background: one bounded call at a time, when the worker has room for it.
// Work is never held up by it. Whatever may still be asked for (an open run, an open window, an event that waits for a person)
// the store keeps, however old.
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import { Housekeeping } from "./housekeeping.ts";
import { limits } from "./limits.ts";
import type { StoreTime } from "./store-time.ts";

/** How long history is kept, as somebody wrote it, in milliseconds. */
export function readRetention(value: string | number, option = "retention"): number {
  const ms = parseDuration(value, option, limits.retentionMsMax);
  if (ms >= limits.retentionMsMin) return ms;
  throw errors.OPTION_INVALID({
    option,
    why: "it must be 1h or longer: what happened within the hour is still being looked at",
  });
}

export interface RetentionOptions {
  readonly store: Pick<Store, "prune">;
  readonly platform: Pick<Platform, "timer" | "monoMs">;
  readonly time: Pick<StoreTime, "reached">;
  readonly env: string;
  readonly keepMs: number;
  readonly isBusy: () => boolean;
  readonly report: (what: string, error: unknown) => void;
}

export class Retention {
  private readonly housekeeping: Housekeeping;
  /** Where the pass under way has got to; "" before the oldest event. */
  private after = "";
  private putOff = 0;
  private first: { readonly before: number; readonly mono: number } | null = null;

  constructor(private readonly options: RetentionOptions) {
    this.housekeeping = new Housekeeping(options.platform);
  }

  start(): void {
    this.housekeeping.paced(limits.retentionPaceMs, () => this.turn());
  }

  stop(): void {
    this.housekeeping.stop();
  }

  /** Says how long it is until the next. */
  async turn(): Promise<number> {
    const { store, env, isBusy, report } = this.options;
    if (isBusy() && this.putOff < limits.retentionPutOffMax) {
      this.putOff++;
      return limits.retentionPaceMs;
    }
    this.putOff = 0;
    try {
      const before = this.before();
      // Who did what is asked for long after the runs themselves are gone.
      const auditBefore = before - Math.max(0, limits.auditKeptMsMin - this.options.keepMs);
      const answer = await store.prune({ env, before, after: this.after, max: limits.retentionRowsMax, auditBefore });
      this.after = answer.after ?? "";
      return answer.after === null ? limits.retentionPauseMs : limits.retentionPaceMs;
    } catch (error) {
      report("deleting history past its retention", error);
      return limits.retentionPauseMs;
    }
  }

  /** It goes on as time is lived here: a wall clock that is set a year ahead does not make a year of history old. */
  private before(): number {
    const { platform, time, keepMs } = this.options;
    const before = time.reached() - keepMs;
    const mono = platform.monoMs();
    this.first ??= { before, mono };
    return Math.min(before, this.first.before + Math.floor(mono - this.first.mono));
  }
}
