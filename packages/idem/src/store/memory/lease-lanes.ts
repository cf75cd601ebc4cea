// Lanes take turns: in one lease every lane that can run gets a run before any lane gets a second one, and where a lease was too
// short the next one goes on. A lane without room is passed over and keeps its turn.
import { type LaneCaps, type LaneName, readLane } from "../../flow/lane.ts";
import { countBegun, hasRoom, type LanedJob, putOffUntil, type SlotUse, takeSlots } from "./lanes.ts";
import type { Moment, Tables } from "./tables.ts";

/** The order of turns. Kept by the process only: who forgets it serves some lane twice, and no limit is exceeded. */
export class Turns {
  private readonly turns = new Map<string, number>();
  private last = 0;
  /** Whether the next place that cannot be halved goes to the lanes. */
  isForLanes = false;

  /** Lanes in the order of their turns; one that was not seen before comes last, as does one that just had its turn. */
  order(lanes: readonly string[]): string[] {
    for (const lane of lanes) if (!this.turns.has(lane)) this.served(lane);
    return lanes.toSorted((a, b) => this.turns.get(a)! - this.turns.get(b)!);
  }

  served(lane: string): void {
    this.last += 1;
    this.turns.set(lane, this.last);
  }

  /** Forgets lanes nobody stands in. */
  keep(lanes: ReadonlySet<string>): void {
    for (const lane of this.turns.keys()) if (!lanes.has(lane)) this.turns.delete(lane);
  }
}

interface LaneQueue {
  readonly text: string;
  readonly name: LaneName;
  readonly caps: LaneCaps | undefined;
  /** By rank. */
  readonly jobs: LanedJob[];
}

export function laneQueues(jobs: readonly LanedJob[], caps: Readonly<Record<string, LaneCaps>>): LaneQueue[] {
  const queues = new Map<string, LaneQueue>();
  for (const job of jobs.toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))) {
    const queue = queues.get(job.lane) ?? newQueue(job.lane, caps);
    queues.set(job.lane, queue);
    queue.jobs.push(job);
  }
  return [...queues.values()];
}

function newQueue(text: string, caps: Readonly<Record<string, LaneCaps>>): LaneQueue {
  const name = readLane(text);
  return { text, name, caps: caps[name.fn], jobs: [] };
}

/** Takes up to `max` jobs from the queues, round by round, and counts what they take. */
export function takeTurns(
  tables: Tables,
  at: Moment,
  turns: Turns,
  use: SlotUse,
  queues: readonly LaneQueue[],
  max: number,
  fits: (job: LanedJob) => boolean,
): LanedJob[] {
  const byText = new Map(queues.map((queue) => [queue.text, queue]));
  const taken: LanedJob[] = [];
  let round = turns.order([...byText.keys()]);
  while (round.length > 0 && taken.length < max) {
    const served: string[] = [];
    for (const lane of round) {
      const queue = byText.get(lane)!;
      if (taken.length === max || queue.jobs.length === 0 || !canRun(tables, at, use, queue)) continue;
      if (!fits(queue.jobs[0]!)) return taken;
      taken.push(queue.jobs.shift()!);
      takeSlots(use, queue.name);
      countBegun(tables, at, queue.name, queue.caps);
      turns.served(lane);
      served.push(lane);
    }
    round = served;
  }
  return taken;
}

const canRun = (tables: Tables, at: Moment, use: SlotUse, { name, caps }: LaneQueue): boolean =>
  hasRoom(use, name, caps) && putOffUntil(tables, at, name, caps) === null;

/** When those are let in who are put off and wait for nothing else. */
export function instantsPutOff(tables: Tables, at: Moment, use: SlotUse, queues: readonly LaneQueue[]): number[] {
  return queues
    .filter(({ name, caps, jobs }) => jobs.length > 0 && hasRoom(use, name, caps))
    .flatMap(({ name, caps }) => putOffUntil(tables, at, name, caps) ?? []);
}
