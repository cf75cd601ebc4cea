// One handler, from two clean calls to a report: what is played, in which order, and what comes of it. The worlds are played in threads; what they showed is
// judged in judge-calls.ts.
import { learnVolatile } from "../compare-things.ts";
import { Findings } from "../findings.ts";
import { type Judged, unknownsOf, worstOf } from "../judge.ts";
import type { PlayingThreads } from "../playing-threads.ts";
import type { FunctionReport } from "../report.ts";
import { callPlans, cleanCalls } from "./call-plans.ts";
import type { CallPlan, CallRecord, CallScript } from "./call-script.ts";
import { type CallReference, judgeCalls } from "./judge-calls.ts";

export interface VerifyCallsOptions {
  readonly threads: Pick<PlayingThreads, "ask">;
  /** For people: "POST /charges". */
  readonly id: string;
  readonly script: Omit<CallScript, "startMs">;
  /** The world's clock at its beginning, and of the other clean call. */
  readonly startsMs: readonly [number, number];
  /** Between two ticks. */
  readonly everyMs: number;
  readonly seed: number;
  /** Only these; null for all there are. */
  readonly only: readonly string[] | null;
  /** Why there is no twin; null where there is one, or none is needed. */
  readonly noTwin: string | null;
  readonly accepts: (effect: string) => string | null;
}

const unproven = (thing: string): Judged => ({ verdict: "UNPROVEN", thing, effect: null, notes: [] });

/** Worlds that do not answer after which no more are tried. */
const stuckMax = 2;

export async function verifyCalls(options: VerifyCallsOptions): Promise<FunctionReport> {
  return new CallsVerifier(options).verify();
}

class CallsVerifier {
  private readonly findings: Findings;
  private readonly notes = new Set<string>();
  private readonly happened = new Set<string>();
  private readonly idle: string[] = [];
  private stuck = 0;
  private effects = 0;
  private commits = 0;

  constructor(private readonly options: VerifyCallsOptions) {
    this.findings = new Findings({ event: null, accepts: options.accepts });
  }

  async verify(): Promise<FunctionReport> {
    const { startsMs, seed, only, noTwin } = this.options;
    const reference = await this.reference();
    if (reference === null) return this.report();
    const { first } = reference.clean;
    const { everyMs, script } = this.options;
    const plans = callPlans(script.sender, {
      effectCount: first!.effects.length,
      writeCount: first!.writes,
      commitCount: first!.commits,
      others: [...Object.keys(reference.clean), ...Object.keys(script.calls).filter(isRefusedAlone)],
      everyMs,
    }).filter(({ id }) => only === null || only.includes(id));
    const played = plans.map((plan) => this.play(plan, startsMs[0], seed));
    void Promise.allSettled(played);
    // In their order, whichever thread was first: the same report each time.
    for (const [i, plan] of plans.entries()) this.weigh(plan, await played[i]!, reference);
    const absent = (only ?? []).filter((id) => !plans.some((plan) => plan.id === id) || this.idle.includes(id));
    for (const id of absent) this.find(unproven(`${id} did not happen to this handler`), id);
    if (only === null && noTwin !== null) this.find(unproven(noTwin), "clean");
    return this.report();
  }

  /** Null, and a finding, where clean calls do not show what the handler does. */
  private async reference(): Promise<CallReference | null> {
    const { startsMs, seed, script } = this.options;
    const [one, two] = await Promise.all([
      this.play(cleanCalls("first"), startsMs[0], seed),
      this.play(cleanCalls("first"), startsMs[1], seed + 1_000),
    ]);
    const first = this.cleanRecord(one, "first");
    const second = first === null ? null : this.cleanRecord(two, "first");
    if (first === null || second === null) return null;
    this.effects = first.effects.length;
    this.commits = first.commits.before;
    for (const each of first.assumptions) this.notes.add(`assumed: ${each}`);
    if (first.things.length === 0) {
      this.find(unproven("a clean call leaves nothing outside that is watched, so nothing could be doubled"), "clean");
      return null;
    }
    const volatile = learnVolatile(first, second);
    if (volatile === null) {
      this.find(unproven("two clean calls under another clock and other chance make different things"), "clean");
      return null;
    }
    const clean: Record<string, CallRecord> = { first };
    for (const name of Object.keys(script.calls)) {
      if (name === "first" || isRefusedAlone(name)) continue;
      const record = this.cleanRecord(await this.play(cleanCalls(name), startsMs[0], seed), name);
      if (record === null) return null;
      clean[name] = record;
    }
    if (clean.next !== undefined) {
      const record = this.cleanRecord(await this.play(cleanCalls("first", "next"), startsMs[0], seed), "next");
      if (record === null) return null;
      clean["in-order"] = record;
    }
    return { clean, volatile };
  }

  private cleanRecord(answer: CallRecord | string, name: string): CallRecord | null {
    if (typeof answer === "string") {
      this.find(unproven(answer), "clean");
      return null;
    }
    const unknowns = unknownsOf(answer);
    for (const each of unknowns) this.findings.add(each, answer);
    if (unknowns.length > 0) return null;
    const outcome = answer.calls.find(({ call }) => call === name);
    if (outcome?.status !== null && outcome !== undefined && outcome.status < 400) return answer;
    const told =
      outcome?.error ?? (outcome?.status == null ? "it is not answered" : `it is answered ${outcome.status}`);
    this.findings.add(unproven(`a clean call (${this.options.script.calls[name]!.what}) fails: ${told}`), answer);
    return null;
  }

  /** Its record, or why there is none. */
  private async play(plan: CallPlan, startMs: number, seed: number): Promise<CallRecord | string> {
    const endless = "a world did not come back: an endless loop";
    if (this.stuck >= stuckMax) return endless;
    const { threads, script } = this.options;
    const answer = await threads.ask({ kind: "call", script: { ...script, startMs }, plan, seed });
    if (answer.kind === "called") return answer.record;
    if (answer.kind === "stuck") this.stuck++;
    return "why" in answer ? `a world could not be played: ${answer.why}` : endless;
  }

  private weigh(plan: CallPlan, answer: CallRecord | string, reference: CallReference): void {
    if (typeof answer === "string") {
      this.find(unproven(answer), plan.id);
      return;
    }
    const judged = judgeCalls(answer, plan, reference);
    if (judged.verdict !== "HELD") this.findings.add(judged, answer);
    else if (answer.notHappened.length > 0) {
      this.idle.push(plan.id);
      return;
    }
    this.happened.add(plan.id);
    for (const note of judged.notes) this.notes.add(note);
  }

  private find(judged: Judged, schedule: string): void {
    this.findings.add(judged, { schedule, seed: this.options.seed, timeline: [] });
  }

  private report(): FunctionReport {
    const { all } = this.findings;
    return {
      id: this.options.id,
      verdict: worstOf(all.map(({ verdict }) => verdict)),
      schedules: this.happened.size,
      effects: this.effects,
      commits: this.commits,
      notes: [...this.notes],
      findings: all,
      outdated: [],
      unplayed: 0,
    };
  }
}

/** Alone it has no clean end: it is there to be refused. */
const isRefusedAlone = (name: string): boolean => name === "spoilt" || name === "other-body";
