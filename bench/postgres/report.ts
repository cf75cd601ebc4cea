// The results for people.
import { count, ms, times } from "../peers/summary.ts";
import { printRows, type Row } from "../take-figures.ts";
import type { HotKeys } from "./hot-keys.ts";
import type { KindCosts } from "./kinds.ts";
import type { Measured } from "./measured.ts";
import { type Beside, middleOf, type Results, type Stored } from "./results.ts";

// The build before it alone makes about half of one.
const busyLoad = 1.5;

export function printReport(results: Results): void {
  const { machine, settings, options, beside, kinds, hotKeys, stored, profile, held } = results;
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, PostgreSQL ${settings.server_version}, ${machine.commit}, ${machine.takenAt}`,
  );
  console.log(
    `A run is an event with a caller's id and a function key, three saved steps, result out; fsync and synchronous_commit on.
Medians of ${options.rounds} rounds of ${options.windowMs / 1_000} s; ratios are taken within a round.${options.isQuick ? " A QUICK LOOK: do not publish." : ""}\n`,
  );
  if (options.loadBefore > busyLoad)
    console.log(
      `THE MACHINE WAS BUSY (load ${options.loadBefore.toFixed(1)}) before this began: take costs per run from it, no speeds.\n`,
    );
  printRows([...(beside === undefined ? [] : besideRows(beside)), ...(stored === undefined ? [] : storedRows(stored))]);
  if (beside !== undefined) {
    printCosts("Idem, one process", middleOf(beside.rounds.map(({ one }) => one)));
    printCosts("Idem, two processes", middleOf(beside.rounds.map(({ two }) => two)));
    const dbos = beside.rounds.flatMap(({ dbos }) => dbos ?? []);
    if (dbos.length > 0) printCosts("DBOS", middleOf(dbos));
  }
  if (kinds !== undefined) printKinds(kinds);
  if (hotKeys !== undefined) printHotKeys(hotKeys);
  if (stored !== undefined)
    printCosts(`Idem, ${count(stored.filled.many.runs)} runs stored`, middleOf(stored.rounds.map(({ many }) => many)));
  if (profile !== undefined) printProfile(profile);
  if (held !== undefined) printHeld(held);
}

function printKinds(kinds: readonly KindCosts[]): void {
  console.log(
    "\n| runs that | runs/s | beside plain (aim ≥ 0.5) | processor time a run, Node and PostgreSQL | statements, round trips a run |",
  );
  console.log("| --- | --- | --- | --- | --- |");
  for (const { kind, perSecond, ratio, nodeUs, postgresUs, statements, roundTrips } of kinds) {
    const server = postgresUs === null ? "–" : `${count(postgresUs.median)} µs`;
    const asked = `${statements.median.toFixed(1)}, ${roundTrips.median.toFixed(1)}`;
    console.log(
      `| ${kind} | ${count(perSecond.median)} | ${ratio.median.toFixed(2)} | ${count(nodeUs.median)} µs, ${server} | ${asked} |`,
    );
  }
}

function printHotKeys(hotKeys: readonly HotKeys[]): void {
  console.log(
    "\n| events, accepted and not executed | distinct keys, events/s | one key, events/s (ratio, aim) | one event id, events/s (ratio) | statements an event |",
  );
  console.log("| --- | --- | --- | --- | --- |");
  for (const { name, aim, uses } of hotKeys) {
    const { distinct, "one-key": key, "one-id": id } = uses;
    const rate = ({ eventsPerSecond }: typeof key) => count(eventsPerSecond.median);
    const ratio = ({ ratio }: typeof key) => ratio.median.toFixed(2);
    const statements = [distinct, key, id].map((use) => use.statements.median.toFixed(2)).join(", ");
    console.log(
      `| ${name} | ${rate(distinct)} | ${rate(key)} (${ratio(key)}, aim ≥ ${aim}) | ${rate(id)} (${ratio(id)}) | ${statements} |`,
    );
  }
}

function besideRows({ standings, ratios }: Beside): Row[] {
  const { one, alone, two, dbos, dbosAlone } = standings;
  const rate = (of: typeof one): string => (of === undefined ? "–" : count(of.perSecond.median));
  const wait = (of: typeof one): string => (of === undefined ? "–" : `${ms(of.p50Ms.median)} / ${ms(of.p99Ms.median)}`);
  const ratio = (of: { readonly median: number } | undefined): string => (of === undefined ? "–" : times(of.median));
  return [
    ["Idem, one process, 100 in flight, runs/s", rate(one), `${ratio(ratios.oneToDbos)} DBOS (aim ≥ 5, goal 10)`],
    ["  p50 / p99 ms", wait(one), ""],
    [
      "Idem, two processes, 100 in flight each, runs/s",
      rate(two),
      `${ratio(ratios.twoToOne)} one process, ${ratio(ratios.twoToDbos)} DBOS`,
    ],
    ["  p50 / p99 ms", wait(two), ""],
    ["DBOS, one process, 100 in flight, runs/s", rate(dbos), ""],
    ["  p50 / p99 ms", wait(dbos), ""],
    ["Idem, one at a time, p50 / p99 ms", wait(alone), `DBOS's p50 is ${ratio(ratios.aloneP50)} Idem's (aim ≥ 1)`],
    ["DBOS, one at a time, p50 / p99 ms", wait(dbosAlone), ""],
  ];
}

function storedRows({ filled, few, many, ratio }: Stored): Row[] {
  return [
    [`after ${count(filled.few.runs)} stored runs, runs/s`, count(few.perSecond.median), ""],
    [
      `after ${count(filled.many.runs)} stored runs, runs/s`,
      count(many.perSecond.median),
      `${ratio.median.toFixed(2)} of that (aim ≥ 0.9)`,
    ],
    ["bytes per stored run, tables and indexes", count(filled.many.bytesPerRun), filled.many.how],
  ];
}

function printCosts(title: string, { perSecond, nodeUs, postgresUs, loopBusy, waits, costs }: Measured): void {
  console.log(`\n${title}: per run, at ${count(perSecond)} runs/s`);
  const us = (value: number): string => `${count(value)} µs`;
  const server = Object.entries(postgresUs ?? {}).filter(([kind, value]) => kind !== "all" && value >= 1);
  console.log(
    `  processor time   Node ${us(nodeUs)} (its event loop busy ${Math.round(loopBusy * 100)} %), PostgreSQL ${postgresUs === null ? "unknown" : us(postgresUs.all!)}${
      server.length === 0 ? "" : ` (${server.map(([kind, value]) => `${kind} ${count(value)}`).join(", ")})`
    }`,
  );
  console.log(
    `  commits          ${costs.commits.toFixed(2)}, rollbacks ${costs.rollbacks.toFixed(3)}, syncs of the log ${costs.walSyncs.toFixed(2)}`,
  );
  console.log(
    `  log              ${count(costs.walBytes)} bytes in ${costs.walRecords.toFixed(1)} records, ${costs.walPageImages.toFixed(2)} whole pages`,
  );
  console.log(`  stored           ${count(costs.storedBytes)} bytes, ${costs.rowWrites.toFixed(1)} row writes`);
  for (const [table, each] of Object.entries(costs.tables)) {
    const writes = [
      each.inserted >= 0.01 ? `${each.inserted.toFixed(2)} inserted` : "",
      each.updated >= 0.01
        ? `${each.updated.toFixed(2)} updated (${Math.round((each.hot / each.updated) * 100)} % in place)`
        : "",
      each.deleted >= 0.01 ? `${each.deleted.toFixed(2)} deleted` : "",
    ].filter((text) => text !== "");
    console.log(
      `    ${table.padEnd(26)} ${count(each.heapBytes).padStart(6)} + ${count(each.indexBytes).padStart(5)} bytes of index  ${writes.join(", ")}`,
    );
  }
  console.log("  sessions, on average");
  for (const [what, mean] of Object.entries(waits)) console.log(`    ${mean.toFixed(2).padStart(6)}  ${what}`);
}

function printProfile({ statements, statementUs }: NonNullable<Results["profile"]>): void {
  console.log(`\nStatements of Idem, one process: ${count(statementUs)} µs per run in all, waits inside them included`);
  console.log("   µs/run  calls/run  µs/call  log bytes/run");
  for (const { text, usPerRun, callsPerRun, usPerCall, walBytesPerRun } of statements) {
    console.log(
      `  ${count(usPerRun).padStart(7)}  ${callsPerRun.toFixed(2).padStart(9)}  ${count(usPerCall).padStart(7)}  ${count(walBytesPerRun).padStart(13)}  ${text.slice(0, 90)}`,
    );
  }
}

function printHeld({ slices, sliceSeconds, leftOfThroughput, leaseTimes }: NonNullable<Results["held"]>): void {
  console.log(
    `\nThe queue (one process sends, one executes) in slices of ${sliceSeconds} s, while another session holds a transaction open:
${leftOfThroughput.toFixed(2)} of the jobs/s left at the end, leases ${times(leaseTimes)} as long`,
  );
  console.log("          jobs/s  lease p50 / p99 ms  leases (empty)  jobs table MB");
  for (const slice of slices) {
    const lease = `${slice.leaseP50Ms.toFixed(1)} / ${slice.leaseP99Ms.toFixed(1)}`;
    console.log(
      `  ${slice.when.padEnd(6)}  ${count(slice.jobsPerSecond).padStart(6)}  ${lease.padStart(18)}  ${`${slice.leases} (${slice.emptyLeases})`.padStart(14)}  ${slice.jobsTableMb.toFixed(1).padStart(13)}`,
    );
  }
}
