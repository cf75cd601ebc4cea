// What a commit that decides events has to tell, gathered while it is made: a job born early may be gone by its end.
import type { CancelledRun } from "../flow.ts";
import type { Ingested } from "../store.ts";
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

  told(tables: Tables, at: Moment): Pick<Ingested, "now" | "leased" | "queued" | "cancelled" | "dueAt"> {
    const jobs = [...this.jobs].flatMap((id) => tables.jobs.get(id) ?? []);
    const due = [...this.buffers].flatMap((id) => tables.buffers.get(id)?.dueAt ?? []);
    return {
      now: at.now,
      leased: jobs.filter(({ leasedBy }) => leasedBy !== null).map((job) => showLeasedJob(tables, job)),
      queued: this.hasWoken || jobs.some(({ leasedBy, dueAt }) => leasedBy === null && dueAt === null),
      cancelled: this.cancelled,
      dueAt: due.length === 0 ? null : Math.min(...due),
    };
  }
}
