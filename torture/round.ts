// One store, one ledger, many lives. A seed names a round and repeats its plan, though not its instants.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, type Violation } from "./check.ts";
import { loadEngine } from "./engine.ts";
import { describeKill, type PlanOptions, planKills } from "./kill-plan.ts";
import { startLedger } from "./ledger-process.ts";
import { liveOut, liveUntil } from "./live.ts";
import type { LockerCounts } from "./locker.ts";
import { startLocker } from "./locker-process.ts";
import { readLedger } from "./read-ledger.ts";
import { readStore } from "./read-store.ts";

export interface RoundOptions extends PlanOptions {
  readonly engine: string;
  /** Sent in peace after the last kill if the kills left too little time for so many. */
  readonly ackedMin: number;
  /** The mean gap between the doings of a tool that locks the file; null for no such tool. */
  readonly lockGapMs: number | null;
  readonly onKill?: () => void;
}

export interface RoundResult {
  readonly seed: number;
  readonly kills: Readonly<Record<"point" | "any-time" | "recovery", number>>;
  readonly points: Readonly<Record<string, number>>;
  readonly ackedUnderFire: number;
  readonly acked: number;
  readonly runs: number;
  readonly steps: number;
  readonly stepsEnteredAgain: number;
  readonly duplicates: number;
  readonly recoveryMs: readonly number[];
  /** The doings of the locking tool; null without one. */
  readonly locker: LockerCounts | null;
  readonly tookMs: number;
  readonly violations: readonly Violation[];
  /** Kept only where something was violated. */
  readonly folder: string | null;
}

// After faults stop everything makes progress within 30 s; here everything also ends, for nothing is slow.
const finishWithinMs = 30_000;
const topUpWithinMs = 600_000;

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const startedAt = performance.now();
  const { seed, engine } = options;
  const folder = mkdtempSync(join(tmpdir(), "idem-torture-"));
  const violations: Violation[] = [];
  const kills = { point: 0, "any-time": 0, recovery: 0 };
  const points: Record<string, number> = {};
  const violated = (name: string, detail: string) => violations.push({ check: name, detail });

  const ledger = await startLedger(folder, ["ledger"]);
  const { lockGapMs } = options;
  const locking =
    lockGapMs === null ? null : startLocker({ path: join(folder, "idem.db"), seed, meanGapMs: lockGapMs });
  let life = 0;
  const newLife = () => ({ folder, engine, seed, life: ++life, crash: null, ackedMin: null });
  try {
    for (const kill of planKills(options)) {
      const crash = kill.at === "point" ? kill.crash : null;
      const end = await liveUntil(kill, { ...newLife(), crash });
      const about = `life ${life} (${describeKill(kill)})`;
      if (!end.reached) violated("every crash point is reached", about);
      if (end.signal !== "SIGKILL") violated("a victim lives until it is killed", `${about} ended with ${end.code}`);
      if (end.complaints !== "") violated("nobody complains", `${about}: ${end.complaints.slice(0, 500)}`);
      kills[kill.at]++;
      if (crash !== null && end.reached) points[crash.point] = (points[crash.point] ?? 0) + 1;
      options.onKill?.();
    }
    const locker = (await locking?.end()) ?? null;
    const finish = async (ackedMin: number, withinMs: number, name: string) => {
      const end = await liveOut({ ...newLife(), ackedMin }, withinMs);
      if (end.code !== 0) violated(name, `life ${life}: ${end.signal ?? end.code} after ${Math.round(end.tookMs)} ms`);
      if (end.complaints !== "") violated("nobody complains", `life ${life}: ${end.complaints.slice(0, 500)}`);
    };
    await finish(0, finishWithinMs, "nothing is stuck: all ends within 30 s of the last start");
    const ackedUnderFire = (await ledger.greet()).ackedCount;
    if (ackedUnderFire < options.ackedMin) await finish(options.ackedMin, topUpWithinMs, "what is sent in peace ends");
    await ledger.close();

    const facts = readLedger(folder);
    const store = await readStore(folder, await loadEngine(engine));
    violations.push(...check({ ledger: facts, store }));
    if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
    return {
      seed,
      kills,
      points,
      ackedUnderFire,
      acked: facts.acked.length + facts.ackedOthers.length,
      runs: store.runs.size,
      steps: facts.steps.size,
      stepsEnteredAgain: [...facts.steps.values()].filter(({ entries }) => hasRepeat(entries)).length,
      duplicates: [...store.decisions.values()].flat().filter(({ kind }) => kind !== "started").length,
      recoveryMs: facts.recoveryMs.map(Math.round),
      locker,
      tookMs: Math.round(performance.now() - startedAt),
      violations,
      folder: violations.length === 0 ? null : folder,
    };
  } finally {
    await locking?.end();
    await ledger.close();
  }
}

/** The same attempt twice: its process died in the middle. */
const hasRepeat = (entries: readonly { readonly attempt: number }[]): boolean =>
  new Set(entries.map(({ attempt }) => attempt)).size < entries.length;
