// Runs: every one ends, as its function says, once and for ever.
import { frozenMs, type Ledger } from "../ledger.ts";
import { type Check, type Facts, isEnded } from "./facts.ts";

/** Faults that keep no living process from renewing its leases. */
const harmlessFaults = new Set(["blocked-start", "blocked-loop", "hint-trouble", "node-clock", "kill", "crash-point"]);

/** Blocked event loops that were the only trouble of their process: its heartbeat thread must have renewed its leases. */
export function loneBlocks({ ledger, evidence }: Facts): Ledger["blocks"] {
  const { faultsOn, blockedMaxMs } = evidence;
  if (blockedMaxMs === null || !faultsOn.every((name) => harmlessFaults.has(name))) return [];
  return ledger.blocks.filter(
    ({ process, to }) =>
      frozenMs(ledger, process, 0, to) < blockedMaxMs &&
      !ledger.lostProcesses.some((lost) => lost.process === process && lost.at <= to),
  );
}

export const runChecks = {
  "nothing is stuck"(facts, fail) {
    if (facts.evidence.restedAfterMs === null) fail("the world did not come to rest after it healed");
    for (const run of facts.dump.runs) {
      const isLeft = run.state === "parked" && facts.of(run)?.ends(facts.data(run)) === "parked";
      if (!isEnded(run) && !isLeft) fail(`run ${run.id} of ${run.fn} is ${run.state}, due at ${run.dueAt}`);
    }
  },

  "a run ends as its function says"(facts, fail) {
    const cancelled = new Set(facts.ledger.cancels.map(({ run }) => run));
    for (const { run, steps, attempts } of facts.dump.memos) {
      const fn = facts.of(run);
      if (fn === undefined || !isEnded(run)) continue;
      const data = facts.data(run);
      if (run.state === "cancelled") continue;
      if (run.state !== fn.ends(data)) fail(`run ${run.id} of ${fn.id}: ${run.state}, with ${run.result}`);
      if (run.state !== "completed") continue;
      const { values } = JSON.parse(run.result!) as { values: Record<string, unknown> };
      for (const step of fn.steps(data)) {
        const stored = steps.find(({ name }) => name === step);
        if (stored === undefined || JSON.stringify(values[step]) !== stored.outcome.json) {
          fail(`run ${run.id} of ${fn.id}: returned ${JSON.stringify(values[step])} for ${step}`);
        }
      }
      for (const [step, count] of Object.entries(fn.failures?.(data) ?? {})) {
        const failed = attempts.filter(({ name }) => name === step).length;
        if (failed !== count && !cancelled.has(run.id)) {
          fail(`run ${run.id} of ${fn.id}: ${failed} failures of "${step}" recorded, ${count} happened`);
        }
      }
      const winners = steps.filter(({ name }) => name.startsWith("after-"));
      if (winners.length > 1) fail(`run ${run.id}: a race had ${winners.length} winners`);
    }
  },

  "a step that ends its process is entered as often as its function says, and no more"(facts, fail) {
    const { ledger } = facts;
    for (const run of facts.dump.runs) {
      const most = facts.of(run)?.entriesMax;
      if (most === undefined || run.state === "cancelled") continue;
      const entries = ledger.entries.filter((entry) => entry.run === run.id && entry.step === most.step);
      if (entries.length > most.count) fail(`run ${run.id}: ${most.step} was entered ${entries.length} times`);
      // A run that lost its worker otherwise had an entry less.
      const own = new Set(ledger.entries.filter(({ step }) => step === most.step).map(({ process }) => process));
      const isAlone = ledger.lostLeases.length === 0 && ledger.lostProcesses.every(({ process }) => own.has(process));
      const isFirst = new Set(entries.map(({ process }) => process)).size === ledger.lostProcesses.length;
      if (isAlone && isFirst && entries.length < most.count) {
        fail(`run ${run.id}: ${most.step} was entered ${entries.length} times, and nothing else was lost`);
      }
    }
  },

  "a blocked event loop costs a process no run"(facts, fail) {
    for (const { process, from, to } of loneBlocks(facts)) {
      for (const { process: holder, run, isLost, to: lostAt } of facts.ledger.leases) {
        if (holder !== process || !isLost || lostAt === null || lostAt < from || lostAt >= to) continue;
        fail(`${process} lost run ${run} at ${lostAt}, while its loop was blocked from ${from} to ${to}`);
      }
    }
  },

  "nobody is cancelled without a reason"(facts, fail) {
    for (const run of facts.dump.runs) {
      if (run.state !== "cancelled" || facts.ledger.cancelsAsked.has(run.id)) continue;
      const fn = facts.of(run);
      const { result } = run;
      const right =
        (fn?.singleton?.mode === "cancel" && /cancelled by run \w+, a newer one of the singleton/.test(result!)) ||
        (fn?.cancelOn !== undefined && result!.includes("cancelled by event")) ||
        (fn?.startWithinMs !== undefined && result!.includes("RUN_START_TIMED_OUT"));
      if (!right) fail(`run ${run.id} of ${run.fn}: cancelled with ${result}`);
    }
  },

  "an end that was seen stands"({ ledger, runs }, fail) {
    for (const { run, state, output } of ledger.ends) {
      const stored = runs.get(run);
      const result = stored?.state === "completed" ? JSON.stringify(JSON.parse(stored.result!)) : "null";
      if (stored?.state !== state || (state === "completed" && result !== output)) {
        fail(`run ${run}: seen ${state} ${output}, stored is ${stored?.state} ${stored?.result}`);
      }
    }
    for (const { run, won } of ledger.cancels) {
      const state = runs.get(run)?.state;
      if (won && state !== "cancelled") fail(`run ${run}: its cancel was confirmed, it is ${state}`);
    }
    for (const { run, of } of ledger.reruns) {
      if (runs.get(run)?.rerunOf !== of) fail(`run ${run}: confirmed as rerun of ${of}, which it is not`);
    }
  },

  "nothing happens after a cancel was confirmed"({ ledger, dump, evidence }, fail) {
    for (const { run, at, process, won } of ledger.cancels) {
      if (!won) continue;
      for (const entry of ledger.entries) {
        if (entry.run !== run || entry.at <= at) continue;
        // On another node a step may begin whose permission was already on its way, or lay in front of a frozen process.
        const lateMs = evidence.replyMaxMs + frozenMs(ledger, entry.process, at, entry.at);
        if (entry.process !== process && entry.at <= at + lateMs) continue;
        fail(`run ${run}: ${entry.process} entered ${entry.step} at ${entry.at}, cancelled at ${at}`);
      }
    }
    for (const { run, steps, waits } of dump.memos) {
      if (!isEnded(run)) continue;
      if (waits.length > 0) fail(`run ${run.id} is ${run.state} and still waits`);
      for (const { name, stamp, endedAt } of steps) {
        if (Math.floor(stamp / 1_000) > run.endedAt! + 1_000)
          fail(`run ${run.id}: ${name} recorded after its end (${endedAt})`);
      }
    }
  },
} satisfies Record<string, Check>;
