// Groups in which something slipped through, newest first, without reading history: runs that took a released key are noted where
// decisions are counted, and the radar keeps a pair for each further run it found. Those too new for both are seen in the newest rows.
import type { KnownFunctions } from "../../radar/functions-known.ts";
import type { Slip } from "../../store/counts.ts";
import type { StoreReads } from "../../store/reads.ts";
import { type Gathered, type GroupReading, gatherGroups, type Link } from "./gather-groups.ts";
import type { JudgedGroup } from "./tell-group.ts";

export interface LoudRange {
  readonly since?: number;
  readonly until?: number;
  readonly fn?: string;
}

/** A run that slipped through, and what it is known to repeat. */
export interface Slipped {
  readonly laterId: string;
  readonly firstId: string;
  readonly fn: string;
  readonly at: number;
  readonly link: Link | null;
  /** Equal for what slipped through in one group. */
  readonly group: string;
}

// Beyond it a headline says "10,000 and more".
export const slippedMax = 10_000;

export interface SlippedRuns {
  /** Newest first. */
  readonly runs: readonly Slipped[];
  readonly isAll: boolean;
}

/** `uncounted`: those that nobody counted yet. */
export async function slippedRuns(
  reads: StoreReads,
  env: string,
  functions: KnownFunctions,
  { since = 0, until = Number.MAX_SAFE_INTEGER, fn }: LoudRange,
  uncounted: readonly Slip[],
): Promise<SlippedRuns> {
  const about = functions.doubled.filter(
    (alert) =>
      alert.kind !== "maybe-doubled" &&
      alert.state !== "muted" &&
      alert.lastAt >= since &&
      alert.firstAt < until &&
      (fn === undefined || alert.fn === fn),
  );
  const [slips, ...pairs] = await Promise.all([
    reads.slips(env, { since, until, limit: slippedMax, ...(fn === undefined ? {} : { fn }) }),
    ...about.map((alert) => reads.alertPairs(env, alert.id, { limit: slippedMax })),
  ]);
  const found = new Map<string, Slipped>();
  for (const slip of [...slips, ...uncounted])
    if (!functions.isSilenced(slip.fn)) found.set(slip.runId, slippedOf(slip));
  about.forEach((alert, i) => {
    for (const { entity, firstId, laterId, at } of pairs[i]!) {
      if (firstId === null || at < since || at >= until || found.has(laterId)) continue;
      const guess = alert.kind === "doubled-runs" ? { expression: alert.subject, entity } : null;
      const group = guess === null ? firstId : JSON.stringify([alert.id, entity, firstId]);
      found.set(laterId, { laterId, firstId, fn: alert.fn, at, link: { firstId, laterId, guess }, group });
    }
  });
  const isAll = slips.length < slippedMax && pairs.every((some) => some.length < slippedMax);
  return { runs: inGroups(found.values()), isAll };
}

/** Newest first. A repeat of a run that slipped through itself is of the same group. */
function inGroups(found: Iterable<Slipped>): Slipped[] {
  const groupOf = new Map<string, string>();
  const runs = [...found].sort((a, b) => (a.laterId < b.laterId ? -1 : 1));
  const named = runs.map((run) => {
    const group = groupOf.get(run.firstId) ?? run.group;
    groupOf.set(run.laterId, group);
    return group === run.group ? run : { ...run, group };
  });
  return named.reverse();
}

/** With what the newest rows show and nobody counted or paired yet: `loud` are those of them that ran more than once. */
export function withSeen(
  slipped: SlippedRuns,
  loud: readonly JudgedGroup[],
  { since = 0, until = Number.MAX_SAFE_INTEGER }: LoudRange,
): SlippedRuns {
  const known = new Map(slipped.runs.map((run) => [run.laterId, run]));
  const seen = loud.flatMap(({ group: { id, fn, runs, guess }, judged }): Slipped[] => {
    const group = runs.map((run) => known.get(run.id)?.group).find((name) => name !== undefined) ?? id;
    return judged.runs.flatMap(({ run, place }) => {
      const isSeen = place === "slipped" && !known.has(run.id) && run.createdAt >= since && run.createdAt < until;
      if (!isSeen) return [];
      const link = guess === null ? null : { firstId: id, laterId: run.id, guess };
      return { laterId: run.id, firstId: id, fn, at: run.createdAt, link, group };
    });
  });
  return seen.length === 0 ? slipped : { ...slipped, runs: inGroups([...slipped.runs, ...seen]) };
}

/** The number of groups. */
export const loudCount = ({ runs }: SlippedRuns): number => new Set(runs.map(({ group }) => group)).size;

/** The runs of those groups that are known by their ids. */
export const loudIds = ({ runs }: SlippedRuns): ReadonlySet<string> =>
  new Set(runs.flatMap(({ firstId, laterId }) => [firstId, laterId]));

const slippedOf = ({ runId, generation, fn, at }: Slip): Slipped => ({
  laterId: runId,
  firstId: generation,
  fn,
  at,
  link: null,
  group: generation,
});

/** The groups of the newest that slipped through before `before`. */
export async function loudGroups(
  reading: GroupReading,
  slipped: SlippedRuns,
  { limit, before }: { readonly limit: number; readonly before?: string | undefined },
): Promise<{ readonly groups: Gathered[]; readonly next: string | null }> {
  const newest = new Map<string, Slipped>();
  for (const each of slipped.runs) if (!newest.has(each.group)) newest.set(each.group, each);
  const wanted = [...newest.values()].filter(({ laterId }) => before === undefined || laterId < before);
  const page = wanted.slice(0, limit);
  const names = new Set(page.map(({ group }) => group));
  const theirs = slipped.runs.filter(({ group }) => names.has(group)).slice(0, 1_000);
  const ids = new Set(theirs.flatMap(({ firstId, laterId }) => [firstId, laterId]));
  const gathered = await gatherGroups(
    reading,
    [...ids],
    theirs.flatMap(({ link }) => link ?? []),
  );
  return {
    groups: gathered.sort((a, b) => (newestOf(a) < newestOf(b) ? 1 : -1)).slice(0, limit),
    next: wanted.length > page.length ? page.at(-1)!.laterId : null,
  };
}

/** The newest run that an event asked for. */
export const newestOf = ({ runs }: Gathered): string =>
  runs.reduce((last, { id, rerunOf }) => (rerunOf === null ? id : last), "");
