// The results for people.
import { count } from "../peers/summary.ts";
import { printRows, type Row } from "../take-figures.ts";
import type { Results, Standing } from "./results.ts";
import type { Waves } from "./waves.ts";

// The build before it alone makes about half of one.
const busyLoad = 1.5;

/** Measured of the design before it was built (PostgreSQL 15, 2 cores, 16 connections); missing figures were not measured. */
const reference = {
  postgres: { one: "1,356/s, p50 0.70 ms", many: "3,564/s", hot: "10,400/s, and 14,000/s for a bare select" },
  sqlite: { one: "3,480/s", many: "", hot: "" },
};

export function printReport({ machine, settings, options, sqlite, postgres }: Results): void {
  const versions = [sqlite?.versions, postgres?.versions].filter((version) => version !== undefined).join(", ");
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, ${versions}, ${machine.commit}, ${machine.takenAt}`,
  );
  console.log(
    `In process, without sockets unless it says Express; an answer of 500 bytes; 16 sessions of PostgreSQL (fsync ${settings.fsync ?? "–"}, synchronous_commit
${settings.synchronous_commit ?? "–"}), one connection of SQLite (WAL, synchronous=FULL). Medians of ${options.rounds} rounds, ${options.windowMs / 1_000} s for each figure; ratios and what
is added are taken within a round. Processor time is this process's, with what asks.${options.isQuick ? " A QUICK LOOK: do not publish." : ""}`,
  );
  if (options.loadBefore > busyLoad)
    console.log(
      `THE MACHINE WAS BUSY (load ${options.loadBefore.toFixed(1)}) before this began: take costs per request from it, no speeds.`,
    );
  if (sqlite !== undefined) printStanding("SQLite", sqlite, reference.sqlite, "commits");
  if (postgres !== undefined) printStanding("PostgreSQL", postgres, reference.postgres, "round trips");
}

function printStanding(
  name: string,
  standing: Standing,
  numbers: (typeof reference)["sqlite"],
  asked: "commits" | "round trips",
): void {
  const row = rowsOf(standing);
  const variants = "alone-prepared-1" in standing.figures ? ["", "-prepared"] : [""];
  console.log(`\n${name}${variants.length > 1 ? "; prepared: pgAdapter(pool, { prepare: true })" : ""}`);
  const hotAim = name === "PostgreSQL" ? "aim ≥ 10,000/s" : "";
  const each = (of: (variant: string, label: string) => (Row | null)[]): (Row | null)[] =>
    variants.flatMap((variant) => of(variant, variant === "" ? "" : ", prepared"));
  printRows(
    [
      row("the handler alone, 1 in flight", "alone-1"),
      row("the handler alone, 16 in flight", "alone-16"),
      ...each((variant, label) => [
        row(`fresh${label}, 1 in flight`, `fresh${variant}-1`, addedTo(standing, `fresh${variant}-1`)),
        row(`fresh${label}, 16 in flight`, `fresh${variant}-16`, addedTo(standing, `fresh${variant}-16`)),
        row(`replay${label}, 1 in flight`, `replay${variant}-1`, addedTo(standing, `replay${variant}-1`)),
        row(`replay${label}, 16 in flight`, `replay${variant}-16`, addedTo(standing, `replay${variant}-16`)),
      ]),
      ...each((variant, label) => [
        row(`one hot key${label}, 16 in flight`, `hot${variant}-16`, hotAim),
        row(`one hot key${label}, 100 in flight`, `hot${variant}-100`, hotAim),
      ]),
      row("one hot key, replay cache of this process", "hot-cached", "no database is asked"),
      row("order without a key, 1 in flight", "order-alone-1", "a transaction with one insert"),
      row("order and key in one transaction, 1 in flight", "order-fresh-1", ratioOf(standing, "order-fresh-1")),
      row("order without a key, 16 in flight", "order-alone-16"),
      row("order and key in one transaction, 16 in flight", "order-fresh-16", ratioOf(standing, "order-fresh-16")),
      row("  its replay, 1 in flight", "order-replay-1"),
      row("  its replay, 16 in flight", "order-replay-16"),
      row("  one hot key, 16 in flight", "order-hot-16"),
      ...each((variant, label) => [
        row(
          `claim + complete${label}, 1 in flight`,
          `claim-complete${variant}-1`,
          against(standing, `claim-complete${variant}-1`, numbers.one),
        ),
        row(
          `claim + complete${label}, 16 in flight`,
          `claim-complete${variant}-16`,
          against(standing, `claim-complete${variant}-16`, numbers.many),
        ),
        row(
          `claim of a taken key${label}, 16 in flight`,
          `claim-hot${variant}-16`,
          against(standing, `claim-hot${variant}-16`, numbers.hot),
        ),
      ]),
      row("Express over sockets, without a key, 16 in flight", "express-alone-16", "its own process"),
      row("Express, fresh, 16 in flight", "express-fresh-16", ratioOf(standing, "express-fresh-16")),
      row("Express, one hot key, 16 in flight", "express-hot-16", ratioOf(standing, "express-hot-16")),
    ].filter((row) => row !== null),
  );
  printAsked(standing, asked);
  const { askers } = standing.waves.conflict;
  console.log(
    `  One key, ${askers} times at once, by two apps over one database; a charge takes 10 ms, an order its commit:`,
  );
  printWaves("told 409 while the first is at work", standing.waves.conflict);
  printWaves("waiting for it (8 in each app may)", standing.waves.wait);
  printWaves("key and order in one transaction", standing.waves.sameTransaction);
}

