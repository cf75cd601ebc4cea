// The runs in line, and the use of each limit. Both follow from the jobs (a slot's use is the number of leased jobs whose lane names it,
// and what they hold of it beside), so nothing is written for them; this is the owner's picture of it, put together from the jobs when it
// is first needed and after a rollback. Without it every lease would look at every lane that cannot run: 1,000 full lanes took 6 ms.
//
// A lane is open (its turn may come), blocked on a slot that is full, or put off by its throttle. When a slot is given back, the first
// blocked lane of each function that the freed room is enough for comes back: of each, because a function whose workers are gone
// must not keep a shared slot from the others. A lane may be open with nothing to run; never the other way round.

import type { Beside } from "../../flow/concurrency/beside.ts";
import { capOf, type LaneCaps, type LaneName, laneOnceBegun, readLane, sameCaps } from "../../flow/lane.ts";
import { DueHeap } from "../../model/due-heap.ts";
import type { Connection } from "./connection.ts";

const heldSql = `
  select lane, count(*) as count, sum(beside_1) as beside_1, sum(beside_2) as beside_2
    from jobs indexed by jobs_held where leased_by is not null and lane is not null group by lane`;
// One probe per lane, however many jobs stand in it.
const firstLaneSql = `
  select env, lane from jobs indexed by jobs_lanes
   where env >= ? and leased_by is null and due_at is null and lane is not null order by env, lane limit 1`;
const nextLaneSql = `
  select env, lane from jobs indexed by jobs_lanes
   where (env, lane) > (?, ?) and leased_by is null and due_at is null and lane is not null order by env, lane limit 1`;

const someoneInLaneSql = `
  select 1 from jobs indexed by jobs_lanes where env = ? and lane = ? and leased_by is null and due_at is null limit 1`;

export interface BookedLane {
  readonly env: string;
  readonly text: string;
  readonly name: LaneName;
}

/** The slots that the jobs of a lane hold together. */
export interface HeldRow {
  readonly lane: string;
  readonly count: number;
  readonly beside_1: number;
  readonly beside_2: number;
}

interface Picture {
  readonly used: Map<string, number>;
  /** By environment and function, in the order of their turns. */
  readonly open: Map<string, Map<string, BookedLane>>;
  /** By slot, then by environment and function, in the order they were blocked. */
  readonly blocked: Map<string, Map<string, Map<string, BookedLane>>>;
  readonly putOff: DueHeap<BookedLane>;
  /** Blocked or put off, by what names them: such a lane is not opened by another job that joins it. */
  readonly waiting: Set<string>;
}

export class LaneBook {
  private picture: Picture | null = null;
  /** The newest caps anybody leased or started with. */
  private readonly caps = new Map<string, LaneCaps>();
  /** Where the next lease begins among the functions. */
  private turn = 0;
  private isOdd = false;
  /** Whose turn it was at the last commit: a transaction that is undone and made again takes one turn, not two. */
  private committed = { turn: 0, isOdd: false };
  /** Grows whenever a lane was opened because another one left it room. */
  passedOn = 0;
  private readonly names = new Map<string, LaneName>();

  constructor(private readonly connection: Connection) {}

  /** The jobs changed in a way that was not noted here. */
  forget(): void {
    this.picture = null;
    this.turn = this.committed.turn;
    this.isOdd = this.committed.isOdd;
  }

  noteCommit(): void {
    this.committed = { turn: this.turn, isOdd: this.isOdd };
  }

  nameOf(text: string): LaneName {
    let name = this.names.get(text);
    if (name === undefined) {
      name = readLane(text);
      // A bound for a store that has seen millions of keys; what is in use is read again.
      if (this.names.size >= namesMax) this.names.clear();
      this.names.set(text, name);
    }
    return name;
  }

  /** A job that may run now stands in this lane. */
  join(env: string, text: string): void {
    const id = laneId(env, text);
    const picture = this.look();
    if (!picture.waiting.has(id)) this.openLane(picture, { env, text, name: this.nameOf(text) });
  }

  /** A job of this lane was leased: what it now holds. */
  take(text: string): void {
    // The next look reads it from the jobs; to look now would count it twice.
    if (this.picture === null) return;
    const { used } = this.picture;
    for (const slot of this.nameOf(text).slots) used.set(slot, (used.get(slot) ?? 0) + 1);
  }

  /** A leased job of this lane was given up, with what it held beside; whether somebody in line may want its slots. */
  giveBack(text: string, first: number, second: number): boolean {
    const { picture } = this;
    if (picture === null) return true;
    const { slots } = this.nameOf(text);
    let opened = false;
    for (let i = 0; i < slots.length; i++) {
      if (this.free(picture, slots[i]!, 1 + (i === 0 ? first : second))) opened = true;
    }
    return opened || picture.open.size > 0;
  }

