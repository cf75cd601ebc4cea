// The database's clock, as this node may use it: never backwards, and not believing a sudden step of the server's wall clock, by the same
// rules as for a file's owner (store/clock.ts). All nodes read the one wall; the monotonic clock that tells a step from time that was
// lived is each node's own. Steps and a floor are kept in the database, so that what one node saw every node knows.
import { type ClockStep, StoreClock } from "../clock.ts";
import { isDurableSql } from "./check-server.ts";
import type { Connection } from "./connection.ts";

export interface WallReading {
  /** The server's clock, in microseconds. */
  readonly micros: number;
  readonly floor: string | null;
  readonly steps: string | null;
}

const lockStepsSql = `
  insert into meta (name, value) values ('clock-steps', '[]') on conflict (name) do update set value = meta.value
  returning value`;
const writeStepsSql = "update meta set value = ? where name = 'clock-steps'";
const writeFloorSql = `
  insert into meta (name, value) values ('clock', ?)
  on conflict (name) do update set value = greatest(cast(meta.value as bigint), cast(excluded.value as bigint))::text`;

/**
 * The instant of a statement that is a transaction by itself: the server's clock, never before what this node has seen. No row when the
 * wall is further ahead than the time this node has lived: such a step is looked at first. None either where the commit would not be safe.
 */
export const readNowSql = `
  select greatest(cast(:floor as bigint), wall) as now
    from (select coalesce(cast(:wall as bigint), cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)) as wall) as clock
   where wall <= cast(:ceiling as bigint) and ${isDurableSql}`;

export type ClockBounds = {
  readonly wall: number | null;
  readonly floor: number;
  readonly ceiling: number;
  /** When they were made, by this node's steady clock: the wall is read after that. */
  readonly askedMono: number;
};

// As store/clock.ts believes it.
const believedStepMs = 5_000;
const stampsPerMs = 1_000;

export class DatabaseClock {
  /** This node's last reading; null before the first. */
  private last: { readonly now: number; readonly mono: number } | null = null;

  private wall = 0;
  private readonly clock: StoreClock;
  private knownSteps = "[]";

  constructor(private readonly source: { monoMs(): number }) {
    this.clock = new StoreClock({ wallMs: () => this.wall, monoMs: () => source.monoMs() });
  }

  /**
   * The instant of a transaction that began with this reading; `isStepped` when steps are to be told to the others first; `isAhead` when
   * the server's clock was set back: then each node's has got as far as it had, and one may be ahead of another. The wall was read at
   * some time since `askedMono`, by this node's steady clock.
   */
  read({ micros, floor, steps }: WallReading, askedMono: number) {
    this.wall = Math.floor(micros / 1_000);
    this.learn(floor, steps);
    const at = this.clock.read(askedMono);
    // A wait that another node has committed within this very millisecond has an earlier stamp than an event that comes now.
    if (at.now === this.wall) this.clock.sawStamp(micros - 1);
    if (this.last === null || at.now > this.last.now) this.last = { now: at.now, mono: askedMono };
    const isStepped = JSON.stringify(this.clock.steps) !== this.knownSteps;
    return { at, isStepped, isAhead: at.now > this.wall };
  }

  /** Null while this node has not read the clock yet, or lately not often enough to tell a step from a pause. */
  bounds(wall: number | null): ClockBounds | null {
    const { last } = this;
    if (last === null) return null;
    const askedMono = this.source.monoMs();
    const livedMs = askedMono - last.mono;
    return { wall, floor: last.now, ceiling: Math.floor(last.now + livedMs + believedStepMs), askedMono };
  }

  /** A statement by itself was at this instant. */
  saw(now: number, { askedMono }: ClockBounds): void {
    // The wall has not come as far: nothing was read that was not known, and where the clock has got to since is not to be forgotten.
    if (this.last !== null && now <= this.last.now) return;
    this.read({ micros: now * 1_000, floor: null, steps: null }, askedMono);
  }

  /** What is recorded from now on is later than what has this stamp. */
  sawStamp(stamp: number): void {
    this.clock.sawStamp(stamp);
  }

  stamp(): number {
    return this.clock.stamp();
  }

  private learn(floor: string | null, steps: string | null): void {
    if (floor !== null) this.clock.raise(Number(floor));
    if (steps === null || steps === this.knownSteps) return;
    this.knownSteps = steps;
    this.clock.adopt(JSON.parse(steps) as ClockStep[]);
  }

  /** In a transaction of its own. Another node may have seen the same step, and written it first. */
  async tellSteps(connection: Connection): Promise<void> {
    const stored = (await connection.one<{ value: string }>(lockStepsSql))!.value;
    const own = this.clock.steps;
    if (stored === this.knownSteps) {
      const written = JSON.stringify(own);
      connection.write(writeStepsSql, written);
      this.knownSteps = written;
      return;
    }
    // What the other one wrote is this step, unless it is older than what was known here.
    this.clock.steps = JSON.parse(stored) as ClockStep[];
    this.knownSteps = stored;
  }

  /** From the commit on, no node gives out a stamp that is earlier than those given out here. */
  writeStamps(connection: Connection): void {
    this.writeFloor(connection, Math.floor(this.clock.stamp() / stampsPerMs) + 1);
  }

  /** Kept now and then, for nodes that start after the server's clock was set back. */
  writeFloor(connection: Connection, now: number): void {
    connection.write(writeFloorSql, String(now));
  }
}
