// Steps: one outcome, kept before the code has it, and no repeat without a reason.
import type { Entry, Ledger } from "../ledger.ts";
import { type Check, groupBy } from "./facts.ts";

export const stepChecks = {
  "no step is entered after its value reached the code"({ ledger }, fail) {
    const reached = new Map<string, { order: number; at: number; process: string }>();
    for (const handed of ledger.handed) {
      const name = `${handed.run} ${handed.step}`;
      if (!reached.has(name)) reached.set(name, handed);
    }
    for (const entry of ledger.entries) {
      const first = reached.get(`${entry.run} ${entry.step}`);
      if (first === undefined || entry.order < first.order) continue;
      fail(`${entry.process} entered ${entry.step} of run ${entry.run} at ${entry.at}, known since ${first.at}`);
    }
  },

  "a step has one value"({ ledger, dump, memos }, fail) {
    for (const [name, values] of groupBy(ledger.handed, ({ run, step }) => `${run} ${step}`)) {
      const distinct = new Set(values.map(({ value }) => value));
      if (distinct.size > 1) fail(`${name}: ${[...distinct].join(" and ")}`);
      const { run, step } = values[0]!;
      const stored = memos.get(run)?.steps.find((other) => other.name === step);
      if (stored === undefined) fail(`${name}: reached the code and is not stored`);
      else if (JSON.stringify(JSON.parse(stored.outcome.json)) !== values[0]!.value) {
        fail(`${name}: the code got ${values[0]!.value}, stored is ${stored.outcome.json}`);
      }
    }
    for (const { run, steps } of dump.memos) {
      for (const [id, list] of groupBy(steps, ({ stepId }) => stepId)) {
        if (list.length > 1) fail(`run ${run.id}: ${list.length} outcomes of step ${id}`);
      }
    }
  },

  "an attempt is repeated only after an error, a lost process or a lost lease"({ ledger }, fail) {
    for (const [name, entries] of groupBy(ledger.entries, ({ run, step }) => `${run} ${step}`)) {
      entries.forEach((entry, i) => {
        const before = entries[i - 1];
        if (before === undefined) return;
        if (before.left?.how === "threw" && before.left.at <= entry.at) return;
        if (wasLost(ledger, before, entry.at)) return;
        fail(`${name}: ${entry.process} entered it at ${entry.at}, while ${before.process} had since ${before.at}`);
      });
    }
  },
} satisfies Record<string, Check>;

function wasLost(ledger: Ledger, entry: Entry, until: number): boolean {
  const { process, at } = entry;
  return (
    ledger.lostProcesses.some((lost) => lost.process === process && lost.at <= until) ||
    ledger.lostLeases.some((lost) => lost.process === process && lost.at >= at && lost.at <= until)
  );
}
