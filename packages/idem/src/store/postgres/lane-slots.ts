// How much of each limit is in use: the leased jobs whose lane names it, and what these hold of it beside, counted from their rows. Whoever wants a slot first locks its
// name, then counts, then takes: two nodes never take the last one both. Who gives a slot back locks nothing.
import { capOf, type LaneCaps, readLane } from "../../flow/lane.ts";
import type { Asking } from "../rules/new-run.ts";
import { lockNames, slotLock } from "./lock-name.ts";
import { inEnv, type Transaction } from "./transaction.ts";

/** The columns beside `lane` that slots are counted by; a function has at most two limits. */
export function slotColumns(lane: string | null): readonly [string | null, string | null] {
  const { slots } = lane === null ? { slots: [] } : readLane(lane);
  if (slots.length > 2) throw new Error(`A lane takes at most two slots: ${lane}`);
  return [slots[0] ?? null, slots[1] ?? null];
}

export const hasSlots = (lane: string | null): boolean => slotColumns(lane)[0] !== null;

const usesSql = `
  select slot, (select count(*) + coalesce(sum(beside_1), 0) from jobs where slot_1 = slot and leased_by is not null)
             + (select count(*) + coalesce(sum(beside_2), 0) from jobs where slot_2 = slot and leased_by is not null) as used
    from unnest(cast(? as text[])) as asked (slot)`;

export async function slotUses(tx: Transaction, slots: readonly string[]): Promise<Map<string, number>> {
  if (slots.length === 0) return new Map();
  const rows = await tx.connection.all<{ slot: string; used: number }>(usesSql, slots);
  return new Map(rows.map(({ slot, used }) => [slot, used]));
}

const laneSql = "select lane from jobs where env = ? and id = ?";

/** What a run that may want more of its slots locks before its job. A leased job stays in its lane. */
export async function slotLocks(tx: Transaction, env: string, jobId: string): Promise<readonly string[]> {
  const lane = (await tx.connection.one<{ lane: string | null }>(laneSql, env, jobId))?.lane ?? null;
  return lane === null ? noLocks : readLane(lane).slots.map(slotLock);
}

export const noLocks: readonly string[] = [];

const someoneInLaneSql =
  "select 1 from jobs where env = ? and lane = ? and leased_by is null and due_at is null limit 1";

const someoneInLanesSql = `
  select env, lane from unnest(cast(:envs as text[]), cast(:lanes as text[])) as asked (env, lane)
   where exists (select 1 from jobs j
                  where j.env = asked.env and j.lane = asked.lane and j.leased_by is null and j.due_at is null offset 0)`;

/** Whether a run of this lane could begin at once, by its slots, without stepping before another one of the lane. Locks the slots. */
export async function hasRoom(tx: Transaction, env: string, lane: string, caps: LaneCaps): Promise<boolean> {
  const { slots } = readLane(lane);
  const { lanes, uses } = tx.ahead;
  const name = inEnv(env, lane);
  const isInLine = lanes.get(name);
  if (isInLine === true) return false;
  if (isInLine === undefined) {
    await lockNames(tx, slots.map(slotLock));
    if ((await tx.connection.one(someoneInLaneSql, env, lane)) !== undefined) return false;
  }
  const used = isInLine === undefined ? await slotUses(tx, slots) : uses;
  const begins = slots.every((slot, i) => (used.get(slot) ?? 0) < capOf(caps, i));
  // Lanes may share slots: what begins in one counts in all that were read ahead.
  if (begins) for (const slot of slots) if (uses.has(slot)) uses.set(slot, uses.get(slot)! + 1);
  // It is the first in line now.
  if (!begins && isInLine !== undefined) lanes.set(name, true);
  return begins;
}

/**
 * Looks at all lanes that starts of many calls may begin in, once their slots are locked. Not where a throttle has a say, or where a start
 * goes into the line without asking: what is kept here counts only what asks.
 */
export async function readRoom(tx: Transaction, askings: readonly Asking[]): Promise<void> {
  const lanes = new Map<string, { readonly env: string; readonly lane: string }>();
  const leftOut = new Set<string>();
  for (const { env, pairs } of askings) {
    for (const pair of pairs) {
      if (pair.kind !== "start" || pair.flow === null || pair.flow.lane === null) continue;
      const lane = pair.flow.lane.name;
      const name = inEnv(env, lane);
      if (pair.leaseTo === null || pair.flow.buffer !== null || readLane(lane).throttle !== null) leftOut.add(name);
      else lanes.set(name, { env, lane });
    }
  }
  for (const name of leftOut) lanes.delete(name);
  if (lanes.size === 0) return;
  const asked = [...lanes.values()];
  const [inLine, used] = await Promise.all([
    tx.connection.find<{ env: string; lane: string }>(someoneInLanesSql, {
      envs: asked.map(({ env }) => env),
      lanes: asked.map(({ lane }) => lane),
    }),
    slotUses(tx, [...new Set(asked.flatMap(({ lane }) => readLane(lane).slots))]),
  ]);
  for (const name of lanes.keys()) tx.ahead.lanes.set(name, false);
  for (const { env, lane } of inLine) tx.ahead.lanes.set(inEnv(env, lane), true);
  for (const [slot, count] of used) tx.ahead.uses.set(slot, count);
}