function printAsked({ asked }: Standing, what: "commits" | "round trips"): void {
  const { fresh, replay, orderWithoutKey, orderFresh, orderReplay, hot16, hot100, replayLogged } = asked;
  console.log(`\n  ${what}: fresh ${fresh}, replay ${replay} (budget 2 and 1)`);
  console.log(
    `    order without a key ${orderWithoutKey}, with its key in the same transaction ${orderFresh}, its replay ${orderReplay}`,
  );
  if (what === "commits") return;
  console.log(
    `    replays of one hot key, which ask together when they arrive together: ${hot16.toFixed(2)} each at 16 in flight, ${hot100.toFixed(2)} at 100`,
  );
  console.log(`  log written for a replay: ${replayLogged.toFixed(1)} bytes`);
}

function rowsOf({ figures }: Standing) {
  return (what: string, name: string, beside = ""): Row | null => {
    const figure = figures[name];
    if (figure === undefined) return null;
    const { perSecond, p50Ms, p99Ms, nodeUs } = figure;
    const waits = `${short(p50Ms.median)} / ${short(p99Ms.median)} ms`;
    const text = `${count(perSecond.median).padStart(7)}/s  ${waits.padStart(16)}  ${count(nodeUs.median).padStart(5)} µs`;
    return [what, text, beside];
  };
}

const short = (ms: number): string => ms.toFixed(ms < 0.995 ? 3 : ms < 9.95 ? 2 : 0);

function addedTo({ overhead }: Standing, name: string): string {
  const added = overhead[name];
  if (added === undefined) return "";
  return `adds ${short(added.p50Ms.median)} ms (p50) and ${count(added.nodeUs.median)} µs of processor time`;
}

function ratioOf({ ratios }: Standing, name: string): string {
  const found = Object.entries(ratios).find(([ratio]) => ratio.startsWith(`${name} of `));
  return found === undefined ? "" : `${found[1].median.toFixed(2)} of it without a key`;
}

function against({ ratios }: Standing, name: string, numbers: string): string {
  const found = Object.entries(ratios).find(([ratio]) => ratio.startsWith(`${name} of `));
  const floor = found === undefined ? "" : `${found[1].median.toFixed(2)} of the bare statements`;
  return [floor, numbers === "" ? "" : `reference ${numbers}`].filter((text) => text !== "").join("; ");
}

function printWaves(what: string, { waves, executions, replayed, conflicts, p50Ms, p99Ms }: Waves): void {
  console.log(
    `    ${what.padEnd(36)} ${waves} waves, ${executions} executions, ${replayed} replays, ${conflicts} told 409; a wave takes ${short(p50Ms)} / ${short(p99Ms)} ms`,
  );
}
