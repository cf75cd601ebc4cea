// Whether a PostgreSQL server keeps what it acknowledges, and clears away what nobody needs any more.
import { type Finding, instant, span, times } from "../radar/finding.ts";
import { fault, type Settings } from "../store/postgres/check-server.ts";
import { checkIntegrity, readServerFacts, type ServerFacts } from "../store/postgres/health-reads.ts";
import type { RecognisedServer } from "../store/postgres/recognise-server.ts";
import {
  type OldTransaction,
  oldTransactions,
  readServerState,
  type ServerState,
} from "../store/postgres/server-reads.ts";
import { quoted } from "../store/postgres/statement.ts";
import type { WorkerRow } from "../store/sharing.ts";
import type { ServerPlace } from "./command.ts";
import type { ExaminedPlace } from "./examine-health.ts";
import { bytes } from "./times.ts";

// From here on leases get slower by the minute: every one walks over the rows that cannot be cleared away.
const transactionMsMax = 60_000;
// Autovacuum clears the queue away at 2,000; this many means that it does not come, or may not.
const deadJobsMax = 50_000;
// An open queue of so much space per row is mostly holes.
const jobsBytesMax = 256 * 1024 * 1024;
const bytesPerJobMax = 20_000;
const sessionsShareMax = 0.8;
const naptimeMsMax = 15_000;
const listMax = 5;

/** The facts to judge; each part is read from the server. */
export interface ServerReadings {
  readonly schema: string;
  readonly settings: Settings;
  readonly server: RecognisedServer;
  readonly facts: ServerFacts;
  readonly state: ServerState;
  readonly wrong: readonly string[];
  /** The oldest first. */
  readonly transactions: readonly OldTransaction[];
  /** Those that are alive. */
  readonly nodes: readonly Pick<WorkerRow, "startedAt">[];
}

export async function examineServer(place: ServerPlace, workers: readonly WorkerRow[]): Promise<ExaminedPlace> {
  const { connection, schema, settings, server, untilKnown } = place;
  // Before the others: their sessions are not to be found among the open ones.
  const transactions = await untilKnown(() => oldTransactions(connection, listMax));
  const [facts, state, wrong] = await untilKnown(() =>
    Promise.all([
      readServerFacts(connection, schema),
      readServerState(connection, schema),
      checkIntegrity(connection, schema),
    ]),
  );
  const { now } = state;
  const alive = workers.filter(({ isDead, until }) => !isDead && until > now);
  const leased = alive.reduce((sum, worker) => sum + worker.leased, 0);
  const nodes = times(alive.length, "node is", "nodes are");
  return {
    findings: judgeServer({ schema, settings, server, facts, state, wrong, transactions, nodes: alive }),
    bytes: facts.bytes,
    now,
    isTakenUp: alive.length > 0,
    whoTakesUp: alive.length === 0 ? "no node is alive" : `${nodes} alive and none takes them: idem nodes lists them`,
    nextFor: {
      "run-without-job": "Restart a node: its housekeeping gives such runs a job; report it, it is a defect of Idem",
      "lease-of-unknown-worker": `Report it, it is a defect of Idem. This gives them back: update ${quoted(schema)}.jobs set leased_by = null, fence = fence + 1 where leased_by not in (select id from ${quoted(schema)}.workers)`,
    },
    facts: {
      integrity: wrong.length === 0 ? "ok (indexes valid, no checksum failed)" : "damaged",
      "schema version": `${place.schemaVersion} in schema "${schema}"`,
      server: `${server.kind === "PostgreSQL" ? "" : `${server.kind}, `}PostgreSQL ${facts.version}${settings.in_recovery ? ", in recovery" : ""}`,
      durability: `fsync ${settings.fsync}, full_page_writes ${settings.full_page_writes}, synchronous_commit ${settings.synchronous_commit}`,
      standbys: standbysText(state),
      queue: `${bytes(state.jobsBytes)}, ${times(state.liveJobs, "row")}, ${facts.deadJobs} dead`,
      "oldest transaction": oldestText(state, transactions),
      sessions: `${state.sessions} of ${facts.sessionsMax}`,
      autovacuum: `${state.autovacuum}, every ${span(state.autovacuumNaptimeMs)}`,
      nodes: `${alive.length} alive with ${times(leased, "lease")}`,
    },
  };
}

function standbysText({ standbys, synchronousStandbys }: ServerState): string {
  const names = synchronousStandbys === "" ? "" : `, synchronous_standby_names ${synchronousStandbys}`;
  return standbys === 0 ? `none connected${names}` : `${standbys} connected${names === "" ? ", asynchronous" : names}`;
}

function oldestText({ seesAll }: ServerState, [oldest]: readonly OldTransaction[]): string {
  const age = oldest === undefined ? "none open" : span(oldest.ageMs);
  return seesAll ? age : `${age}, among this role's own sessions; pg_monitor lets it see the others'`;
}

