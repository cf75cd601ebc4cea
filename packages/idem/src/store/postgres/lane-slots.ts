// How much of each limit is in use: the leased jobs whose lane names it, and what these hold of it beside, counted from their rows. Whoever wants a slot first locks its
// name, then counts, then takes: two nodes never take the last one both. Who gives a slot back locks nothing.
import { capOf, type LaneCaps, readLane } from "../../flow/lane.ts";
import { lockNames, slotLock } from "./lock-name.ts";
import type { Transaction } from "./transaction.ts";

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

/** Whether a run of this lane could begin at once, by its slots, without stepping before another one of the lane. Locks the slots. */
export async function hasRoom(tx: Transaction, env: string, lane: string, caps: LaneCaps): Promise<boolean> {
  const { slots } = readLane(lane);
  await lockNames(tx, slots.map(slotLock));
  if ((await tx.connection.one(someoneInLaneSql, env, lane)) !== undefined) return false;
  const uses = await slotUses(tx, slots);
  return slots.every((slot, i) => (uses.get(slot) ?? 0) < capOf(caps, i));
}
