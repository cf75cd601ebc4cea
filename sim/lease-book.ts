// The holders of runs, followed from outside by the calls that took effect. Where the store may have taken a lease back (a worker that
// was silent for too long) it counts as gone: the book never says "held" of a run that is not.

export interface Lease {
  readonly run: string;
  readonly process: string;
  readonly worker: string;
  readonly from: number;
  /** The order of what happened: several calls may take effect in one instant. */
  readonly order: number;
  to: number | null;
  endOrder: number;
  /** Lost with its worker, and not given back by it. */
  isLost: boolean;
}

interface LeasedJob {
  readonly kind: string;
  readonly jobId: string;
  readonly memo?: { readonly run: { readonly id: string } };
}

type Answer = {
  readonly kind?: string;
  readonly leased?: boolean | LeasedJob | readonly LeasedJob[] | null;
  readonly jobs?: readonly LeasedJob[];
  readonly cancelled?: readonly { readonly runId: string }[];
  readonly ingested?: Answer | null;
  /** The flushes of buffers that were due when something was leased. */
  readonly flushed?: Answer;
};

export class LeaseBook {
  readonly leases: Lease[] = [];
  private readonly held = new Map<string, Lease>();
  /** Names that were given back or may be lost: what is leased to them may be taken back at any time. */
  private readonly spent = new Set<string>();
  private order = 0;

  constructor(private readonly worldNow: () => number) {}

  applied(process: string, name: string, input: readonly unknown[], answer: unknown): void {
    const given = (answer ?? {}) as Answer;
    const asked = input[0] as { runId?: string; worker?: string; leaseTo?: string | null };
    for (const ingested of [given, given.ingested ?? {}, given.flushed ?? {}]) {
      for (const { runId } of ingested.cancelled ?? []) this.end(runId);
    }
    if (name === "lease") this.grant(process, asked.worker!, given.jobs ?? []);
    else if (name === "advance" && given.kind === "advanced" && given.leased === false) this.end(asked.runId!);
    else if (name === "cancel" && given.kind === "cancelled") this.end(asked.runId!);
    else if (name === "handBack") this.spend(input[0] as string, false);
    else if (name === "ingest" || name === "tick" || name === "redecide" || name === "rerun") {
      const leased = given.leased;
      if (Array.isArray(leased)) this.grant(process, leaseTo(input), leased);
      else if (typeof leased === "object" && leased !== null)
        this.grant(process, asked.leaseTo!, [leased as LeasedJob]);
    }
  }

  /** The worker may have been declared lost, or gave its name up. */
  spend(worker: string, isLost: boolean): void {
    this.spent.add(worker);
    for (const lease of this.held.values()) if (lease.worker === worker) this.end(lease.run, isLost);
  }

  /** The store said that it counts this worker among the living. */
  enlist(worker: string): void {
    this.spent.delete(worker);
  }

  private grant(process: string, worker: string | null, jobs: readonly LeasedJob[]): void {
    for (const { kind, memo } of jobs) {
      if (kind !== "run" || worker === null) continue;
      const run = memo!.run.id;
      const known = this.held.get(run);
      // A repeated call gets the same answer again.
      if (known?.worker === worker) continue;
      if (known !== undefined) this.end(run);
      if (this.spent.has(worker)) continue;
      const lease = { run, process, worker, from: this.worldNow(), order: this.order++ };
      const open: Lease = { ...lease, to: null, endOrder: Number.POSITIVE_INFINITY, isLost: false };
      this.leases.push(open);
      this.held.set(run, open);
    }
  }

  private end(run: string, isLost = false): void {
    const lease = this.held.get(run);
    if (lease === undefined) return;
    lease.to = this.worldNow();
    lease.endOrder = this.order++;
    lease.isLost = isLost;
    this.held.delete(run);
  }
}

/** Every start of a call is leased to the same name. */
function leaseTo(input: readonly unknown[]): string | null {
  const asked = input[0] as {
    readonly pairs?: readonly { readonly leaseTo?: string | null }[];
    readonly ticks?: readonly { readonly pair: { readonly leaseTo?: string | null } }[];
    readonly pair?: { readonly leaseTo?: string | null };
  };
  const pairs = asked.pairs ?? asked.ticks?.map(({ pair }) => pair) ?? (asked.pair === undefined ? [] : [asked.pair]);
  return pairs.find((pair) => pair.leaseTo != null)?.leaseTo ?? null;
}
