// Whether the store is sound and whether everything open still moves.
import { isLoud } from "../model/entries.ts";
import { dayMs } from "../model/window.ts";
import type { Finding } from "../radar/finding.ts";
import { times } from "../radar/finding.ts";
import { type AlertFacts, wordsOf } from "../radar/found-alert.ts";
import { rollbackFinding, rollbackPairs } from "../radar/store-rollback.ts";
import { rollbackKind } from "../store/history.ts";
import type { Context, Reading } from "./command.ts";
import { examineFile } from "./examine-file.ts";
import { unusable } from "./exit.ts";
import { iso, relative } from "./times.ts";

// A worker takes up due work at once and a lost worker's within this time.
const overdueMs = 30_000;
const listMax = 1_000;
// As long as an alert stays open that nothing is added to.
const divergedMs = 7 * dayMs;
// Somebody alive may have been about to take it up.
const secondLookMs = 1_000;

/** The examination of the file or the server itself. */
export interface ExaminedPlace {
  readonly findings: readonly Finding[];
  readonly facts: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** The store's time. */
  readonly now: number;
  /** Somebody is there to take up what is due. */
  readonly isTakenUp: boolean;
  readonly whoTakesUp: string;
  /** Advice on runs that are stuck. */
  readonly nextFor: Readonly<Record<"run-without-job" | "lease-of-unknown-worker", string>>;
}

export interface Examined {
  readonly findings: readonly Finding[];
  readonly facts: Readonly<Record<string, string>>;
  /** Null where only an environment was asked about. */
  readonly bytes: number | null;
}

/** Findings about the whole store that everyone on it has to know. */
const ofEveryone: ReadonlySet<string> = new Set(["integrity", "owner-silent"]);

export async function examineHealth(context: Context, reading: Reading, isOfStore: boolean): Promise<Examined> {
  const { env, rows } = reading;
  const place = await examinePlace(context, reading);
  const { functions } = await reading.reads.functions(env);
  const counts = await reading.reads.counts(env);
  const ofPlace = isOfStore
    ? place.findings
    : place.findings.filter(({ kind }) => ofEveryone.has(kind)).map(withoutFacts);
  const findings: Finding[] = [...ofPlace, ...(await findRollbacks(reading))];
  const stuck = [
    ["run-without-job", "open without a job: nothing will take them up", await rows.runsWithoutJob(env, listMax)],
    [
      "lease-of-unknown-worker",
      "leased to a worker the store does not know",
      await rows.runsOfUnknownWorkers(env, listMax),
    ],
  ] as const;
  for (const [kind, what, runs] of stuck) {
    if (runs.length === 0) continue;
    findings.push({
      kind,
      level: "problem",
      title: `${times(runs.length, "run is", "runs are")} ${what}`,
      details: runs
        .slice(0, 5)
        .map(({ runId, fn, createdAt }) => `${runId} of "${reading.nameOf(fn)}", opened ${iso(createdAt)}`),
      next: place.nextFor[kind],
      facts: { runIds: runs.map(({ runId }) => runId) },
    });
  }
  findings.push(...(await findParked(reading, place.now)), ...(await findEnteredAgain(reading, place.now)));
  findings.push(...(await findDiverged(reading, place.now)));
  findings.push(...(await findOverdue(context, reading, place)), ...(await findWaiting(reading, place.now)));
  return {
    findings,
    bytes: isOfStore ? place.bytes : null,
    facts: {
      ...(isOfStore ? place.facts : {}),
      functions: String(functions.length),
      "open runs": `${counts.queued} queued, ${counts.running} running, ${counts.waiting} waiting, ${counts.parked} parked`,
    },
  };
}

/** Pages and rows of a damaged file are of any environment. */
const withoutFacts = (finding: Finding): Finding => ({ ...finding, details: [], facts: {} });

async function examinePlace(context: Context, reading: Reading): Promise<ExaminedPlace> {
  if (reading.place.kind === "file") return examineFile(context, reading.place);
  if (reading.place.kind === "elsewhere") {
    throw unusable(`${reading.place.where} is a server elsewhere: its store is examined beside it.`);
  }
  const { examineServer } = await import("./examine-server.ts");
  return examineServer(reading.place, await reading.reads.workers());
}

async function findParked(reading: Reading, now: number): Promise<Finding[]> {
  const runs = await reading.reads.runs(reading.env, { state: "parked", limit: listMax });
  if (runs.length === 0) return [];
  return [
    {
      kind: "parked",
      level: "problem",
      title: `${times(runs.length, "run is", "runs are")} parked for a person`,
      details: runs
        .slice(0, 5)
        .map(({ id, fn, parked }) =>
          parked === null
            ? `${id} of "${reading.nameOf(fn)}"`
            : `${id} of "${reading.nameOf(fn)}", ${relative(parked.at, now)}: ${parked.reason}`,
        ),
      next: "Mend what stopped them, then let them go on with idem release, or end them with idem cancel",
      facts: { runIds: runs.map(({ id }) => id) },
    },
  ];
}

