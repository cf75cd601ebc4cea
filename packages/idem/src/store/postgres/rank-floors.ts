// Where a node looks for ready work. Rows that were leased lie dead in the index until no transaction of the server can still see
// them, which may be minutes; a look that begins at the bottom walks over all of them: 38,100 → 8,200 leases/s in 16 s with one
// open transaction, against 46,600 → 36,200 with a floor (docs/reference/stores.md#old-transactions). Every second the whole queue is looked at, so a row with a
// high priority or one committed late waits that much longer at most. Who looks for other functions has a floor of his own: what one
// look passed over because it was not asked for, another one must find.
const slackMs = 2_000;
const wholeEveryMs = 1_000;

interface Floor {
  readonly rank: number;
  readonly wholeAt: number;
}

export interface Look {
  /** The rank to begin at. */
  readonly from: number;
  /** `last`: the last rank that was found, null for nothing; `isAll`: nothing is left behind it. */
  found(last: number | null, isAll: boolean): void;
}

const bottom = -Number.MAX_SAFE_INTEGER;
// A process asks for the functions it has; the lists it once asked for are not kept for ever.
const listsMax = 100;

export class RankFloors {
  /** By environment, then by the functions that were asked for. */
  private readonly floors = new Map<string, Map<string, Floor>>();

  constructor(private readonly monoMs: () => number) {}

  look(env: string, functions: readonly string[]): Look {
    const floors = this.floors.get(env) ?? new Map<string, Floor>();
    this.floors.set(env, floors);
    const name = JSON.stringify(functions);
    const before = floors.get(name);
    const isWhole = before === undefined || this.monoMs() >= before.wholeAt;
    return {
      from: isWhole ? bottom : before.rank,
      found: (last, isAll) => {
        const wholeAt = isWhole ? this.monoMs() + wholeEveryMs : before.wholeAt;
        const least = isAll ? (before?.rank ?? bottom) : bottom;
        if (floors.size >= listsMax) floors.clear();
        floors.set(name, { rank: last === null ? least : Math.max(least, last - slackMs), wholeAt });
      },
    };
  }

  /** Something of this rank was queued here: the next look must not pass it over. */
  queued(env: string, rank: number): void {
    const floors = this.floors.get(env);
    for (const [name, floor] of floors ?? []) if (rank < floor.rank) floors!.delete(name);
  }
}
