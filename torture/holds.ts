// Work in progress, read from the ledger: how full a limit's lanes ever were, and how long the runs of a killed or
// frozen process waited until another one went on with them.

/** One life of one process. */
export interface Teller {
  readonly speaker: string;
  readonly life: number;
}

export interface Takeover {
  readonly run: string;
  readonly ms: number;
  /** Nothing else was done to anybody meanwhile. */
  readonly isCalm: boolean;
}

interface Hold extends Teller {
  readonly lane: string | null;
}

interface Lost extends Teller {
  readonly at: number;
  readonly isCalm: boolean;
}

export class Holds {
  /** The most that were in each lane at once. */
  readonly most = new Map<string, number>();
  mostInAll = 0;
  readonly takeovers: Takeover[] = [];
  private readonly held = new Map<string, Hold>();
  private readonly lost = new Map<string, Lost>();

  hold(run: string, lane: string | null, by: Teller): void {
    this.held.set(run, { ...by, lane });
    if (lane === null) return;
    const lanes = [...this.held.values()].filter((hold) => hold.lane !== null);
    this.mostInAll = Math.max(this.mostInAll, lanes.length);
    const inLane = lanes.filter((hold) => hold.lane === lane).length;
    this.most.set(lane, Math.max(this.most.get(lane) ?? 0, inLane));
  }

  /** A process that lost the run to another one has nothing to leave any more. */
  left(run: string, by: Teller): void {
    if (isSame(this.held.get(run), by)) this.held.delete(run);
  }

  /** A killed or frozen process does nothing; what it was in the middle of is for others to go on with. */
  stopped(speaker: string, at: number, isCalm: boolean): void {
    for (const [run, hold] of this.held) {
      if (hold.speaker !== speaker) continue;
      this.held.delete(run);
      // One with a limit may have to stand in line again, which says nothing about how soon it was missed.
      if (hold.lane === null) this.lost.set(run, { speaker, life: hold.life, at, isCalm });
    }
  }

  /** Somebody goes on with the run. */
  seen(run: string, at: number, by: Teller): void {
    const lost = this.lost.get(run);
    if (lost === undefined) return;
    this.lost.delete(run);
    // A freeze shorter than the lease: nobody took over, and nobody had to.
    if (isSame(lost, by)) return;
    this.takeovers.push({ run, ms: at - lost.at, isCalm: lost.isCalm });
  }
}

const isSame = (one: Teller | undefined, other: Teller): boolean =>
  one !== undefined && one.speaker === other.speaker && one.life === other.life;
