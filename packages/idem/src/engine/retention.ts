// History older than its retention is deleted in the background: one bounded batch at a time, of one node at a time, at a pace that is not felt
// (prune-pace.ts). Whatever may still be asked for (an open run, an open window, an event that waits for a person) the store keeps, however old.
//
//   start ──▶ pass: batch, pause, batch, … ──nothing old is left──▶ rest ──▶ pass, from where nothing was left before
//               └──another process's turn, or the store fails──▶ rest
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { type PruneAnswer, rowsOf } from "../store/prune.ts";
import type { Store } from "../store/store.ts";
import { Housekeeping } from "./housekeeping.ts";
import { limits } from "./limits.ts";
import { PrunePace } from "./prune-pace.ts";
import type { StoreTime } from "./store-time.ts";

/** The retention of history, as written in an option, in milliseconds. */
export function readRetention(value: string | number, option = "retention"): number {
  const ms = parseDuration(value, option, limits.retentionMsMax);
  if (ms >= limits.retentionMsMin) return ms;
  throw errors.OPTION_INVALID({
    option,
    why: "it must be 1h or longer: what happened within the hour is still being looked at",
  });
}

export interface RetentionOptions {
  readonly store: Pick<Store, "prune" | "shared">;
  readonly platform: Pick<Platform, "timer" | "monoMs">;
  readonly time: Pick<StoreTime, "reached">;
  readonly env: string;
  readonly keepMs: number;
  /** Of several processes that share the store, one deletes at a time; null for one that is alone, or does not stay. */
  readonly name: string | null;
  readonly report: (what: string, error: unknown) => void;
}

interface Pass {
  /** The event id after which it continues. */
  after: string;
  /** Up to this id no event is left. */
  clearTo: string;
  /** Something is left behind `clearTo`. */
  isBroken: boolean;
  rows: number;
}

export class Retention {
  private readonly housekeeping: Housekeeping;
  private readonly pace: PrunePace;
  private pass: Pass | null = null;
  /** The beginning of the next pass, and until when it is believed. */
  private floor = { id: "", untilMono: Number.NEGATIVE_INFINITY };
  private first: { readonly before: number; readonly mono: number } | null = null;

  constructor(private readonly options: RetentionOptions) {
    this.housekeeping = new Housekeeping(options.platform);
    const isAlone = options.store.shared === null;
    this.pace = new PrunePace(isAlone ? limits.retentionBatchMs : limits.retentionSharedBatchMs);
  }

  start(): void {
    this.housekeeping.paced(limits.retentionBreathMs, () => this.turn());
  }

  stop(): void {
    this.housekeeping.stop();
  }

  /** Says how long it is until the next. */
  async turn(): Promise<number> {
    try {
      return await this.batch();
    } catch (error) {
      this.options.report("deleting history past its retention", error);
      return limits.retentionPauseMs;
    }
  }

  /** Without a pause: for a process that does not stay. */
  async deleteAll(isOver: () => boolean): Promise<void> {
    do {
      if ((await this.turn()) >= limits.retentionPauseMs) return;
    } while (this.pass !== null && !isOver());
  }

  private async batch(): Promise<number> {
    const { store, env, platform, name } = this.options;
    const { rows: max } = this.pace;
    this.pass ??= this.begin();
    const { pass } = this;
    const before = this.before();
    // People ask the audit who did what long after the runs themselves are gone.
    const auditBefore = before - Math.max(0, limits.auditKeptMsMin - this.options.keepMs);
    const turn = name === null ? {} : { turn: { by: name, ms: limits.retentionTurnMs } };
    const beganMono = platform.monoMs();
    const answer = await store.prune({ env, before, after: pass.after, max, auditBefore, ...turn });
    const mono = platform.monoMs();
    if (answer.othersUntil !== null) {
      // What they leave behind is not known here.
      this.floor = { id: "", untilMono: mono };
      this.pass = null;
      return limits.retentionPauseMs;
    }
    note(pass, answer);
    const rows = rowsOf(answer.deleted);
    const pauseMs = this.pace.after({
      tookMs: answer.tookMs ?? mono - beganMono,
      isFull: answer.after !== null,
      behindMs: answer.reachedAt === null ? null : before - answer.reachedAt,
      mono,
    });
    pass.rows += rows;
    if (answer.after !== null) return pauseMs;
    this.floor.id = pass.clearTo;
    this.pass = null;
    this.pace.rest();
    return Math.max(
      pauseMs,
      pass.rows >= limits.retentionRowsFirst ? limits.retentionBreathMs : limits.retentionPauseMs,
    );
  }

  /** From the oldest at first and once a day, else from where nothing was left before. */
  private begin(): Pass {
    const mono = this.options.platform.monoMs();
    if (mono >= this.floor.untilMono) this.floor = { id: "", untilMono: mono + limits.retentionFullMs };
    const { id } = this.floor;
    return { after: id, clearTo: id, isBroken: false, rows: 0 };
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

function note(pass: Pass, { after, clearTo }: PruneAnswer): void {
  if (!pass.isBroken) pass.clearTo = clearTo;
  pass.isBroken ||= after !== null && clearTo !== after;
  pass.after = after ?? pass.after;
}
