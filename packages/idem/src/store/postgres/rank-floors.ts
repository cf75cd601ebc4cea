// Where a node looks for ready work. Rows that were leased lie dead in the index until no transaction of the server can still see
// them, which may be minutes; a look that begins at the bottom walks over all of them: 38,100 → 8,200 leases/s in 16 s with one
// open transaction, against 46,600 → 36,200 with a floor (store.md §4.3). Every second the whole queue is looked at, so a row with a high priority
// or one committed late waits that much longer at most.
const slackMs = 2_000;
const wholeEveryMs = 1_000;

interface Floor {
  readonly rank: number;
  readonly wholeAt: number;
}

const bottom = -Number.MAX_SAFE_INTEGER;

export class RankFloors {
  private readonly floors = new Map<string, Floor>();
  private lookedWhole = false;

  constructor(private readonly monoMs: () => number) {}

  from(env: string): number {
    const floor = this.floors.get(env);
    this.lookedWhole = floor === undefined || this.monoMs() >= floor.wholeAt;
    return this.lookedWhole ? bottom : floor!.rank;
  }

  /** The last rank the look found; null when it found nothing. */
  leased(env: string, rank: number | null): void {
    const before = this.floors.get(env);
    const wholeAt = this.lookedWhole || before === undefined ? this.monoMs() + wholeEveryMs : before.wholeAt;
    this.floors.set(env, { rank: rank === null ? (before?.rank ?? bottom) : rank - slackMs, wholeAt });
  }

  /** Something of this rank was queued here: the next look must not pass it over. */
  queued(env: string, rank: number): void {
    const floor = this.floors.get(env);
    if (floor !== undefined && rank < floor.rank) this.floors.delete(env);
  }
}
