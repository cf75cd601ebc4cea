// Waits for runs to end. Ends in this process are announced with their result; ends elsewhere are found by looking.
import { errors } from "../model/errors.ts";
import { type EndState, isEnded } from "../model/run.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import { pollMsOf } from "./neighbours.ts";

export interface RunEnd {
  readonly state: EndState;
  /** JSON text of the value or the error. */
  readonly result: string | null;
}

export interface WhoExecutes {
  /** Whether this process executes the run right now: its end will be announced. */
  isAtWork(runId: string): boolean;
  /** Whether this process executes anything. */
  isStarted(): boolean;
  now(): number;
  warn(line: string): void;
}

export interface WaitOptions {
  readonly signal?: AbortSignal | null | undefined;
  readonly timeoutMs?: number | null | undefined;
  /** When it is first looked again for the end of a run that another process executes; each look doubles it, up to the usual. */
  readonly lookAfterMs?: number | undefined;
}

type Hear = (end: RunEnd | null) => void;

export class RunEnds {
  private readonly waiting = new Map<string, Hear[]>();

  constructor(
    private readonly store: Store,
    private readonly env: string,
    private readonly platform: Pick<Platform, "timer">,
    private readonly here: WhoExecutes,
  ) {}

  announce(runId: string, end: RunEnd): void {
    this.tell(runId, end);
  }

  /** It is no longer executed here, and has not ended: those who wait have to look. */
  left(runId: string): void {
    this.tell(runId, null);
  }

  private tell(runId: string, end: RunEnd | null): void {
    const hearing = this.waiting.get(runId);
    if (hearing === undefined) return;
    for (const hear of [...hearing]) hear(end);
  }

  private add(runId: string, hear: Hear): void {
    const hearing = this.waiting.get(runId);
    if (hearing === undefined) this.waiting.set(runId, [hear]);
    else hearing.push(hear);
  }

  private forget(runId: string, hear: Hear): void {
    const hearing = this.waiting.get(runId)?.filter((each) => each !== hear) ?? [];
    if (hearing.length === 0) this.waiting.delete(runId);
    else this.waiting.set(runId, hearing);
  }

  /** Throws RUN_WAIT_TIMED_OUT when the time is over, and RUN_UNATTENDED where no process could ever end the run. */
  wait(runId: string, { signal = null, timeoutMs = null, lookAfterMs }: WaitOptions = {}): Promise<RunEnd> {
    if (timeoutMs === null && signal === null && this.here.isAtWork(runId)) return this.waitHere(runId, lookAfterMs);
    if (timeoutMs === null) return this.waitUntil(runId, signal, lookAfterMs);
    return this.waitFor(runId, timeoutMs, signal, lookAfterMs);
  }

  /** A run that is being executed here needs no look: its end cannot be missed, and it does not leave without a word. */
  private waitHere(runId: string, lookAfterMs: number | undefined): Promise<RunEnd> {
    return new Promise((resolve, reject) => {
      const hear = (end: RunEnd | null): void => {
        this.forget(runId, hear);
        if (end !== null) resolve(end);
        else this.waitUntil(runId, null, lookAfterMs).then(resolve, reject);
      };
      this.add(runId, hear);
    });
  }

  private async waitFor(
    runId: string,
    timeoutMs: number,
    signal: AbortSignal | null,
    lookAfterMs: number | undefined,
  ): Promise<RunEnd> {
    const over = new AbortController();
    const reason = errors.RUN_WAIT_TIMED_OUT({ runId, afterMs: timeoutMs });
    const timer = this.platform.timer(timeoutMs, () => over.abort(reason));
    try {
      const either = signal === null ? over.signal : AbortSignal.any([signal, over.signal]);
      return await this.waitUntil(runId, either, lookAfterMs);
    } finally {
      timer.cancel();
    }
  }

  private async waitUntil(runId: string, signal: AbortSignal | null, lookAfterMs?: number): Promise<RunEnd> {
    const pollMs = pollMsOf(this.store.shared);
    let afterMs = this.store.shared === null ? pollMs : Math.min(lookAfterMs ?? pollMs, pollMs);
    let isWarned = false;
    for (let isFirst = true; ; isFirst = false, afterMs = Math.min(afterMs * 2, pollMs)) {
      const heard = this.listen(runId, afterMs, signal);
      try {
        signal?.throwIfAborted();
        // A run that is being executed here needs no look: its end cannot be missed.
        if (!isFirst || !this.here.isAtWork(runId)) {
          const run = await this.store.reads.run(this.env, runId);
          if (run === null) throw errors.RUN_UNKNOWN({ runId });
          if (isEnded(run.state)) {
            await this.store.shared?.stand();
            return { state: run.state, result: run.result };
          }
          // Not at the first look: the process that waits may be about to start.
          if (!isFirst && !isWarned && afterMs === pollMs && (await this.isUnattended())) {
            const alone = errors.RUN_UNATTENDED({ runId });
            // Another process may yet take it up; where only this one has the store, none will.
            if (this.store.shared === null) throw alone;
            this.here.warn(`idem: ${alone.message}`);
            isWarned = true;
          }
        }
        const end = await heard.end;
        if (end !== null) return end;
      } finally {
        heard.stop();
      }
    }
  }

  /** Whether neither this process nor any other over the store executes runs. */
  private async isUnattended(): Promise<boolean> {
    if (this.here.isStarted()) return false;
    const now = this.here.now();
    const workers = await this.store.reads.workers();
    return !workers.some(({ isDead, until, role }) => !isDead && until > now && role !== "api");
  }

  /** The next announcement, or null when it is time to look, or the caller gave up. */
  private listen(
    runId: string,
    afterMs: number,
    signal: AbortSignal | null,
  ): { end: Promise<RunEnd | null>; stop: () => void } {
    let hear: Hear = () => {};
    const end = new Promise<RunEnd | null>((resolve) => {
      hear = resolve;
    });
    this.add(runId, hear);
    const look = () => hear(null);
    const poll = this.platform.timer(afterMs, look, {
      // Without a worker nothing else may keep the process until it can say so.
      background: this.here.isStarted(),
    });
    signal?.addEventListener("abort", look, { once: true });
    const stop = () => {
      poll.cancel();
      signal?.removeEventListener("abort", look);
      this.forget(runId, hear);
    };
    return { end, stop };
  }
}
