// How often a key was requested is part of its claim, and a duplicate writes nothing else there. So it does not wait for the claim: whoever
// counts writes it if no other transaction has it locked. Otherwise the node keeps the count and writes it a moment later, for all
// duplicates together. A count is at most so much behind; what a node that is killed has kept is lost, and never counted twice. Decisions
// are written with their events, and miss nothing.
import type { Platform } from "../../platform/platform.ts";
import { claimId, type DuplicateCount, writeCounts } from "./claim-key.ts";
import type { Connection } from "./connection.ts";

// Said in docs/http-api.md, docs/cli.md and by the page of a key.
const lateMs = 1_000;
// A node has as many only if as many keys were fought over within that time.
const keptMax = 10_000;

/** Counts that a node keeps until it may write them. */
export class KeptCounts {
  private kept = new Map<string, DuplicateCount>();
  private isPlanned = false;

  constructor(
    private readonly platform: Pick<Platform, "timer">,
    /** Writes them in one transaction, or fails; never asked again about what may have been committed. */
    private readonly write: (body: (connection: Connection) => Promise<void>) => Promise<void>,
  ) {}

  keep(counts: readonly DuplicateCount[]): void {
    for (const each of counts) {
      const name = `${each.generation} ${claimId(each)}`;
      const { count, lastAt } = this.kept.get(name) ?? { count: 0, lastAt: 0 };
      if (count === 0 && this.kept.size >= keptMax) continue;
      this.kept.set(name, { ...each, count: count + each.count, lastAt: Math.max(lastAt, each.lastAt) });
    }
    if (this.isPlanned || this.kept.size === 0) return;
    this.isPlanned = true;
    this.platform.timer(
      lateMs,
      () => {
        this.isPlanned = false;
        void this.flush();
      },
      { background: true },
    );
  }

  /** Resolves when they are written, or cannot be. */
  async flush(): Promise<void> {
    if (this.kept.size === 0) return;
    const counts = [...this.kept.values()];
    this.kept = new Map();
    await this.write((connection) => writeCounts(connection, counts)).catch(() => {});
  }
}
