// A machine whose time moves only when told and whose chance comes from a seed: for tests and simulation.
import { ManualClock } from "./manual-clock.ts";
import type { HttpRequest, HttpResponse, Platform, Thread, Timer } from "./platform.ts";

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  readonly background: boolean;
}

export interface ManualPlatformOptions {
  readonly seed?: number;
  readonly fetch?: (request: HttpRequest) => Promise<HttpResponse>;
}

export class ManualPlatform implements Platform {
  readonly clock = new ManualClock();
  private alarms: Alarm[] = [];
  private order = 0;
  private state: number;

  constructor(private readonly options: ManualPlatformOptions = {}) {
    this.state = (options.seed ?? 1) >>> 0;
  }

  wallMs(): number {
    return this.clock.wallMs();
  }

  monoMs(): number {
    return this.clock.monoMs();
  }

  // mulberry32: small, fast, and good enough to spread ids.
  private nextUint32(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  randomBytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let i = 0; i < count; i++) bytes[i] = this.nextUint32() & 0xff;
    return bytes;
  }

  timer(ms: number, run: () => void, options?: { background: boolean }): Timer {
    const alarm: Alarm = {
      at: this.monoMs() + Math.max(0, ms),
      order: this.order++,
      run,
      background: options?.background ?? false,
    };
    this.alarms.push(alarm);
    return {
      cancel: () => {
        this.alarms = this.alarms.filter((other) => other !== alarm);
      },
    };
  }

  soon(run: () => void): void {
    setImmediate(run);
  }

  fetch(request: HttpRequest): Promise<HttpResponse> {
    if (this.options.fetch !== undefined) return this.options.fetch(request);
    return Promise.reject(new Error(`no test double answers ${request.method} ${request.url}`));
  }

  startThread(file: string): Thread {
    throw new Error(`a manual platform has no threads (${file})`);
  }

  point(): void {}

  /** Milliseconds until the next alarm that somebody waits for; null when there is none. */
  untilNext(): number | null {
    const waiting = this.alarms.filter((alarm) => !alarm.background);
    if (waiting.length === 0) return null;
    return Math.max(0, Math.min(...waiting.map((alarm) => alarm.at)) - this.monoMs());
  }

  /** Moves time on, stopping at each alarm on the way; `settle` waits for what the alarm set off. */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const end = this.monoMs() + ms;
    await settle();
    for (;;) {
      const next = this.untilNext();
      const at = next === null ? end : Math.min(this.monoMs() + next, end);
      if (at - this.monoMs() > 1) await this.catchUp(at - 1, settle);
      this.clock.advance(at - this.monoMs());
      this.ring();
      await settle();
      const left = this.untilNext();
      if (this.monoMs() >= end && (left === null || left > 0)) return;
    }
  }

  /**
   * Just before anything is due, housekeeping hears of the time that passed. A heartbeat that came together with the alarm
   * would take the jump for a process that was frozen, and give up what the alarm had just begun.
   */
  private async catchUp(to: number, settle: () => Promise<void>): Promise<void> {
    this.clock.advance(to - this.monoMs());
    this.ring();
    await new Promise<void>((resolve) => this.soon(resolve));
    await settle();
  }

  /** Housekeeping that came due on the way rings once, here; what it would have done in between it does now. */
  private ring(): void {
    const due = this.alarms.filter((alarm) => alarm.at <= this.monoMs());
    this.alarms = this.alarms.filter((alarm) => alarm.at > this.monoMs());
    for (const alarm of due.sort((a, b) => a.at - b.at || a.order - b.order)) alarm.run();
  }
}
