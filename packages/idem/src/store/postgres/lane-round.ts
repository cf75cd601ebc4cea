// One round over the lanes that have somebody in line: how many runs of each may begin now. Lanes take turns: each gets one before any
// gets a second, and the next round begins behind the lane that was served last. Slots and throttles are locked before they are
// read, in one order, so nodes that lease at the same time wait for each other for the length of a commit and no limit is exceeded.

import { capOf, type LaneCaps, type LaneName, readLane } from "../../flow/lane.ts";
import { admitStart } from "../../flow/throttle/plan.ts";
import { slotUses } from "./lane-slots.ts";
import { lockNames, slotLock } from "./lock-name.ts";
import type { Transaction } from "./transaction.ts";

// Enough for every key that is hot at once; a store with more lanes than this is walked over several leases.
const lanesMax = 200;

// A loose scan: one probe per lane, however many jobs stand in it.
const lanesSql = `
  with recursive l (lane) as (
    (select lane from jobs
      where env = :env and lane > :after and leased_by is null and due_at is null order by lane limit 1)
    union all
    select (select lane from jobs
             where env = :env and lane > l.lane and leased_by is null and due_at is null order by lane limit 1)
      from l where l.lane is not null)
  select lane from l where lane is not null limit :limit`;

const countsSql = `
  select asked.lane, (select count(*) from (select 1 from jobs
                       where env = :env and lane = asked.lane and leased_by is null and due_at is null
                       order by rank limit :max) as few) as count
    from unnest(cast(:lanes as text[])) as asked (lane)`;

const lockThrottlesSql = `
  insert into throttles (env, id, tat) select cast(:env as text), id, 0 from unnest(cast(:ids as text[])) as asked (id)
  on conflict (env, id) do update set tat = throttles.tat returning id, tat`;

const writeTatsSql = `
  update throttles set tat = given.tat
    from unnest(cast(:ids as text[]), cast(:tats as double precision[])) as given (id, tat)
   where throttles.env = :env and throttles.id = given.id`;

interface Lane {
  readonly text: string;
  readonly name: LaneName;
  readonly caps: LaneCaps | undefined;
  readonly count: number;
  taken: number;
}

/** Where the next lease goes on, and whose the odd one is: kept by each node for itself, for nothing depends on it but fairness. */
export class LaneTurns {
  private readonly cursors = new Map<string, string>();
  private isOdd = false;

  after(env: string): string {
    return this.cursors.get(env) ?? "";
  }

  served(env: string, lane: string): void {
    this.cursors.set(env, lane);
  }

  /** The lanes' share of so many; an odd one goes to them every other time. */
  halfOf(count: number): number {
    this.isOdd = !this.isOdd;
    return this.isOdd ? Math.ceil(count / 2) : Math.floor(count / 2);
  }
}

export class LaneRound {
  /** The earliest instant at which a throttle lets in somebody whose slots have room; null when there is none. */
  nextAt: number | null = null;
  private readonly changedTats = new Set<string>();
  private last: string | null = null;

  private constructor(
    private readonly lanes: readonly Lane[],
    private readonly used: Map<string, number>,
    private readonly tats: Map<string, number>,
  ) {}

  static async open(
    tx: Transaction,
    asked: {
      readonly env: string;
      readonly functions: ReadonlySet<string>;
      readonly caps: Readonly<Record<string, LaneCaps>>;
      readonly max: number;
      readonly after: string;
    },
  ): Promise<LaneRound> {
    const { env, functions, caps, max } = asked;
    const texts = await lanesInTurn(tx, env, asked.after);
    const mine = texts.map((text) => ({ text, name: readLane(text) })).filter(({ name }) => functions.has(name.fn));
    if (mine.length === 0) return new LaneRound([], new Map(), new Map());
    const slots = [...new Set(mine.flatMap(({ name }) => name.slots))].sort();
    const throttles = [
      ...new Set(
        mine.flatMap(({ name }) => (name.throttle !== null && caps[name.fn]?.throttle != null ? [name.throttle] : [])),
      ),
    ].sort();
    await lockNames(tx, slots.map(slotLock));
    const tats =
      throttles.length === 0
        ? []
        : await tx.connection.find<{ id: string; tat: number }>(lockThrottlesSql, { env, ids: throttles });
    const [used, counts] = await Promise.all([
      slotUses(tx, slots),
      tx.connection.find<{ lane: string; count: number }>(countsSql, {
        env,
        max,
        lanes: mine.map(({ text }) => text),
      }),
    ]);
    const countOf = new Map(counts.map(({ lane, count }) => [lane, count]));
    return new LaneRound(
      mine.map(({ text, name }) => ({ text, name, caps: caps[name.fn], count: countOf.get(text) ?? 0, taken: 0 })),
      used,
      new Map(tats.map(({ id, tat }) => [id, tat])),
    );
  }

  /** The lanes whose next run may begin, in order of their turns; at most so many. */
  take(room: number, now: number): readonly { readonly text: string; readonly name: LaneName }[] {
    const turns: Lane[] = [];
    for (;;) {
      let isAny = false;
      for (const lane of this.lanes) {
        if (turns.length >= room) return turns;
        if (lane.taken >= lane.count || !this.begins(lane, now)) continue;
        lane.taken++;
        this.last = lane.text;
        turns.push(lane);
        isAny = true;
      }
      if (!isAny) return turns;
    }
  }

  private begins({ name, caps }: Lane, now: number): boolean {
    if (name.slots.some((slot, i) => (this.used.get(slot) ?? 0) >= capOf(caps, i))) return false;
    if (name.throttle !== null && caps?.throttle != null) {
      const admission = admitStart(this.tats.get(name.throttle) ?? null, caps.throttle, now);
      if (admission.kind === "later") {
        this.nextAt = this.nextAt === null ? admission.at : Math.min(this.nextAt, admission.at);
        return false;
      }
      this.tats.set(name.throttle, admission.tat);
      this.changedTats.add(name.throttle);
    }
    for (const slot of name.slots) this.used.set(slot, (this.used.get(slot) ?? 0) + 1);
    return true;
  }

  async close(tx: Transaction, env: string, turns: LaneTurns): Promise<void> {
    if (this.last !== null) turns.served(env, this.last);
    if (this.changedTats.size === 0) return;
    const ids = [...this.changedTats];
    await tx.connection.find(writeTatsSql, { env, ids, tats: ids.map((id) => this.tats.get(id)!) });
  }
}

/** Whether a run of this environment stands in line that would take one of the slots; where there are more lanes than are looked at, among the first. */
export async function isInLine(tx: Transaction, env: string, slots: readonly string[]): Promise<boolean> {
  const rows = await tx.connection.find<{ lane: string }>(lanesSql, { env, after: "", limit: lanesMax });
  return rows.some(({ lane }) => readLane(lane).slots.some((slot) => slots.includes(slot)));
}

/** From behind the lane that was served last, and then from the first. */
async function lanesInTurn(tx: Transaction, env: string, after: string): Promise<string[]> {
  const list = async (from: string): Promise<string[]> =>
    (await tx.connection.find<{ lane: string }>(lanesSql, { env, after: from, limit: lanesMax })).map(
      ({ lane }) => lane,
    );
  const behind = await list(after);
  if (after === "" || behind.length >= lanesMax) return behind;
  const before = (await list("")).filter((lane) => lane <= after);
  return [...behind, ...before].slice(0, lanesMax);
}
