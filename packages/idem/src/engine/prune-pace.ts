// The amount of history deleted at once, and the time until the next: by how long the last took, and by whether history gets old faster than it goes.
//
//   a batch that took longer than it may ──▶ fewer rows the next time            shorter ──▶ more
//   keeping up ──▶ a twentieth of the time       falling behind for ten seconds ──▶ half as much again, up to a half of it, until nothing is left
import { limits } from "./limits.ts";

export interface Batch {
  readonly tookMs: number;
  /** It could have been more: it was no smaller than it might be. */
  readonly isFull: boolean;
  /** How much older than it need be the newest is that was looked at; null where nothing old was. */
  readonly behindMs: number | null;
  readonly mono: number;
}

export class PrunePace {
  /** Of the next batch. */
  rows: number = limits.retentionRowsFirst;
  private share: number = limits.retentionShare;
  private seen: { readonly behindMs: number; readonly mono: number } | null = null;

  /** `batchMs`: how long one may take. Where commits wait for it, that is what they wait. */
  constructor(private readonly batchMs: number) {}

  /** The time until the next. */
  after({ tookMs, isFull, behindMs, mono }: Batch): number {
    const { retentionRowsMin: min, retentionRowsMax: max } = limits;
    if (tookMs > this.batchMs) this.rows *= Math.max(0.5, this.batchMs / tookMs);
    else if (isFull) this.rows *= Math.min(1.5, this.batchMs / Math.max(tookMs, 1));
    this.rows = Math.round(Math.min(max, Math.max(min, this.rows)));
    if (behindMs !== null) this.hurry(behindMs, mono);
    return Math.max(limits.retentionPaceMs, Math.ceil(tookMs / this.share - tookMs));
  }

  /** Nothing old is left. */
  rest(): void {
    this.share = Math.max(limits.retentionShare, this.share / 1.5);
    this.seen = null;
  }

  private hurry(behindMs: number, mono: number): void {
    this.seen ??= { behindMs, mono };
    if (mono - this.seen.mono < limits.retentionHurryMs) return;
    if (behindMs >= this.seen.behindMs) this.share = Math.min(limits.retentionShareMax, this.share * 1.5);
    this.seen = { behindMs, mono };
  }
}