  /** A leased job of this lane holds more beside its slots, or less; whether somebody in line may want what it gave back. */
  holdBeside(text: string, before: Beside, after: Beside): boolean {
    const { picture } = this;
    const isLess = after[0] < before[0] || after[1] < before[1];
    if (picture === null) return isLess;
    let opened = false;
    for (const [i, slot] of this.nameOf(text).slots.entries()) {
      const more = after[i]! - before[i]!;
      if (more > 0) picture.used.set(slot, (picture.used.get(slot) ?? 0) + more);
      else if (more < 0 && this.free(picture, slot, -more)) opened = true;
    }
    return isLess && (opened || picture.open.size > 0);
  }

  private free(picture: Picture, slot: string, count: number): boolean {
    const left = (picture.used.get(slot) ?? count) - count;
    if (left <= 0) picture.used.delete(slot);
    else picture.used.set(slot, left);
    return this.passOn(picture, slot);
  }

  usesOf(slots: readonly string[]): ReadonlyMap<string, number> {
    if (slots.length === 0) return noUses;
    const { used } = this.look();
    return new Map(slots.map((slot) => [slot, used.get(slot) ?? 0]));
  }

  /** Whether a lane that is open or blocked on one of them would take it. */
  isInLine(slots: readonly string[]): boolean {
    const { open, blocked } = this.look();
    if (slots.some((slot) => blocked.has(slot))) return true;
    for (const lanes of open.values()) {
      for (const { env, text, name } of lanes.values()) {
        if (!name.slots.some((slot) => slots.includes(slot))) continue;
        // A lane may be open with nothing to run.
        if (this.connection.one(someoneInLaneSql, env, text) !== undefined) return true;
      }
    }
    return false;
  }

  /** Whether a run of this lane could begin at once, by its slots, without stepping before another one of the lane. */
  hasRoom(env: string, text: string, caps: LaneCaps): boolean {
    const picture = this.look();
    const name = this.nameOf(text);
    if (picture.waiting.has(laneId(env, text))) return false;
    if (picture.open.get(turnOf(env, name.fn))?.has(text) === true) {
      if (this.connection.one(someoneInLaneSql, env, text) !== undefined) return false;
      this.closeLane(picture, { env, text, name });
    }
    return this.fullSlot(picture, name, caps) === null;
  }

  noteCaps(env: string, fn: string, caps: LaneCaps): void {
    const turn = turnOf(env, fn);
    const before = this.caps.get(turn);
    if (before === caps) return;
    this.caps.set(turn, caps);
    if (before === undefined || sameCaps(before, caps) || this.picture === null) return;
    // Lanes that were full by the old caps may have room now; those that have not are blocked again at their turn.
    for (const [slot, byTurn] of [...this.picture.blocked]) {
      for (const lane of [...(byTurn.get(turn)?.values() ?? [])]) this.unblock(this.picture, slot, lane);
    }
    this.picture.putOff.removeWhere((lane) => {
      if (lane.env !== env || lane.name.fn !== fn) return false;
      this.picture!.waiting.delete(laneId(lane.env, lane.text));
      this.openLane(this.picture!, lane);
      return true;
    });
  }

  // ------------------------------------------------------------------------------------------------ turns

  /** Lanes whose turn may have come, function by function, each once. */
  *turns(env: string, functions: readonly string[], now: number): Generator<BookedLane> {
    const picture = this.look();
    for (const lane of picture.putOff.takeDue(now)) {
      picture.waiting.delete(laneId(lane.env, lane.text));
      this.openLane(picture, lane);
    }
    if (picture.open.size === 0) return;
    const mine = functions.filter((fn) => picture.open.has(turnOf(env, fn)));
    if (mine.length === 0) return;
    const first = this.turn++ % mine.length;
    for (let i = 0; i < mine.length; i++) {
      const lanes = picture.open.get(turnOf(env, mine[(first + i) % mine.length]!));
      // A list of its own: lanes move to the end as they are served.
      if (lanes !== undefined) yield* [...lanes.values()];
    }
  }

  /** The slot that keeps a run of the lane from beginning; null when none does. */
  private fullSlot(picture: Picture, { slots }: LaneName, caps: LaneCaps | undefined): string | null {
    for (let i = 0; i < slots.length; i++) {
      if ((picture.used.get(slots[i]!) ?? 0) >= capOf(caps, i)) return slots[i]!;
    }
    return null;
  }