/** Runs that lose their process again and again: soon they are parked, and until then they take others with them. */
async function findEnteredAgain(reading: Reading, now: number): Promise<Finding[]> {
  const open = await Promise.all(
    (["queued", "running", "waiting"] as const).map((state) =>
      reading.reads.runs(reading.env, { state, limit: listMax }),
    ),
  );
  const runs = open.flat().filter(({ lost }) => lost !== null && isLoud(lost.count));
  if (runs.length === 0) return [];
  return [
    {
      kind: "entered-again",
      level: "problem",
      title: `${times(runs.length, "run was", "runs were")} entered again and again without an outcome`,
      details: runs
        .slice(0, 5)
        .map(
          ({ id, fn, lost }) =>
            `${id} of "${reading.nameOf(fn)}": ${lost!.count} times in a row, the last worker was lost ${relative(lost!.at, now)}`,
        ),
      next: "Look for a step that ends its process (out of memory, process.exit) or keeps its event loop busy for minutes; idem run tells where it is",
      facts: { runIds: runs.map(({ id }) => id) },
    },
  ];
}

async function findOverdue(context: Context, reading: Reading, place: ExaminedPlace): Promise<Finding[]> {
  const { now } = place;
  const look = () => reading.rows.overdueRuns(reading.env, now, overdueMs, listMax);
  let runs = await look();
  if (runs.length > 0 && place.isTakenUp) {
    await new Promise<void>((resolve) => context.io.platform.timer(secondLookMs, resolve));
    const still = new Map((await look()).map(({ runId, fence }) => [runId, fence]));
    runs = runs.filter(({ runId, fence }) => still.get(runId) === fence);
  }
  const byFunction = new Map<string, (typeof runs)[number][]>();
  for (const run of runs) byFunction.set(run.fn, [...(byFunction.get(run.fn) ?? []), run]);
  return [...byFunction].map(([fn, overdue]) => {
    const oldest = overdue[0]!;
    return {
      kind: "no-worker",
      level: "problem",
      title: `No worker takes up "${reading.nameOf(fn)}": ${times(overdue.length, "due run")}`,
      details: [
        `the oldest, ${oldest.runId}, has been due since ${iso(oldest.dueSince)} (${relative(oldest.dueSince, now)})`,
        place.whoTakesUp,
      ],
      next: "Start the process that defines this function with idem.start(); if it was renamed, say what it was (docs/deploying.md); or cancel the runs with idem cancel",
      facts: { function: reading.nameOf(fn), count: overdue.length, runIds: overdue.map(({ runId }) => runId) },
    };
  });
}

/** Acknowledged writes that the store lost, until an operator has acknowledged the alert: however long ago it was. */
async function findRollbacks({ reads, env }: Reading): Promise<Finding[]> {
  const states = ["open", "muted"] as const;
  const alerts = await Promise.all(states.map((state) => reads.alerts(env, { state, fn: "", limit: listMax })));
  const rollbacks = alerts.flat().filter(({ kind }) => kind === rollbackKind);
  return Promise.all(
    rollbacks.map(async (alert) => {
      const pairs = await rollbackPairs(reads, env, alert.id);
      return rollbackFinding(alert, pairs, wordsOf({ ...alert, facts: JSON.parse(alert.facts) as AlertFacts }, ""));
    }),
  );
}

/** Functions whose runs did something new in place of a step that was done. */
async function findDiverged({ reads, env, nameOf }: Reading, now: number): Promise<Finding[]> {
  const alerts = await reads.alerts(env, { limit: listMax });
  return alerts
    .filter(({ kind, state, lastAt }) => kind === "diverged" && state !== "closed" && lastAt >= now - divergedMs)
    .map((alert): Finding => {
      const { fn, pairCount, firstAt, lastAt, subject } = alert;
      const { title, next } = wordsOf({ ...alert, facts: JSON.parse(alert.facts) as AlertFacts }, nameOf(fn));
      return {
        kind: "diverged",
        level: "problem",
        title,
        details: [
          `first ${iso(firstAt)}, last ${iso(lastAt)} (${relative(lastAt, now)}); the runs: idem radar ${alert.id}`,
        ],
        next,
        facts: { function: nameOf(fn), alertId: alert.id, count: pairCount, subject },
      };
    });
}

async function findWaiting(reading: Reading, now: number): Promise<Finding[]> {
  const waiting = await reading.rows.waitingRuns(reading.env, 20);
  if (waiting.length === 0) return [];
  const total = waiting.reduce((sum, { count }) => sum + count, 0);
  return [
    {
      kind: "waiting",
      level: "note",
      title: `${times(total, "wait")} of open runs`,
      details: waiting.map(
        ({ fn, kind, count, nextAt }) =>
          `"${reading.nameOf(fn)}": ${count} for ${kind === "time" ? "a time" : kind === "run" ? "another run" : `a${kind === "event" ? "n" : ""} ${kind}`}${nextAt === null || nextAt >= Number.MAX_SAFE_INTEGER ? "" : `, the first until ${iso(nextAt)} (${relative(nextAt, now)})`}`,
      ),
      next: null,
      facts: { waiting },
    },
  ];
}
