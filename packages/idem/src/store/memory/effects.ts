// The answer of a commit that decides events, gathered while it is made: a job born early may be gone by its end.
import type { DecisionKind } from "../../model/decision.ts";
import type { CancelledRun, DecidedCounts } from "../flow.ts";
import type { Ingested } from "../ingest.ts";
import { showLeasedJob } from "./show.ts";
import type { Moment, Tables } from "./tables.ts";

export class Effects {
  /** Jobs that were created, or found as they were born. */
  readonly jobs = new Set<string>();
  readonly cancelled: CancelledRun[] = [];
  /** Buffers that were opened or whose time moved. */
  readonly buffers = new Set<string>();
  /** A run somebody waited with became due. */
  hasWoken = false;
  /** Decisions of events that were in buffers. */
  readonly flushed: { readonly eventId: string; readonly kind: DecisionKind }[] = [];

  /** Of other events than these; null for none. */
  decidedBeside(eventIds: readonly string[]): DecidedCounts | null {
    const counts: Partial<Record<DecisionKind, number>> = {};
    for (const { eventId, kind } of this.flushed) {
      if (!eventIds.includes(eventId)) counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return Object.keys(counts).length === 0 ? null : counts;
  }

  told(tables: Tables, at: Moment): Pick<Ingested, "now" | "leased" | "queued" | "cancelled" | "dueAt"> {
    const jobs = [...this.jobs].flatMap((id) => tables.jobs.get(id) ?? []);
    const due = [
      ...[...this.buffers].flatMap((id) => tables.buffers.get(id)?.dueAt ?? []),
      ...jobs.flatMap(({ leasedBy, dueAt }) => (leasedBy === null ? (dueAt ?? []) : [])),
    ];
    return {
      now: at.now,
      leased: jobs.filter(({ leasedBy }) => leasedBy !== null).map((job) => showLeasedJob(tables, job)),
      queued: this.hasWoken || jobs.some(({ leasedBy, dueAt }) => leasedBy === null && dueAt === null),
      cancelled: this.cancelled,
      dueAt: due.length === 0 ? null : Math.min(...due),
    };
  }
}
