// Notes of ended runs become counts by the minute and by the hour; those nobody asks for any more go. And what both say together.
import { mergeSketches, readSketch, sketchOf, sketchText } from "../../model/duration-sketch.ts";
import type { EndState } from "../../model/run.ts";
import { hoursKeptMs } from "../counts.ts";
import {
  durationsText,
  type EndCount,
  type EndedRun,
  type EndFilter,
  type EndStep,
  endSteps,
  floorTo,
  minuteMs,
  minutesKeptMs,
  readDurations,
} from "../ends.ts";
import type { Database, RuleTransaction } from "./database.ts";
import { insertion } from "./insertion.ts";
import type { Rule } from "./rule.ts";

// As many as a busy store notes in a few seconds; they take some 10 ms, in which commits wait.
const notesAtOnce = 2_000;

const noteShape = {
  env: "text",
  fn: "text",
  at: "bigint",
  completed: "bigint",
  failed: "bigint",
  cancelled: "bigint",
  oldest: "bigint",
  took: "text",
} as const;
export const noteColumns = Object.keys(noteShape).join(", ");
const newNotes = insertion("end_notes", noteShape);

/** One row for the runs of one function that ended in this commit. */
export function noteEnds(tx: Pick<RuleTransaction, "add" | "at">, env: string, runs: readonly EndedRun[]): void {
  const { now } = tx.at;
  const counts: Record<EndState, number> = { completed: 0, failed: 0, cancelled: 0 };
  let oldest = now;
  for (const { state, createdAt } of runs) {
    counts[state] += 1;
    if (createdAt < oldest) oldest = createdAt;
  }
  const { completed, failed, cancelled } = counts;
  const took = durationsText(runs, now);
  tx.add(newNotes, env, runs[0]!.fn, floorTo(now, minuteMs), completed, failed, cancelled, oldest, took);
}

const isNotedSql = "select 1 as one from end_notes limit 1";
const notesSql = `select n, ${noteColumns} from end_notes order by n limit ${notesAtOnce}`;
const countSql = `
  select completed, failed, cancelled, oldest, sketch from end_counts where env = ? and step = ? and at = ? and fn = ?`;
const keepSql = `
  insert into end_counts (env, step, at, fn, completed, failed, cancelled, oldest, sketch) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (env, step, at, fn) do update
     set completed = excluded.completed, failed = excluded.failed, cancelled = excluded.cancelled, oldest = excluded.oldest,
         sketch = excluded.sketch`;
const forgetSql = "delete from end_counts where env = ? and step = ? and at < ?";
// Counts and notes of one moment: what is added meanwhile is in one of them, never in both.
const endsSql = `
  select at, fn, completed, failed, cancelled, oldest, sketch, null as took from end_counts
   where env = :env and step = :step and at >= :since and at < :until and (cast(:fn as text) is null or fn = :fn)
  union all
  select at, fn, completed, failed, cancelled, oldest, null, took from end_notes
   where env = :env and at >= :since and at < :until and (cast(:fn as text) is null or fn = :fn)`;

type Kept = Omit<EndCount, "at" | "fn" | "took">;
interface NoteRow extends Omit<EndCount, "took"> {
  readonly n: number;
  readonly env: string;
  readonly took: string;
}
type EndRow = Omit<EndCount, "took"> & { readonly sketch: string | null; readonly took: string | null };

export const isWholeBatch = (folded: number): boolean => folded >= notesAtOnce;

/** Answers the number of notes it added up: as many as may be at once, or all there were. */
export function* foldEnds(tx: RuleTransaction): Rule<number> {
  if ((yield* tx.one(isNotedSql)) === undefined) return 0;
  // Counts are read and written back: nodes do it one after the other.
  yield* tx.turn("end-counts");
  const notes = yield* tx.all<NoteRow>(notesSql);
  const envs = new Set(notes.map(({ env }) => env));
  for (const env of envs) {
    const ofEnv = notes.filter((note) => note.env === env).map(countOfNote);
    for (const step of endSteps) {
      for (const count of addEnds(ofEnv, step)) yield* keepCount(tx, env, step, count);
    }
    tx.write(forgetSql, env, minuteMs, tx.at.now - minutesKeptMs);
    tx.write(forgetSql, env, endSteps[1], tx.at.now - hoursKeptMs);
  }
  tx.write(tx.sql.ends.forget, tx.list(notes.map(({ n }) => String(n))));
  return notes.length;
}

function* keepCount(tx: RuleTransaction, env: string, step: EndStep, count: EndCount): Rule<void> {
  const { at, fn } = count;
  const kept = yield* tx.one<Kept & { sketch: string }>(countSql, env, step, at, fn);
  const before = kept === undefined ? [] : [{ ...kept, at, fn, took: readSketch(kept.sketch) }];
  const { completed, failed, cancelled, oldest, took } = addEnds([...before, count], step)[0]!;
  tx.write(keepSql, env, step, at, fn, completed, failed, cancelled, oldest, sketchText(took));
}

export function* endCounts(db: Database, env: string, { since, until, stepMs, fn }: EndFilter): Rule<EndCount[]> {
  const rows = yield* db.find<EndRow>(endsSql, {
    env,
    step: stepMs,
    since: floorTo(since, stepMs),
    until: Math.ceil(until),
    fn: fn ?? null,
  });
  return addEnds(rows.map(countOfRow), stepMs);
}

const countOfNote = ({ at, fn, completed, failed, cancelled, oldest, took }: NoteRow): EndCount => ({
  at,
  fn,
  completed,
  failed,
  cancelled,
  oldest,
  took: sketchOf(readDurations(took)),
});

const countOfRow = ({ sketch, took, ...count }: EndRow): EndCount => ({
  ...count,
  took: sketch === null ? sketchOf(readDurations(took ?? "")) : readSketch(sketch),
});

/** Those of one function and stretch together. */
export function addEnds(counts: readonly EndCount[], step: number): EndCount[] {
  const groups = new Map<string, EndCount[]>();
  for (const count of counts) {
    const place = `${floorTo(count.at, step)}\n${count.fn}`;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, [count]);
    else group.push(count);
  }
  return [...groups.values()].map((group) => ({
    at: floorTo(group[0]!.at, step),
    fn: group[0]!.fn,
    completed: sumOf(group, "completed"),
    failed: sumOf(group, "failed"),
    cancelled: sumOf(group, "cancelled"),
    oldest: Math.min(...group.map(({ oldest }) => oldest)),
    took: group.length === 1 ? group[0]!.took : mergeSketches(group.map(({ took }) => took)),
  }));
}

const sumOf = (counts: readonly EndCount[], name: "completed" | "failed" | "cancelled"): number =>
  counts.reduce((sum, count) => sum + count[name], 0);
