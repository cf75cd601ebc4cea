// Reads on the path of many runs: which of them an event reaches, and how a run stands that somebody waits for. Asked together they are one
// statement; none is answered from what was read before it was asked. None is refused, as none is on SQLite: a program may wait for twenty
// thousand runs at once, and each of these waits is held by its caller anyway.
import type { Platform } from "../../platform/platform.ts";
import type { CancelCandidate } from "../flow.ts";
import type { StoreReads } from "../reads.ts";
import { type EventRow, eventColumns, type RunRow, readEvent, readRun, runColumns } from "../rows.ts";
import { allProbes, type Probe, type WaitCandidateRow } from "../rules/reads.ts";
import type { WaitCandidate } from "../waits.ts";
import { Batches } from "./batches.ts";
import type { Connection } from "./connection.ts";
import { indexable } from "./text.ts";
import { inEnv } from "./transaction.ts";
import type { Transactions } from "./transactions.ts";

const givenEvents = `
  from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:events as text[]), cast(:paths as text[]), cast(:values as text[]))
    as given (n, env, event_id, path, value)
 cross join lateral (select env, name, stamp, received_at from events where env = given.env and id = given.event_id limit 1) received`;

// "offset 0" has the waits of each probe looked up by all that is known of them, also before the table has statistics.
const waitCandidatesSql = `
  select given.n, w.run_id, w.step_id, w.rest, ${eventColumns} ${givenEvents}
   cross join lateral (select run_id, step_id, rest, stamp from waits
                        where env = received.env and event_name = received.name and path = given.path
                          and value = given.value and stamp < received.stamp offset 0) w
   cross join lateral (select event_id from runs where env = received.env and id = w.run_id limit 1) r
   cross join lateral (select * from events where env = received.env and id = r.event_id limit 1) e
   order by w.stamp`;

const cancelCandidatesSql = `
  select given.n, c.run_id, c.rest, ${eventColumns} ${givenEvents}
   cross join lateral (select run_id, rest from cancels
                        where env = received.env and event_name = received.name and path = given.path
                          and value = given.value and stamp < received.stamp
                          and (ends_at is null or ends_at > received.received_at) offset 0) c
   cross join lateral (select event_id from runs where env = received.env and id = c.run_id limit 1) r
   cross join lateral (select * from events where env = received.env and id = r.event_id limit 1) e`;

const runsSql = `
  select given.n, ${runColumns}
    from unnest(cast(:ns as int[]), cast(:envs as text[]), cast(:ids as text[])) as given (n, env, of_run)
   cross join lateral (select * from runs where env = given.env and id = given.of_run limit 1) r
    left join lateral (select * from jobs where env = given.env and id = given.of_run limit 1) j on true`;

type HotReads = Pick<StoreReads, "run" | "waitPaths" | "waitCandidates" | "cancelCandidates">;

interface Probed {
  readonly env: string;
  readonly eventId: string;
  readonly probes: readonly Probe[];
}

interface Named {
  readonly env: string;
  readonly name: string;
}

/** `reads`: the same, each by itself. */
export function hotReads(
  reads: StoreReads,
  connection: Connection,
  transactions: Transactions,
  platform: Pick<Platform, "soon">,
): HotReads {
  const batches = <I, A>(together: (inputs: readonly I[]) => Promise<readonly A[]>, alone: (input: I) => Promise<A>) =>
    new Batches<I, A>(platform, (inputs) => transactions.untilKnown(() => together(inputs)), alone);

  const runs = batches<Named, Awaited<ReturnType<HotReads["run"]>>>(
    async (inputs) => {
      const rows = await connection.find<RunRow & { n: number }>(runsSql, {
        ns: inputs.map((_, n) => n),
        envs: inputs.map(({ env }) => env),
        ids: inputs.map(({ name }) => name),
      });
      const found = new Map(rows.map((row) => [row.n, row]));
      return inputs.map((_, n) => (found.has(n) ? readRun(found.get(n)!) : null));
    },
    ({ env, name }) => reads.run(env, name),
  );
  const paths = batches<Named, readonly string[]>(
    async (inputs) => {
      // Events that come together often have one name.
      const names = new Map(inputs.map((input) => [inEnv(input.env, input.name), input]));
      const found = await Promise.all([...names.values()].map(({ env, name }) => reads.waitPaths(env, name)));
      const pathsOf = new Map([...names.keys()].map((name, i) => [name, found[i]!]));
      return inputs.map(({ env, name }) => pathsOf.get(inEnv(env, name))!);
    },
    ({ env, name }) => reads.waitPaths(env, name),
  );
  const waits = batches<Probed, readonly WaitCandidate[]>(
    async (inputs) => {
      const lists = inputs.map((): WaitCandidate[] => []);
      for (const row of await waitCandidatesOf(connection, inputs)) {
        lists[row.n]!.push({ runId: row.run_id, stepId: row.step_id, rest: row.rest, event: readEvent(row) });
      }
      return lists;
    },
    ({ env, eventId, probes }) => reads.waitCandidates(env, eventId, probes),
  );
  const cancels = batches<Probed, readonly CancelCandidate[]>(
    async (inputs) => {
      type Row = EventRow & { n: number; run_id: string; rest: string | null };
      const rows = await connection.find<Row>(cancelCandidatesSql, probesOf(inputs));
      const lists = inputs.map((): CancelCandidate[] => []);
      for (const row of rows) lists[row.n]!.push({ runId: row.run_id, rest: row.rest, event: readEvent(row) });
      return lists;
    },
    ({ env, eventId, probes }) => reads.cancelCandidates(env, eventId, probes),
  );
  return {
    run: (env, runId) => runs.call({ env, name: runId }),
    waitPaths: (env, eventName) => paths.call({ env, name: eventName }),
    waitCandidates: (env, eventId, probes) => waits.call({ env, eventId, probes }),
    cancelCandidates: (env, eventId, probes) => cancels.call({ env, eventId, probes }),
  };
}

/** The waits that each event may end, in the order in which they began; `n` is its place among those asked for. */
export const waitCandidatesOf = (
  connection: Connection,
  inputs: readonly Probed[],
): Promise<(WaitCandidateRow & { readonly n: number })[]> => connection.find(waitCandidatesSql, probesOf(inputs));

/** A row for each event and each of what is looked up for it. */
function probesOf(inputs: readonly Probed[]) {
  const all = inputs.flatMap(({ env, eventId, probes }, n) =>
    allProbes(probes).map(({ path, value }) => ({ n, env, eventId, path, value })),
  );
  return {
    ns: all.map(({ n }) => n),
    envs: all.map(({ env }) => env),
    events: all.map(({ eventId }) => eventId),
    paths: all.map(({ path }) => path),
    values: all.map(({ value }) => indexable(value)),
  };
}
