// The store's health as this process sees it, in one place for probes and for the log. An outage is two lines, however many parts of the
// process fail in it: one when it begins, with the cause, and one when the store answers again; a reminder each minute in between.
//
//   answers ──a call fails, or has been retried for 2 s──▶ outage: one line, the store is probed each second ──answers──▶ one line
//
// The probe is a transaction that changes nothing, as every node makes one each second. Probes that are requested at once share one, so
// that looking costs a store in an outage nothing more; one without an answer within the bound is unhealthy. If very many wait for the
// answer already, the next ones get the last one, and hold nothing.
import { IdemError, isStoreOutage } from "../model/errors.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import { waitAtMost } from "../platform/wait-at-most.ts";
import type { Store } from "../store/store.ts";
import type { Telling } from "./telling.ts";

// Longer than a slow disk takes, shorter than a load balancer waits.
const answerMsMax = 2_000;
const lookersMax = 1_000;
// A lost session is replaced within milliseconds, and is no outage.
const retriedMsMin = 2_000;
const probeMs = 1_000;
const remindMs = 60_000;
// After a line about an outage the next one has to last this long to be worth a line within the minute.
const lastingMs = 5_000;
// Work in the background fails more often than this while there is some. Without it nothing waits for the end of the outage, and a program
// that has sent and is done must not be kept alive for it.
const abandonedMs = 2 * 60_000;
// The same defect again, of a part that tries again each second.
const repeatedMs = 10 * 60_000;
const defectsMax = 100;

export type Health =
  | { readonly isWell: true }
  | { readonly isWell: false; readonly why: string; readonly code: string };

export interface OutageOptions {
  readonly platform: Pick<Platform, "timer" | "monoMs" | "wallMs">;
  readonly telling: Pick<Telling, "tell">;
  readonly phase: "opening" | "open";
}

interface OutageState {
  readonly sinceMono: number;
  readonly since: number;
  reason: string;
  failedCalls: number;
  isLogged: boolean;
}

/** What the log says about the time in which a store does not answer. */
export class StoreOutage {
  private current: OutageState | null = null;
  private timer: Timer | null = null;
  private loggedMono = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: OutageOptions) {}

  get isOn(): boolean {
    return this.current !== null;
  }

  /** The store did not answer; for `forMs` it has not. */
  failed(reason: string, failedCalls: number, forMs = 0): void {
    const { platform } = this.options;
    if (this.current === null) {
      const sinceMono = platform.monoMs() - forMs;
      this.current = { sinceMono, since: platform.wallMs() - forMs, reason, failedCalls: 0, isLogged: false };
      // Calls that fail one by one while others succeed must not fill the log.
      const isAgain = platform.monoMs() - this.loggedMono < remindMs;
      if (isAgain) this.logAfter(lastingMs);
    }
    this.current.reason = reason;
    this.current.failedCalls += failedCalls;
    if (this.timer === null) this.log();
  }

  /** The store answers. */
  over(): void {
    const { current } = this;
    this.stop();
    if (current?.isLogged !== true) return;
    const { failedCalls } = current;
    const forMs = this.options.platform.monoMs() - current.sinceMono;
    this.options.telling.tell({ kind: "store.back", phase: this.options.phase, forMs, failedCalls });
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
    this.current = null;
  }

  private logAfter(ms: number): void {
    this.timer = this.options.platform.timer(ms, () => this.log(), { background: true });
  }

  private log(): void {
    const { current } = this;
    if (current === null) return;
    const { platform, telling, phase } = this.options;
    const mono = platform.monoMs();
    const { since, reason, failedCalls } = current;
    const forMs = current.isLogged ? mono - current.sinceMono : 0;
    current.isLogged = true;
    this.loggedMono = mono;
    telling.tell({ kind: "store.unreachable", phase, since, forMs, failedCalls, reason });
    this.logAfter(remindMs);
  }
}

export interface StoreHealthOptions {
  readonly platform: Pick<Platform, "timer" | "monoMs" | "wallMs">;
  readonly telling: Pick<Telling, "tell" | "logger">;
  readonly env: string;
  readonly store: () => Promise<Pick<Store, "tick">>;
}

export class StoreHealth {
  private lookers = 0;
  private last: Health | null = null;
  private asking: { readonly since: number; readonly answer: Promise<Health> } | null = null;
  private readonly outage: StoreOutage;
  private probing: Timer | null = null;
  private isStopped = false;
  /** When a failure was last reported. */
  private reportedMono = 0;
  /** When the last outage was over. */
  private answeredMono = Number.NEGATIVE_INFINITY;
  /** Errors that are no outage, by what failed and why: when each was logged, and how often it came since. */
  private readonly defects = new Map<string, { readonly mono: number; count: number }>();

  constructor(private readonly options: StoreHealthOptions) {
    this.outage = new StoreOutage({ ...options, phase: "open" });
  }

  // ------------------------------------------------------------------------------------------------ probes

