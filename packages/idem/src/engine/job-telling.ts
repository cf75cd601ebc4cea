// Work that is no run: an event for those who wait for it, the end of a run the store cancelled. The job is ours until it is done, so a
// failure is tried again: those who wait must hear of it once the store is well again.
import type { Platform } from "../platform/platform.ts";
import type { AnnounceJob } from "./announce-end.ts";
import type { DeliverJob } from "./deliver-event.ts";
import { limits } from "./limits.ts";

export type ToldJob = DeliverJob | AnnounceJob;

export interface JobTellingOptions {
  readonly platform: Pick<Platform, "timer">;
  readonly isStopped: () => boolean;
  readonly tellOne: (job: ToldJob) => Promise<void>;
  readonly onSettled: () => void;
  readonly report: (what: string, error: unknown) => void;
}

export class JobTelling {
  private underWay = 0;

  constructor(private readonly options: JobTellingOptions) {}

  get isIdle(): boolean {
    return this.underWay === 0;
  }

  async tell(job: ToldJob, delayMs: number = limits.brokenDelayMs): Promise<void> {
    const { platform, isStopped, tellOne, onSettled, report } = this.options;
    this.underWay++;
    try {
      await tellOne(job);
    } catch (error) {
      report(nameOf(job), error);
      const again = () => {
        if (!isStopped()) void this.tell(job, Math.min(delayMs * 2, limits.brokenDelayMsMax));
      };
      platform.timer(delayMs, again, { background: true });
    } finally {
      this.underWay--;
      onSettled();
    }
  }
}

const nameOf = (job: ToldJob): string =>
  job.kind === "announce" ? `run ${job.memo.run.id}: announcing its end` : `delivering event ${job.event.id}`;
