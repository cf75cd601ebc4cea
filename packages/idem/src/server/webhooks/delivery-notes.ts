// What became of deliveries, as far as this process remembers: counts, the newest ones, and why others were refused. Never a secret, a
// signature or a body. What was kept is in the store, as events; this is for whoever sets a source up and wonders why nothing comes.
import type { WebhookNote } from "../../toolkit/webhooks/receive.ts";

export interface DeliveryNote {
  readonly at: number;
  readonly kind: WebhookNote["kind"];
  readonly id: string | null;
  readonly type: string | null;
  readonly why: string | null;
}

const notesMax = 50;
// Of sources that are gone nobody asks; a bound for those who make and remove them in a loop.
const sourcesMax = 1_000;

interface SourceNotes {
  readonly counts: Partial<Record<WebhookNote["kind"], number>>;
  readonly newest: DeliveryNote[];
}

export class DeliveryNotes {
  private readonly sources = new Map<string, SourceNotes>();

  add(env: string, note: WebhookNote, at: number): void {
    const name = JSON.stringify([env, note.source]);
    const notes = this.sources.get(name) ?? { counts: {}, newest: [] };
    if (!this.sources.has(name) && this.sources.size < sourcesMax) this.sources.set(name, notes);
    notes.counts[note.kind] = (notes.counts[note.kind] ?? 0) + 1;
    notes.newest.unshift({ at, kind: note.kind, ...detailsOf(note) });
    notes.newest.length = Math.min(notes.newest.length, notesMax);
  }

  of(env: string, source: string): SourceNotes {
    return this.sources.get(JSON.stringify([env, source])) ?? { counts: {}, newest: [] };
  }
}

function detailsOf(note: WebhookNote): Pick<DeliveryNote, "id" | "type" | "why"> {
  if (note.kind === "refused") return { id: null, type: null, why: note.why };
  if (note.kind === "unavailable") {
    return { id: null, type: null, why: note.error instanceof Error ? note.error.message : String(note.error) };
  }
  if (note.kind === "too-large" || note.kind === "handshake") return { id: null, type: null, why: null };
  return { id: note.id, type: note.type, why: note.why };
}