  async check(): Promise<Health> {
    if (this.lookers >= lookersMax && this.last !== null) return this.last;
    this.lookers++;
    try {
      this.last = await this.look();
      return this.last;
    } finally {
      this.lookers--;
    }
  }

  private async look(): Promise<Health> {
    const { platform } = this.options;
    const { since, answer } = this.ask();
    const leftMs = Math.max(0, since + answerMsMax - platform.monoMs());
    if (await waitAtMost(platform, leftMs, answer)) return answer;
    return { isWell: false, why: `the store has not answered for ${answerMsMax} ms`, code: "STORE_UNAVAILABLE" };
  }

  private ask(): { readonly since: number; readonly answer: Promise<Health> } {
    this.asking ??= { since: this.options.platform.monoMs(), answer: this.probe() };
    return this.asking;
  }

  private async probe(): Promise<Health> {
    const { env } = this.options;
    let store: Pick<Store, "tick"> | null = null;
    try {
      store = await this.options.store();
      await store.tick({ env, registration: null, ticks: [], leaseTo: null });
      this.answered();
      return { isWell: true };
    } catch (error) {
      // A store that did not open is reported by the part that opens it.
      if (store !== null) this.note("a probe of the store", error, 0);
      // The message may name hosts and paths, and no credential is needed to probe: the code is enough, and the log has the rest.
      const code = error instanceof IdemError ? error.code : "SERVER_FAILED";
      return { isWell: false, why: "the store does not take operations", code };
    } finally {
      this.asking = null;
    }
  }

  // ------------------------------------------------------------------------------------------------ the log

  /** Part of this process failed and tries again by itself. An error that is no outage is logged with its stack, once. */
  report(what: string, error: unknown): void {
    this.note(what, error, 1);
  }

  /** The store itself retries a call, for so long by now. */
  retrying(why: string, forMs: number): void {
    if (this.isStopped || (forMs < retriedMsMin && !this.outage.isOn)) return;
    this.away(why, 0, forMs);
  }

  /** Whether there was an outage within this time: a call that took so long has waited for its end, and the store is not slow. */
  wasAway(withinMs: number): boolean {
    return this.outage.isOn || this.options.platform.monoMs() - this.answeredMono < withinMs;
  }

  /** Nothing is logged or probed any more, until it is started again. */
  stop(): void {
    this.isStopped = true;
    this.probing?.cancel();
    this.probing = null;
    this.outage.stop();
  }

  start(): void {
    this.isStopped = false;
  }

  private note(what: string, error: unknown, failedCalls: number): void {
    if (this.isStopped || isLoggedByStore(error)) return;
    if (isStoreOutage(error)) this.away(reasonOf(error), failedCalls);
    else this.logDefect(what, error);
  }

  private away(reason: string, failedCalls: number, forMs = 0): void {
    if (this.isStopped) return;
    if (!this.outage.isOn || failedCalls > 0) this.reportedMono = this.options.platform.monoMs();
    this.outage.failed(reason, failedCalls, forMs);
    this.probeLater();
  }

  private answered(): void {
    this.probing?.cancel();
    this.probing = null;
    if (this.outage.isOn) this.answeredMono = this.options.platform.monoMs();
    this.outage.over();
  }

  private probeLater(): void {
    if (this.probing !== null) return;
    const look = async () => {
      await this.ask().answer;
      if (this.probing !== timer) return;
      this.probing = null;
      if (this.options.platform.monoMs() - this.reportedMono >= abandonedMs) this.outage.stop();
      if (this.outage.isOn) this.probeLater();
    };
    const timer = this.options.platform.timer(probeMs, () => void look(), { background: true });
    this.probing = timer;
  }

  private logDefect(what: string, error: unknown): void {
    const { telling, platform } = this.options;
    const { logger } = telling;
    const name = `${what} ${messageOf(error)}`;
    const mono = platform.monoMs();
    const known = this.defects.get(name);
    if (known !== undefined && mono - known.mono < repeatedMs) {
      known.count++;
      return;
    }
    // The one that was logged longest ago is first.
    this.defects.delete(name);
    this.defects.set(name, { mono, count: 0 });
    if (this.defects.size > defectsMax) this.defects.delete(this.defects.keys().next().value!);
    if (known === undefined) logger.error(`idem: ${what} failed`, error);
    else logger.error(`idem: ${what} still fails times=${known.count + 1} cause=${JSON.stringify(messageOf(error))}`);
  }
}

/** The file's own thread has said it, and says when it is over (store/sqlite/patience.ts). */
const isLoggedByStore = (error: unknown): boolean =>
  error instanceof IdemError && (error.code === "STORE_LOCKED" || error.code === "STORE_FULL");

/** Without the advice, which is for callers. */
export const reasonOf = (error: unknown): string =>
  error instanceof IdemError && typeof error.facts.why === "string" ? error.facts.why : messageOf(error);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
