// Every batch of the hot path does for many calls what the operation in `rules` does for one. The calls are random, from the fixed seeds of
// proof/seeds.json. `npm run proof -- batches` tries other seeds, and `npm run proof -- mutants` plants defects.
//
//   IDEM_DIFFERENTIAL_SEED        the first seed
//   IDEM_DIFFERENTIAL_SEQUENCES   the number of sequences, one for each seed
//   IDEM_DIFFERENTIAL_ENGINE      a folder of built modules to test instead of the sources
//   IDEM_DIFFERENTIAL_COUNTS      set to print what the calls covered
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresDatabase, postgresDatabase } from "../../testing/shared-postgres.suite.ts";
import { BatchDifferential, type Failure } from "./batch-differential.suite.ts";
import type { openPostgresStore } from "./postgres-store.ts";
import { batchKinds } from "./random-calls.suite.ts";

interface Seeds {
  readonly from: number;
  readonly sequences: number;
  /** Seeds beyond them that failed once. */
  readonly failed: readonly number[];
}

const seedsFile = new URL("../../../../../proof/seeds.json", import.meta.url);
const fixed = (JSON.parse(readFileSync(seedsFile, "utf8")) as { readonly batches: Seeds }).batches;
const { IDEM_DIFFERENTIAL_SEED, IDEM_DIFFERENTIAL_SEQUENCES, IDEM_DIFFERENTIAL_ENGINE, IDEM_DIFFERENTIAL_COUNTS } =
  process.env;
const from = Number(IDEM_DIFFERENTIAL_SEED ?? fixed.from);
const sequences = Number(IDEM_DIFFERENTIAL_SEQUENCES ?? fixed.sequences);
const seeds = Array.from({ length: sequences }, (_, n) => from + n);
const isFixed = IDEM_DIFFERENTIAL_SEED === undefined && IDEM_DIFFERENTIAL_SEQUENCES === undefined;

/** Every kind of call that a batch takes, every result it may have, and every decision on an event. */
const covered = [
  ...batchKinds.flatMap((kind) => [`${kind} submitted alone`, `${kind} submitted with others`]),
  "saves: kept its lease",
  "saves: advance fenced",
  "saves: advance ended",
  "ends: ended",
  "ends: ended, woke others",
  "ends: advance fenced",
  "ends: advance ended",
  "ends: advance stale-registration",
  "suspensions: gave its lease back",
  "suspensions: kept its lease, has news",
  "suspensions: advance fenced",
  "suspensions: advance ended",
  "invokes: gave its lease back",
  "invokes: kept its lease, has news",
  "invokes: advance fenced",
  "invokes: advance ended",
  "invokes: advance stale-registration",
  "resumes: resumed",
  "resumes: resumed nobody",
  "resumes: resume fenced",
  "ingests: ingest ingested",
  "ingests: ingest stale-registration",
  "reads: run",
  "reads: waitPaths",
  "reads: waitCandidates",
  "reads: cancelCandidates",
  "decision: started",
  "decision: duplicate-event",
  "decision: duplicate-key",
  "decision: held",
  "decision: batched",
  "decision: debounced",
  "decision: rate-limited",
  "decision: singleton-skipped",
  "single: lease",
  "single: sweep",
  "single: handBack",
  "single: cancel cancelled",
  "single: signal resumed",
  "single: rerun started",
];

let database: PostgresDatabase;
let differential: BatchDifferential;
beforeAll(async () => {
  const folder = IDEM_DIFFERENTIAL_ENGINE;
  const store =
    folder === undefined ? "./postgres-store.ts" : pathToFileURL(join(folder, "store/postgres/postgres-store.js")).href;
  const module = (await import(/* @vite-ignore */ store)) as { openPostgresStore: typeof openPostgresStore };
  database = await postgresDatabase();
  differential = await BatchDifferential.open({ url: database.url, open: module.openPostgresStore });
});
afterAll(async () => {
  await differential.close();
  await database.remove();
});

test("random calls have the same results and leave the same rows in batches and one at a time", {
  // Ten times what a sequence takes.
  timeout: 120_000 + sequences * 1_000,
}, async () => {
  for (const seed of isFixed ? [...seeds, ...fixed.failed] : seeds) {
    const failure = await differential.run(seed);
    if (failure !== null) expect.fail(messageOf(failure));
  }
  if (IDEM_DIFFERENTIAL_COUNTS !== undefined) console.log(countsText(differential.counts));
  if (isFixed) expect(covered.filter((name) => !differential.counts.has(name))).toEqual([]);
});

const messageOf = ({ seed, group, call, difference, story }: Failure): string =>
  [
    `Seed ${seed}: batch and operation differ at call ${call} (group ${group}), ${difference.at}`,
    `  batch:     ${shown(difference.batched)}`,
    `  operation: ${shown(difference.single)}`,
    `Repeat this sequence alone: IDEM_DIFFERENTIAL_SEED=${seed} IDEM_DIFFERENTIAL_SEQUENCES=1 npx vitest run --project idem packages/idem/src/store/postgres/batches-equal-operations.test.ts`,
    "The shortest beginning of it that differs:",
    ...story,
  ].join("\n");

const countsText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .map(([name, count]) => `${name}: ${count}`)
    .sort()
    .join("\n");

const shown = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