  /** Asks whether the lane has room; blocks it where it has not. */
  mayRun(lane: BookedLane, caps: LaneCaps | undefined): boolean {
    const picture = this.look();
    const full = this.fullSlot(picture, lane.name, caps);
    if (full === null) return true;
    this.closeLane(picture, lane);
    within(within(picture.blocked, full), turnOf(lane.env, lane.name.fn)).set(lane.text, lane);
    picture.waiting.add(laneId(lane.env, lane.text));
    this.letOthers(picture, lane, full);
    return false;
  }

  /** Its throttle admits nobody before this instant. */
  putOff(lane: BookedLane, at: number): void {
    const picture = this.look();
    this.closeLane(picture, lane);
    picture.putOff.add(at, lane);
    picture.waiting.add(laneId(lane.env, lane.text));
    this.letOthers(picture, lane, null);
  }

  /** Nobody stands in it. */
  emptied(lane: BookedLane): void {
    const picture = this.look();
    this.closeLane(picture, lane);
    this.letOthers(picture, lane, null);
  }

  /** It had its turn: all others come before it does again. */
  served(lane: BookedLane): void {
    const picture = this.look();
    this.closeLane(picture, lane);
    this.openLane(picture, lane);
    this.take(laneOnceBegun(lane.name, lane.text) ?? noSlots);
  }

  /** The lanes' share of so many; an odd one goes to them every other time. */
  halfOf(count: number): number {
    this.isOdd = !this.isOdd;
    return this.isOdd ? Math.ceil(count / 2) : Math.floor(count / 2);
  }

  nextPutOff(): number | null {
    return this.picture?.putOff.nextAt ?? null;
  }

  // ------------------------------------------------------------------------------------------------ moves

  private openLane(picture: Picture, lane: BookedLane): void {
    within(picture.open, turnOf(lane.env, lane.name.fn)).set(lane.text, lane);
  }

  private closeLane(picture: Picture, lane: BookedLane): void {
    const turn = turnOf(lane.env, lane.name.fn);
    const lanes = picture.open.get(turn);
    lanes?.delete(lane.text);
    if (lanes?.size === 0) picture.open.delete(turn);
  }

  /** The lane does not use the room it was opened for: others that wait for its slots are asked. */
  private letOthers(picture: Picture, lane: BookedLane, full: string | null): void {
    for (const slot of lane.name.slots) if (slot !== full) this.passOn(picture, slot);
  }

  private passOn(picture: Picture, slot: string): boolean {
    const byTurn = picture.blocked.get(slot);
    if (byTurn === undefined) return false;
    const used = picture.used.get(slot) ?? 0;
    let opened = false;
    for (const [turn, lanes] of [...byTurn]) {
      // All lanes of a function have the same cap for a slot: the first one speaks for the others.
      const lane = lanes.values().next().value!;
      if (used >= capOf(this.caps.get(turn), lane.name.slots.indexOf(slot))) continue;
      this.unblock(picture, slot, lane);
      opened = true;
    }
    if (opened) this.passedOn++;
    return opened;
  }

  private unblock(picture: Picture, slot: string, lane: BookedLane): void {
    const turn = turnOf(lane.env, lane.name.fn);
    const byTurn = picture.blocked.get(slot)!;
    const lanes = byTurn.get(turn)!;
    lanes.delete(lane.text);
    if (lanes.size === 0) byTurn.delete(turn);
    if (byTurn.size === 0) picture.blocked.delete(slot);
    picture.waiting.delete(laneId(lane.env, lane.text));
    this.openLane(picture, lane);
  }

  private look(): Picture {
    if (this.picture !== null) return this.picture;
    const picture: Picture = {
      used: new Map(),
      open: new Map(),
      blocked: new Map(),
      putOff: new DueHeap(),
      waiting: new Set(),
    };
    for (const { lane, count, beside_1, beside_2 } of this.connection.all<HeldRow>(heldSql)) {
      for (const [i, slot] of this.nameOf(lane).slots.entries()) {
        picture.used.set(slot, (picture.used.get(slot) ?? 0) + count + (i === 0 ? beside_1 : beside_2));
      }
    }
    let found = this.connection.one<{ env: string; lane: string }>(firstLaneSql, "");
    while (found !== undefined) {
      const { env, lane } = found;
      this.openLane(picture, { env, text: lane, name: this.nameOf(lane) });
      found = this.connection.one<{ env: string; lane: string }>(nextLaneSql, env, lane);
    }
    this.picture = picture;
    return picture;
  }
}

const namesMax = 100_000;
const noUses: ReadonlyMap<string, number> = new Map();
const noSlots = JSON.stringify(["", [], null]);

const laneId = (env: string, text: string): string => `${env}\u0000${text}`;
const turnOf = (env: string, fn: string): string => `${env}\u0000${fn}`;

function within<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}
