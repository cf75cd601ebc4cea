// Completed responses this process saw lately. Only those: what is completed stays so until its window ends or a person says otherwise,
// so the worst a cache can do is tell, for a minute at most, what was recorded.
import { timingSafeEqual } from "node:crypto";
import type { Platform } from "../../platform/platform.ts";
import type { Fingerprint, StoredResponse } from "../keys/key-store.ts";
import type { ReplayFacts } from "./replay.ts";

export interface ReplayCacheOptions {
  readonly entriesMax: number;
  readonly forMs: number;
}

interface Entry extends ReplayFacts {
  readonly fingerprints: readonly Fingerprint[];
  readonly stored: StoredResponse;
  readonly untilMs: number;
}

/** A larger response is read from the store: it is rare, and a few would push out all others. */
const bodyBytesMax = 64 * 1_024;

export class ReplayCache {
  // A Map keeps the order of insertion: the first entry is the oldest.
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly platform: Platform,
    private readonly options: ReplayCacheOptions,
  ) {}

  /** Null also for another fingerprint: the store decides about that. */
  find(id: string, fingerprints: readonly Fingerprint[]): (ReplayFacts & { readonly stored: StoredResponse }) | null {
    const entry = this.entries.get(id);
    if (entry === undefined) return null;
    if (entry.untilMs <= this.platform.monoMs()) {
      this.entries.delete(id);
      return null;
    }
    return isSame(entry.fingerprints[0], fingerprints[0]) ? entry : null;
  }

  keep(id: string, fingerprints: readonly Fingerprint[], stored: StoredResponse, facts: ReplayFacts): void {
    if ((stored.body?.byteLength ?? 0) > bodyBytesMax) return;
    const forMs = Math.min(this.options.forMs, facts.endsAt - this.platform.wallMs());
    if (forMs <= 0) return;
    this.entries.delete(id);
    if (this.entries.size >= this.options.entriesMax) {
      const oldest = this.entries.keys().next();
      if (!oldest.done) this.entries.delete(oldest.value);
    }
    this.entries.set(id, { ...facts, fingerprints, stored, untilMs: this.platform.monoMs() + forMs });
  }

  forget(id: string): void {
    this.entries.delete(id);
  }
}

const isSame = (a: Fingerprint | undefined, b: Fingerprint | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.version === b.version &&
  a.value.length === b.value.length &&
  timingSafeEqual(Buffer.from(a.value), Buffer.from(b.value));
