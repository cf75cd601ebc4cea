// From runs to groups: each run with those that share its window, and runs of functions without a key with those that are about the
// same thing by our best guess. One statement per question, whatever the number of runs.
import type { Work } from "../../model/turns.ts";
import { dayMs } from "../../model/window.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import { type Guess, guessEntities } from "../../radar/guess-entities.ts";
import type { RunSummary, StoreReads } from "../../store/reads.ts";

/** Runs that belong together, oldest first. */
export interface Gathered {
  readonly id: string;
  readonly fn: string;
  readonly runs: readonly RunSummary[];
  readonly guess: Guess | null;
  /** Of runs that were guessed to be the same: their event's data, where it was looked at. */
  readonly dataOf: (runId: string) => string | null;
  /** Runs that were let start because the one before failed and gave its key back. */
  readonly isAfterFailure: (runId: string) => boolean;
}

/** Two runs that were found to be about the same thing. */
export interface Link {
  readonly firstId: string;
  readonly laterId: string;
  readonly guess: Guess | null;
}

// 200 runs of a page and the few that share their windows; a key that was released a thousand times is cut.
const groupRunsMax = 5_000;
// Larger payloads are not looked at: 200 of them are 12 MB.
export const payloadBytesMax = 64 * 1024;
// Taking over what a store's thread read takes about a millisecond for each megabyte.
export const payloadsAtOnce = 50;

/** Groups are read with these: whose runs, what is known of their functions, and a request's share of work. */
export interface GroupReading {
  readonly reads: StoreReads;
  readonly env: string;
  readonly functions: KnownFunctions;
  readonly work: Work;
}

export async function gatherGroups(
  { reads, env, functions, work }: GroupReading,
  runIds: readonly string[],
  links: readonly Link[] = [],
): Promise<Gathered[]> {
  if (runIds.length === 0) return [];
  const found = await reads.groupRuns(env, runIds, groupRunsMax);
  const groups = new Map<string, Map<string, RunSummary>>();
  const allowed = new Set(found.flatMap(({ run, isAfterFailure }) => (isAfterFailure ? run.id : [])));
  const isAfterFailure = (runId: string) => allowed.has(runId);
  for (const { group, run } of found) {
    const runs = groups.get(group) ?? new Map();
    groups.set(group, runs.set(run.id, run));
  }
  const isKeyless = (run: RunSummary) => run.key === null && run.rerunOf === null && functions.of(run.fn).key === null;
  const keyless = [...groups.values()].flatMap((runs) => [...runs.values()].filter(isKeyless));
  // Asked for together: each answer is taken over in a turn of its own, and a busy store is waited for once.
  const pieces = Array.from({ length: Math.ceil(keyless.length / payloadsAtOnce) }, (_, n) => {
    const ids = keyless.slice(n * payloadsAtOnce, (n + 1) * payloadsAtOnce).map(({ id }) => id);
    return reads.runPayloads(env, ids, payloadBytesMax);
  });
  const payloads = new Map<string, string | null>();
  for (const piece of await Promise.all(pieces)) for (const { runId, data } of piece) payloads.set(runId, data);
  const dataOf = (runId: string) => payloads.get(runId) ?? null;
  const guesses = new Map(await guessEntities(keyless, dataOf, functions, work));
  const byRun = new Map([...groups].flatMap(([id, runs]) => [...runs.keys()].map((runId) => [runId, id] as const)));
  for (const { firstId, laterId, guess } of links) {
    if (guess === null) continue;
    for (const id of [firstId, laterId]) if (!guesses.has(id)) guesses.set(id, guess);
  }
  const joined = joinGuessed(keyless, guesses);
  // The first of those taken together stands for them.
  for (const [runId, firstId] of joined) {
    const [own, first] = [byRun.get(runId), byRun.get(firstId)];
    if (own === undefined || first === undefined || own === first) continue;
    const into = groups.get(first)!;
    for (const [id, run] of groups.get(own)!) {
      into.set(id, run);
      byRun.set(id, first);
    }
    groups.delete(own);
  }
  return [...groups].map(([id, some]) => {
    const runs = [...some.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const guess = runs.flatMap((run) => guesses.get(run.id) ?? [])[0] ?? null;
    return { id, fn: runs[0]!.fn, runs, guess, dataOf, isAfterFailure };
  });
}

/** By run: the first run about the same thing, if that was within the time a key would have covered. */
function joinGuessed(runs: readonly RunSummary[], guesses: ReadonlyMap<string, Guess>): [string, string][] {
  const first = new Map<string, RunSummary>();
  const joined: [string, string][] = [];
  for (const run of [...runs].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const guess = guesses.get(run.id);
    if (guess === undefined) continue;
    const place = JSON.stringify([run.fn, guess.entity]);
    const known = first.get(place);
    if (known === undefined || run.createdAt - known.createdAt >= dayMs) first.set(place, run);
    else joined.push([run.id, known.id]);
  }
  return joined;
}
