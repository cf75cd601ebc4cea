// Room in lanes. A slot's use is the number of leased jobs whose lane names it, and what they hold of it beside, in all environments: it is
// counted, never kept, so it cannot be wrong.

import {
  type Beside,
  type BesideAsked,
  besideNow,
  besideOf,
  countedSlots,
  grantBeside,
  nothingBeside,
} from "../../flow/concurrency/beside.ts";
import type { LaneUse } from "../../flow/lane.ts";
import { capOf, type LaneCaps, type LaneName, readLane } from "../../flow/lane.ts";
import { admitStart } from "../../flow/throttle/plan.ts";
import { type Database, isDue, type Moment, type RunJob, type Tables } from "./tables.ts";

export type SlotUse = Map<string, number>;

export interface LanedJob extends RunJob {
  readonly lane: string;
}

export function slotUse(database: Database): SlotUse {
  const use: SlotUse = new Map();
  for (const job of lanedJobs(database)) if (job.leasedBy !== null) takeSlots(use, readLane(job.lane), job.beside);
  return use;
}

export function takeSlots(use: SlotUse, { slots }: LaneName, beside: Beside = nothingBeside): void {
  slots.forEach((slot, position) => {
    use.set(slot, (use.get(slot) ?? 0) + 1 + (beside[position] ?? 0));
  });
}

/** Changes what the run holds beside its own slot; how many that is now, and whether somebody in line may want what it gave back. */
export function holdBeside(
  tables: Tables,
  at: Moment,
  job: RunJob,
  asked: BesideAsked,
): { beside: number; freed: boolean } {
  const counted = job.lane === null ? [] : countedSlots(readLane(job.lane).slots, asked);
  const { beside: held } = job;
  if (asked.turn <= job.besideTurn) return { beside: besideNow(counted, held), freed: false };
  const use = slotUse(tables.database);
  const isInLine = () => counted.some(({ slot }) => isSlotWanted(tables.database, at, [slot]));
  const granted = grantBeside(asked, counted, { held, used: (slot) => use.get(slot) ?? 0, isInLine });
  const beside = besideOf(counted, granted);
  tables.jobs.put(job.id, { ...job, beside, besideTurn: asked.turn });
  const isLess = beside.some((count, position) => count < held[position]!);
  return { beside: granted, freed: isLess && isWanted(tables.database, at, job.lane) };
}

export const hasRoom = (use: SlotUse, { slots }: LaneName, caps: LaneCaps | undefined): boolean =>
  slots.every((slot, position) => (use.get(slot) ?? 0) < capOf(caps, position));

/** Until when the lane's throttle puts off its next start; null for not at all. */
export function putOffUntil(
  tables: Tables,
  at: Moment,
  { throttle }: LaneName,
  caps: LaneCaps | undefined,
): number | null {
  if (throttle === null || caps === undefined || caps.throttle === null) return null;
  const admission = admitStart(tables.throttles.get(throttle) ?? null, caps.throttle, at.now);
  return admission.kind === "later" ? admission.at : null;
}

export function countBegun(tables: Tables, at: Moment, { throttle }: LaneName, caps: LaneCaps | undefined): void {
  if (throttle === null || caps === undefined || caps.throttle === null) return;
  const admission = admitStart(tables.throttles.get(throttle) ?? null, caps.throttle, at.now);
  if (admission.kind === "now") tables.throttles.put(throttle, admission.tat);
}

/** Whether a new run of the lane may begin at once, stepping before nobody of its lane. */
export function mayBegin(tables: Tables, at: Moment, { name: text, caps }: LaneUse): boolean {
  const name = readLane(text);
  const isInLine = tables.jobs
    .all()
    .some((job) => job.kind === "run" && isLaned(job) && isUp(job, at) && isSameLane(readLane(job.lane), name));
  return !isInLine && hasRoom(slotUse(tables.database), name, caps) && putOffUntil(tables, at, name, caps) === null;
}

// A run that has begun no longer names its throttle, and stands in the same line.
const isSameLane = (one: LaneName, other: LaneName): boolean =>
  one.fn === other.fn &&
  one.slots.length === other.slots.length &&
  one.slots.every((slot, position) => slot === other.slots[position]);

/** Whether somebody in line may want what a leased job of this lane gives back. */
export function isWanted(database: Database, at: Moment, lane: string | null): boolean {
  return lane !== null && isSlotWanted(database, at, readLane(lane).slots);
}

const isSlotWanted = (database: Database, at: Moment, slots: readonly string[]): boolean =>
  lanedJobs(database).some((job) => isUp(job, at) && readLane(job.lane).slots.some((slot) => slots.includes(slot)));

function lanedJobs(database: Database): LanedJob[] {
  return database
    .allEnvironments()
    .flatMap((tables) => tables.jobs.all())
    .flatMap((job) => (job.kind === "run" && isLaned(job) ? job : []));
}

export const isLaned = (job: RunJob): job is LanedJob => job.lane !== null;

/** Waits for a lease, and for nothing else. */
const isUp = (job: RunJob, at: Moment): boolean => job.leasedBy === null && isDue(job, at);
