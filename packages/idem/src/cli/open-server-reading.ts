// A PostgreSQL store opened for reading, beside whatever nodes there are. Nothing is made, migrated or written.
import { errors, IdemError } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Rows } from "../radar/finding.ts";
import { loadDriver } from "../sdk/open-store.ts";
import { wordsOf } from "../store/postgres/faults.ts";
import {
  historyOf,
  overdueRuns,
  runsOfUnknownWorkers,
  runsWithoutJob,
  waitingRuns,
} from "../store/postgres/health-reads.ts";
import { countPrunable } from "../store/postgres/prune-events.ts";
import { openReadOnlyStore, type ReadOnlyStore } from "../store/postgres/read-only-store.ts";
import { commandName, type Opened } from "./open-reading.ts";
import type { ToolReads } from "./tool-reads.ts";

export async function openServerReading(url: string, platform: Platform): Promise<Opened> {
  const { store, ...place } = await openReadOnlyStore({
    url,
    pg: await loadDriver(url),
    platform,
    owner: commandName(),
  });
  return { store, place: { kind: "server", ...place }, rows: toolReadsOfServer(place) };
}

function toolReadsOfServer({ connection, untilKnown }: Omit<ReadOnlyStore, "store">): ToolReads {
  const history = historyOf(connection);
  return {
    functionsWithRuns: (env) => untilKnown(() => history.functionsWithRuns(env)),
    openedRuns: (env, fn, since) => orUnavailable(history.openedRuns(env, fn, since)),
    receivedEvents: (env, since) => orUnavailable(history.receivedEvents(env, since)),
    suppressedEvents: (env, since) => orUnavailable(history.suppressedEvents(env, since)),
    eventsAfter: (env, after, limit) => untilKnown(() => history.eventsAfter(env, after, limit)),
    runsWithoutJob: (env, limit) => untilKnown(() => runsWithoutJob(connection, env, limit)),
    runsOfUnknownWorkers: (env, limit) => untilKnown(() => runsOfUnknownWorkers(connection, env, limit)),
    overdueRuns: (env, now, forMs, limit) => untilKnown(() => overdueRuns(connection, env, now, forMs, limit)),
    waitingRuns: (env, limit) => untilKnown(() => waitingRuns(connection, env, limit)),
    countPrunable: (input, now) => untilKnown(() => countPrunable(connection, input, now)),
  };
}

/** Rows that were half read are not read again: what was made of them would count some twice. */
async function* orUnavailable<Row>(rows: Rows<Row>): AsyncGenerator<Row> {
  try {
    yield* rows;
  } catch (error) {
    if (error instanceof IdemError) throw error;
    throw errors.STORE_UNAVAILABLE({ why: wordsOf(error) });
  }
}
