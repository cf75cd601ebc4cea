// Findings in the runs of one function, counted: the same thing in a thousand runs is one finding.

import { type DeployFinding, noRuns, type RunCounts, withRun } from "./deploy-report.ts";
import type { JudgedRun, RunFact, RunVerdict } from "./judge-replay.ts";
import { runVerdicts } from "./judge-replay.ts";
import { shapeOf } from "./positions.ts";

const examplesMax = 3;
/** More kinds of findings than this nobody reads; the counts have them all. */
const findingsMax = 50;

interface Counted {
  readonly fact: RunFact;
  runs: number;
  readonly examples: string[];
}

const order: readonly RunFact["kind"][] = [
  ...runVerdicts.filter((each): each is Exclude<RunVerdict, "GOES ON"> => each !== "GOES ON"),
  "NOTE",
];

export class Tally {
  counts: RunCounts;
  private readonly found = new Map<string, Counted>();

  constructor(open: number) {
    this.counts = { ...noRuns, open };
  }

  add(runId: string, { verdict, facts }: JudgedRun): void {
    this.counts = withRun(this.counts, verdict);
    const named = new Set<string>();
    for (const fact of facts) {
      const { kind, step, asked, why } = fact;
      const name = JSON.stringify([kind, shapeOf(step ?? ""), shapeOf(asked ?? ""), shapeOf(why)]);
      if (named.has(name)) continue;
      named.add(name);
      const counted = this.found.get(name) ?? { fact, runs: 0, examples: [] };
      this.found.set(name, counted);
      counted.runs++;
      if (counted.examples.length < examplesMax) counted.examples.push(runId);
    }
  }

  /** All of them come to the same; these are some. */
  addAll(runIds: readonly string[], judged: JudgedRun): void {
    const { open } = this.counts;
    for (const runId of runIds.slice(0, examplesMax)) this.add(runId, judged);
    while (this.counts.checked < open) this.counts = withRun(this.counts, judged.verdict);
    for (const counted of this.found.values()) counted.runs = open;
  }

  /** It ended while others were looked at. */
  ended(): void {
    this.counts = { ...this.counts, open: this.counts.open - 1 };
  }

  get findings(): DeployFinding[] {
    return [...this.found.values()]
      .map(({ fact, runs, examples }) => ({ ...fact, runs, examples }))
      .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.runs - a.runs)
      .slice(0, findingsMax);
  }
}
