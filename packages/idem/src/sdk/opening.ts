// Opens what may not be ready yet, as a database that starts or a proxy without a leader, for callers that wait differently long: `start()`
// until it is stopped, a call as long as `storeTimeout` says. There is one attempt at a time, with growing pauses between them.
//
//   closed ──wait──▶ attempt ──opened──▶ open: all callers have it
//                      ├──not ready──▶ callers whose time is over are refused ──some are left──▶ pause ──▶ attempt
//                      │                 └──none is left──▶ closed
//                      └──a final error, or stopped──▶ all callers are refused, closed
import { reasonOf, StoreOutage } from "../engine/store-health.ts";
import type { Telling } from "../engine/telling.ts";
import { errors } from "../model/errors.ts";
import type { Platform, Timer } from "../platform/platform.ts";

const pauseMs = { first: 250, longest: 2_000 } as const;
// As many as may wait for a store that is open (store/postgres/hot-calls.ts).
const waitersMax = 10_000;

export interface OpeningOptions<T> {
  readonly platform: Pick<Platform, "timer" | "monoMs" | "wallMs" | "randomBytes">;
  readonly telling: Pick<Telling, "tell">;
  /** Gives up when `signal` is aborted. */
  readonly open: (signal: AbortSignal) => Promise<T>;
  /** Whether a later attempt may succeed. */
  readonly isNotReady: (error: unknown) => boolean;
  /** Called when it ended without having opened, before the callers hear of it. */
  readonly onClosed?: () => void;
}

interface Waiter<T> {
  readonly untilMono: number;
  readonly resolve: (opened: T) => void;
  readonly reject: (error: unknown) => void;
}

export class Opening<T> {
  private waiters: Waiter<T>[] = [];
  private running: Promise<T | null> | null = null;
  private opened: { readonly value: T } | null = null;
  private readonly stopping = new AbortController();
  private readonly outage: StoreOutage;

  constructor(private readonly options: OpeningOptions<T>) {
    this.outage = new StoreOutage({ ...options, phase: "opening" });
  }

  /** Resolves once it is open; refused once an attempt failed after `waitMs`, or in a way that does not pass. */
  wait(waitMs: number): Promise<T> {
    if (this.opened !== null) return Promise.resolve(this.opened.value);
    if (this.waiters.length >= waitersMax) return Promise.reject(errors.STORE_BUSY({ queued: this.waiters.length }));
    return new Promise((resolve, reject) => {
      this.waiters.push({ untilMono: this.options.platform.monoMs() + waitMs, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Refuses all who wait. Resolves with what was opened all the same, null if nothing was. */
  async stop(): Promise<T | null> {
    this.stopping.abort();
    return this.running;
  }

  /** What the attempts come to; null if nothing was opened. */
  get end(): Promise<T | null> {
    return this.running ?? Promise.resolve(null);
  }

  private async run(): Promise<T | null> {
    const { open, isNotReady } = this.options;
    for (let ms: number = pauseMs.first; ; ms = Math.min(ms * 2, pauseMs.longest)) {
      try {
        const opened = await open(this.stopping.signal);
        this.opened = { value: opened };
        this.outage.over();
        for (const { resolve } of this.waiters.splice(0)) resolve(opened);
        return opened;
      } catch (error) {
        if (this.isStopped) return this.close(stopped());
        if (!isNotReady(error)) return this.close(error);
        if (!this.hasWaiters(error)) return this.close(error);
        this.outage.failed(reasonOf(error), 1);
      }
      await this.pause(ms);
      if (this.isStopped) return this.close(stopped());
    }
  }

  private get isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Refuses those whose time is over. */
  private hasWaiters(error: unknown): boolean {
    const mono = this.options.platform.monoMs();
    const isLate = ({ untilMono }: Waiter<T>) => untilMono <= mono;
    if (this.waiters.every(isLate)) return false;
    for (const { reject } of this.waiters.filter(isLate)) reject(error);
    this.waiters = this.waiters.filter((waiter) => !isLate(waiter));
    return true;
  }

  private close(error: unknown): null {
    this.outage.stop();
    this.options.onClosed?.();
    for (const { reject } of this.waiters.splice(0)) reject(error);
    return null;
  }

  /** Jittered, so that the nodes of a cluster do not all come at the same instant. */
  private pause(ms: number): Promise<void> {
    const { platform } = this.options;
    const jitter = 0.75 + platform.randomBytes(1)[0]! / 512;
    const { signal } = this.stopping;
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer: Timer = platform.timer(ms * jitter, end);
      signal.addEventListener("abort", end);
    });
  }
}

const stopped = () => errors.STORE_UNAVAILABLE({ why: "it was stopped before the store was ready" });
