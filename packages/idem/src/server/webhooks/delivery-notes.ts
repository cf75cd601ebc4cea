// Deliveries, as far as this process remembers: counts, the newest ones, and why others were refused. Never a secret, a signature or a body.
// Those that were kept are in the store, as events; this is for people who set a source up and wonder why nothing comes.
import type { WebhookNote } from "../../toolkit/webhooks/receive.ts";

export type DeliveryKind = WebhookNote["kind"];

export interface DeliveryNote {
  readonly at: number;
  readonly kind: DeliveryKind;
  readonly id: string | null;
  readonly type: string | null;
  readonly why: string | null;
}

/** Deliveries by what became of them. */
export type DeliveryCounts = Partial<Record<DeliveryKind, number>>;

const notesMax = 50;
// Of sources that are gone nobody asks; a bound for those who make and remove them in a loop.
const sourcesMax = 1_000;
const hourMs = 60 * 60 * 1_000;
const hoursKept = 24;

interface SourceNotes {
  readonly counts: DeliveryCounts;
  readonly newest: DeliveryNote[];
  /** By the hour they came in, the last 24 of them. */
  readonly hours: Map<number, DeliveryCounts>;
  /** When the last one came that was not refused; null before. */
  lastAt: number | null;
}

const noNotes = (): SourceNotes => ({ counts: {}, newest: [], hours: new Map(), lastAt: null });

export class DeliveryNotes {
  private readonly sources = new Map<string, SourceNotes>();

  /** `since`: when this process began to remember. */
  constructor(readonly since: number) {}

  add(env: string, note: WebhookNote, at: number): void {
    const name = JSON.stringify([env, note.source]);
    const notes = this.sources.get(name) ?? noNotes();
    if (!this.sources.has(name) && this.sources.size < sourcesMax) this.sources.set(name, notes);
    count(notes.counts, note.kind);
    const hour = Math.floor(at / hourMs);
    const counts = notes.hours.get(hour) ?? {};
    count(counts, note.kind);
    notes.hours.set(hour, counts);
    for (const old of notes.hours.keys()) if (old <= hour - hoursKept) notes.hours.delete(old);
    if (note.kind !== "refused") notes.lastAt = at;
    notes.newest.unshift({ at, kind: note.kind, ...detailsOf(note) });
    notes.newest.length = Math.min(notes.newest.length, notesMax);
  }

  of(env: string, source: string): SourceNotes {
    return this.sources.get(JSON.stringify([env, source])) ?? noNotes();
  }

  /** The last 24 hours, as far as this process has lived through them. */
  lastDay(env: string, source: string, now: number): DeliveryCounts {
    const day: DeliveryCounts = {};
    for (const [hour, counts] of this.of(env, source).hours) {
      if (hour <= Math.floor(now / hourMs) - hoursKept) continue;
      for (const [kind, some] of Object.entries(counts)) count(day, kind as DeliveryKind, some);
    }
    return day;
  }
}

function count(counts: DeliveryCounts, kind: DeliveryKind, by = 1): void {
  counts[kind] = (counts[kind] ?? 0) + by;
}

function detailsOf(note: WebhookNote): Pick<DeliveryNote, "id" | "type" | "why"> {
  if (note.kind === "refused") return { id: null, type: null, why: note.why };
  if (note.kind === "unavailable") {
    return { id: null, type: null, why: note.error instanceof Error ? note.error.message : String(note.error) };
  }
  if (note.kind === "too-large" || note.kind === "handshake") return { id: null, type: null, why: null };
  return { id: note.id, type: note.type, why: note.why };
}