export function judgeServer(readings: ServerReadings): Finding[] {
  const { schema, settings, server, facts, state, wrong, transactions, nodes } = readings;
  const findings: Finding[] = [];
  const refused = server.refusal ?? fault(settings);
  if (refused !== null) {
    findings.push({
      kind: "server-refused",
      level: "problem",
      title: `No node starts on this server: ${refused}`,
      details: [],
      next: "Set it right for the whole server; a node that started before keeps going on a server that may lose what it acknowledged",
      facts: { settings },
    });
  }
  if (server.refusal === null && server.note !== null) {
    findings.push({
      kind: "server-only-alike",
      level: "note",
      title: `It is not only PostgreSQL: ${server.note}`,
      details: [],
      next: "Read what holds there: docs/postgres-distributed.md",
      facts: { kind: server.kind },
    });
  }
  if (wrong.length > 0) {
    findings.push({
      kind: "integrity",
      level: "problem",
      title: "The database is damaged",
      details: wrong,
      next: "Make broken indexes anew with reindex index concurrently; after a failed checksum stop the nodes and go back to the last backup",
      facts: { wrong },
    });
  }
  const { standbysDroppedAt } = state;
  // Nodes that were started since were started on a server as it is: their log said so.
  const isDropped = standbysDroppedAt !== null && nodes.some(({ startedAt }) => startedAt < standbysDroppedAt);
  if (isDropped && state.synchronousStandbys === "") {
    findings.push({
      kind: "standbys-dropped",
      level: "problem",
      title: `synchronous_standby_names has been empty since ${instant(standbysDroppedAt)}, while nodes run: commits no longer wait for a standby`,
      details: ["A failover loses what was acknowledged since: the standby may not have it."],
      next: "Set synchronous_standby_names again (docs/postgres.md#failover); if it is meant to be empty, restart the nodes",
      facts: { since: standbysDroppedAt, standbys: state.standbys },
    });
  } else if (state.standbys > 0 && state.synchronousStandbys === "") {
    findings.push({
      kind: "asynchronous-failover",
      level: "note",
      title: `${times(state.standbys, "standby follows", "standbys follow")} asynchronously: a failover loses what was acknowledged last`,
      details: ["Steps that were recorded run again then, and keys that were taken are free again."],
      next: "Name the standby that takes over in synchronous_standby_names (docs/postgres.md); one that is only read from may stay as it is",
      facts: { standbys: state.standbys },
    });
  } else if (state.synchronousStandbys !== "" && ["local", "off"].includes(settings.synchronous_commit)) {
    findings.push({
      kind: "asynchronous-failover",
      level: "note",
      title: `synchronous_commit is ${settings.synchronous_commit}: commits do not wait for the synchronous standby`,
      details: [],
      next: "Set synchronous_commit to on for this role and database",
      facts: { synchronousCommit: settings.synchronous_commit },
    });
  }
  const old = transactions.filter(({ ageMs }) => ageMs > transactionMsMax);
  if (old.length > 0) {
    findings.push({
      kind: "old-transaction",
      level: "problem",
      title: `A transaction has been open for ${span(old[0]!.ageMs)}: no row that was deleted since can be cleared away`,
      details: old.map(describeTransaction),
      next: "End it: select pg_terminate_backend(<pid>), or rollback prepared; idle_in_transaction_session_timeout ends such sessions by itself",
      facts: { transactions: old },
    });
  }
  if (facts.deadJobs > deadJobsMax) {
    findings.push({
      kind: "queue-bloat",
      level: "problem",
      title: `The queue has ${facts.deadJobs} dead rows beside ${times(state.liveJobs, "living one")}`,
      details: [`${bytes(state.jobsBytes)} with its indexes; every lease walks over them`],
      next: `End the oldest transaction, if there is one, then: vacuum (analyze) ${quoted(schema)}.jobs`,
      facts: { deadJobs: facts.deadJobs, liveJobs: state.liveJobs, jobsBytes: state.jobsBytes },
    });
  } else if (state.jobsBytes > jobsBytesMax && state.jobsBytes > bytesPerJobMax * (state.liveJobs + facts.deadJobs)) {
    findings.push({
      kind: "queue-grown",
      level: "note",
      title: `The queue takes ${bytes(state.jobsBytes)} for ${times(state.liveJobs, "row")}: it has grown once and does not shrink by itself`,
      details: [],
      next: `In a quiet moment: vacuum (full) ${quoted(schema)}.jobs; nodes wait meanwhile`,
      facts: { jobsBytes: state.jobsBytes, liveJobs: state.liveJobs },
    });
  }
  const usable = facts.sessionsMax - state.sessionsReserved;
  if (state.sessions > usable * sessionsShareMax) {
    findings.push({
      kind: "sessions-scarce",
      level: "problem",
      title: `${state.sessions} of ${usable} sessions are in use`,
      details: [
        "A node holds up to its pool and one more; a node that finds none waits and then says that the store is unavailable.",
      ],
      next: "Raise max_connections, lower ?pool=, or put a transaction pooler between (?pooler=true)",
      facts: { sessions: state.sessions, usable },
    });
  }
  if (state.autovacuum !== "on") {
    findings.push({
      kind: "autovacuum-off",
      level: "problem",
      title: "autovacuum is off: the queue's dead rows are never cleared away",
      details: [],
      next: "Set autovacuum = on",
      facts: {},
    });
  } else if (state.autovacuumNaptimeMs > naptimeMsMax) {
    findings.push({
      kind: "autovacuum-rare",
      level: "note",
      title: `autovacuum looks every ${span(state.autovacuumNaptimeMs)}; a busy queue wants it every 10 s`,
      details: [],
      next: "Set autovacuum_naptime = '10s' and reload the server",
      facts: { autovacuumNaptimeMs: state.autovacuumNaptimeMs },
    });
  }
  return findings;
}

function describeTransaction({ pid, role, application, state, ageMs }: OldTransaction): string {
  const who = [role, application].filter((word) => word !== null && word !== "").join(", ");
  return `${state === "prepared" ? "prepared transaction" : `pid ${pid}`} (${who}): ${state ?? "unknown"} for ${span(ageMs)}`;
}
