// One function, from two clean runs to a report: what is played, in which order, and what comes of it. The worlds are played in threads (playing-threads.ts);
// what they showed is judged here (judge.ts).

import type { Verdict } from "../model/verdict.ts";
import type { Platform } from "../platform/platform.ts";
import { tellAbsent } from "./absent-fields.ts";
import { learnVolatile } from "./compare-things.ts";
import { EndHandlers } from "./end-handlers.ts";
import { Findings, type SeenIn } from "./findings.ts";
import { cleanFacts, type FunctionScript, firstStart, functionScript, secondStart } from "./function-script.ts";
import { FunctionWorlds, type Played } from "./function-worlds.ts";
import { Happened, readSchedules } from "./happened.ts";
import { type Judged, judge, judgeReplay, type Reference, unknownsOf, worstOf } from "./judge.ts";
import { type Change, withFunctionKey } from "./mends/change.ts";
import type { Tried } from "./mends/improve.ts";
import { improveFindings } from "./mends/improve-findings.ts";
import type { Answer, PlayingThreads } from "./playing-threads.ts";
import { mergeRecordings } from "./recordings.ts";
import type { Finding, FunctionReport } from "./report.ts";
import {
  type Adversity,
  type CleanFacts,
  cleanSchedule,
  isInVain,
  pairs,
  readSchedule,
  type Schedule,
  scheduleOf,
  singles,
} from "./schedules.ts";
import type { Json, WorldRecord } from "./thing.ts";
import type { DescribedFunction } from "./worker/messages.ts";
import type { DatabaseScript } from "./worker/sql/database-script.ts";
import type { Fixture } from "./worker/world-script.ts";

export interface VerifyFunctionOptions {
  readonly threads: Pick<PlayingThreads, "ask">;
  readonly platform: Pick<Platform, "monoMs">;
  /** Files that define it, as a program would load them. */
  readonly modules: readonly string[];
  readonly fn: DescribedFunction;
  /** Full names of functions that handle the end of others. */
  readonly endHandlers: readonly string[];
  /** The event that starts it. Absent for a function that only a clock starts, or only others invoke. */
  readonly event?: { readonly name: string; readonly data?: Json; readonly id?: string } | null;
  /** Another event for the same thing, and how long after the first it came. */
  readonly second?: { readonly name: string; readonly data?: Json; readonly apartMs: number } | null;
  /** The data of the twin, where it cannot be made from the event. */
  readonly twin?: Json;
  /** The field that says which entity the event is about ("placementId"), where its name does not. */
  readonly entity?: string | null;
  readonly fixtures?: readonly Fixture[];
  /** As they were prepared for the worlds. */
  readonly databases?: readonly DatabaseScript[];
  /** The data of what its runs wait for, by the event's or the signal's name. */
  readonly waits?: Readonly<Record<string, Json>>;
  /** `--record`: these hosts (with their port) are really asked once, and their answers used where no fixture says otherwise. */
  readonly record?: { readonly hosts: readonly string[]; readonly take: (recorded: readonly Fixture[]) => void };
  /** For pairs of adversities, once every single one was played. */
  readonly budgetMs: number;
  /** Every world takes of the budget, clean runs apart: what is left when it is spent is not played, and counted. */
  readonly isEveryWorldBudgeted?: boolean;
  readonly seed?: number;
  /** Only these; null for all there are. Names that mean nothing are left out. */
  readonly only?: readonly string[] | null;
  /** Which of the single adversities are played; all unless given. `index` is their place among them. */
  readonly picks?: (schedule: Schedule, index: number) => boolean;
  /** Those of a lower rank are played first; as they are listed, unless given. */
  readonly rank?: (schedule: Schedule) => number;
  /** Failed the last time: played before all others. */
  readonly remembered?: readonly string[];
  /** Why a finding about this effect is accepted; null where it is not. */
  readonly accepts?: (effect: string) => string | null;
  /** Whether findings are made small and changes that mend them are looked for; true unless given. */
  readonly mends?: boolean;
  /** The text of a file of the user's, for edits; null where it cannot be read. */
  readonly readSource?: (file: string) => string | null;
  readonly onPlayed?: (schedule: string, played: number, known: number) => void;
}

/** A trial of something else than was asked for. */
interface Trial {
  readonly changes?: readonly Change[];
  /** Whether what was found by now refutes it. */
  readonly isRefuted?: (findings: readonly Finding[]) => boolean;
}

const noEvent =
  "no example event: give one with --event or --from-store, or write it into idem.verify.ts; --generate makes one up where it has a schema";

export async function verifyFunction(options: VerifyFunctionOptions): Promise<FunctionReport> {
  return new FunctionVerifier(options).verify();
}

class FunctionVerifier {
  private script: FunctionScript["script"];
  private readonly isSent: boolean;
  private readonly seed: number;
  private readonly entity: string | null;
  private readonly findings: Findings;
  /** By whether waits are in vain. */
  private readonly references = new Map<boolean, Reference>();
  private readonly handlers: EndHandlers;
  private drawn: WorldRecord["drawn"] = [];
  private readonly notes = new Set<string>();
  /** Its key is not shown to let other things through. */
  private lacksTwin = false;
  private readonly worlds: FunctionWorlds;
  private readonly happened = new Happened();
  private facts: CleanFacts | null = null;
  private effects = 0;
  private commits = 0;

  constructor(
    private readonly options: VerifyFunctionOptions,
    private readonly trial: Trial = {},
  ) {
    this.seed = options.seed ?? 1;
    this.worlds = new FunctionWorlds(options);
    const { script, isSent, entity } = functionScript(options, trial.changes ?? []);
    this.script = script;
    this.isSent = isSent;
    this.entity = entity;
    const { name, data } = script.event;
    this.findings = new Findings({ event: isSent ? { name, data } : null, accepts: options.accepts ?? (() => null) });
    this.handlers = new EndHandlers(options.endHandlers, async (schedule) => {
      const answer = await this.play(schedule, firstStart, this.seed);
      return answer?.kind === "played" ? answer.record : null;
    });
  }

  async verify(): Promise<FunctionReport> {
    const { triggers } = this.options.fn.config;
    const needsEvent = triggers.length > 0 && triggers.every((each) => "event" in each);
    if (needsEvent && !this.isSent) return this.unproven(noEvent, cleanSchedule.id);
    if (!(await this.recordAnswers())) return this.report();
    const hadWaits = await this.verifyVariant([]);
    // The same once more, with every wait in vain: another branch of the code, with a clean run of its own.
    const { only = null } = this.options;
    const isVainWanted = only === null ? this.findings.all.length === 0 : readSchedules(only).some(isInVain);
    if (hadWaits && isVainWanted) await this.verifyVariant([{ kind: "wait", answer: "timeout" }]);
    // A schedule that was asked for and does not happen proves nothing.
    const inVain = this.facts === null ? [] : this.happened.inVain(only ?? [], this.facts);
    for (const { thing, schedule } of inVain) this.find(unprovenBy(thing), schedule);
    if (this.options.mends !== false) await this.improve();
    if (this.happened.count === 0 && this.worlds.unplayed > 0 && this.findings.all.length === 0)
      return this.unproven(
        "the budget was spent before anything could be played: give more with --budget",
        cleanSchedule.id,
      );
    if (this.lacksTwin && (this.options.only ?? null) === null) {
      return this.unproven(
        "no twin could be made of the event, so nobody knows whether the function's key swallows other things; name the field that tells them apart (entity), or give the twin's data (twin)",
        cleanSchedule.id,
      );
    }
    return this.report();
  }

  /** One clean run that really asks: in all worlds after it the answers are known. False where it does not complete. */
  private async recordAnswers(): Promise<boolean> {
    const { record } = this.options;
    if (record === undefined) return true;
    const script = { ...this.script, recordFrom: record.hosts };
    const clean = this.cleanRecord(await this.play(cleanSchedule, firstStart, this.seed, false, script));
    if (clean === null) return false;
    const recorded = clean.recorded ?? [];
    record.take(recorded);
    this.script = { ...this.script, fixtures: [...this.script.fixtures, ...mergeRecordings([], recorded)] };
    return true;
  }

  /** Whether the clean run waited for events. */
  private async verifyVariant(base: readonly Adversity[]): Promise<boolean> {
    const clean = scheduleOf(...base);
    const [one, two] = await Promise.all([
      this.play(clean, firstStart, this.seed, base.length === 0),
      this.play(clean, secondStart, this.seed + 1_000),
    ]);
    const first = this.cleanRecord(one);
    const second = this.cleanRecord(two);
    if (first === null || second === null) return false;
    this.drawn = [...this.drawn, ...first.drawn];
    this.effects = Math.max(this.effects, first.effects.length);
    this.commits = Math.max(this.commits, first.commits.before);
    // It sleeps or waits, and does not find back.
    const diverged = judgeReplay(first);
    if (diverged !== null) {
      this.find(diverged, first);
      return false;
    }
    const volatile = learnVolatile(first, second);
    if (volatile === null) {
      this.find(unprovenBy("two clean runs under another clock and other chance make different things"), first);
      return false;
    }
    const twin = this.script.twin === null ? null : await this.playTwin(clean);
    if (twin === null && this.isSent && this.options.fn.config.idempotency !== null) this.lacksTwin = true;
    const { endHandlers } = this.options;
    const reference: Reference = { clean: first, twin, volatile, endHandlers };
    this.references.set(base.length > 0, reference);
    const facts = cleanFacts(
      { script: this.script, isSent: this.isSent },
      this.options.fn.config,
      first,
      twin !== null,
    );
    this.facts ??= facts;
    if (this.options.isEveryWorldBudgeted === true)
      this.worlds.until ??= this.options.platform.monoMs() + this.options.budgetMs;
    const { first: before, rest } = this.wanted(facts, base);
    await this.playAll(before, reference);
    if (this.trial.isRefuted?.(this.findings.all) === true) return false;
    await this.playAll(rest, reference);
    if ((this.options.only ?? null) === null) {
      if (first.effects.length > 0 && base.length === 0)
        for await (const schedules of this.handlers.schedules()) await this.playAll(schedules, reference);
      if (this.findings.all.length === 0) await this.playPairs(facts, base, reference);
    }
    return first.hasWaits && base.length === 0;
  }

  private wanted(
    facts: CleanFacts,
    base: readonly Adversity[],
  ): { readonly first: readonly Schedule[]; readonly rest: readonly Schedule[] } {
    const { only = null, remembered = [] } = this.options;
    // Each with the clean run it is compared with.
    const named = (names: readonly string[]) =>
      readSchedules(names).filter((each) => isInVain(each) === base.length > 0);
    if (only !== null) return { first: [], rest: named(only) };
    const { picks = () => true, rank = () => 0 } = this.options;
    const all = singles(facts)
      .filter(picks)
      .sort((a, b) => rank(a) - rank(b))
      .map(({ adversities }) => scheduleOf(...base, ...adversities));
    const before = named(remembered);
    const ids = new Set(before.map(({ id }) => id));
    return { first: before, rest: all.filter(({ id }) => !ids.has(id)) };
  }

  private playAll(schedules: readonly Schedule[], reference: Reference): Promise<void> {
    return this.worlds.playAll(
      schedules,
      (schedule) => this.play(schedule, firstStart, this.seed),
      async (played) => this.weigh(played, await this.handlers.referenceFor(played.schedule, reference)),
    );
  }

  private async playPairs(facts: CleanFacts, base: readonly Adversity[], reference: Reference): Promise<void> {
    const { platform, budgetMs } = this.options;
    const until = this.worlds.until ?? platform.monoMs() + budgetMs;
    const batchSize = 16;
    const all = pairs(facts);
    while (platform.monoMs() < until && this.findings.all.length === 0) {
      const batch: Schedule[] = [];
      for (let next = all.next(); !next.done; next = all.next()) {
        batch.push(scheduleOf(...base, ...next.value.adversities));
        if (batch.length === batchSize) break;
      }
      if (batch.length === 0) return;
      await this.playAll(batch, reference);
    }
  }

  private async playTwin(clean: Schedule): Promise<WorldRecord | null> {
    const { twin } = this.script;
    const answer = await this.play(clean, firstStart, this.seed, false, { ...this.script, event: twin!, twin: null });
    if (answer?.kind !== "played") return null;
    const { record } = answer;
    const isRight = unknownsOf(record).length === 0 && record.runs.some(({ state }) => state === "completed");
    if (isRight) return record;
    this.notes.add("the twin's event does not complete by itself, so it proves nothing");
    return null;
  }

  private play(
    schedule: Schedule,
    startMs: number,
    seed: number,
    isShown = false,
    script = this.script,
  ): Promise<Answer | null> {
    return this.worlds.play(script, { schedule, startMs, seed, isShown });
  }

  /** Null, and a finding, where a clean run does not show what the function does. */
  private cleanRecord(answer: Answer | null): WorldRecord | null {
    if (answer?.kind !== "played") {
      this.find(unanswered(answer), cleanSchedule.id);
      return null;
    }
    const { record } = answer;
    const [run] = record.runs;
    const unknowns = unknownsOf(record);
    for (const each of unknowns) this.find(each, record);
    if (unknowns.length > 0) return null;
    if (run?.state === "completed") return record;
    const why =
      run === undefined ? "the event started no run" : `a clean run does not complete: ${run.error ?? run.state}`;
    const [asked] = tellAbsent(record.absent);
    const thing = asked === undefined ? why : `${why}; ${asked.thing}`;
    this.find(unprovenBy(thing), record);
    return null;
  }

  private weigh({ schedule, answer }: Played, reference: Reference): void {
    if (answer.kind !== "played") {
      this.find(unanswered(answer), schedule.id);
      return;
    }
    const { record } = answer;
    const judged = judge(record, reference);
    const missing = judged.verdict === "HELD" ? (record.notHappened[0] ?? null) : null;
    this.happened.note(schedule, missing);
    if (missing !== null) return;
    for (const each of record.assumptions) this.notes.add(`assumed: ${each}`);
    for (const note of judged.notes) this.notes.add(note);
    if (judged.verdict !== "HELD") this.find(judged, record);
  }

  /** Of a world that did not answer there is nothing but its schedule. */
  private find(judged: Judged, seen: SeenIn | string): void {
    this.findings.add(judged, typeof seen === "string" ? { schedule: seen, seed: this.seed, timeline: [] } : seen);
  }

  // ------------------------------------------------------------------------------------------------ for a person to act on

  private async improve(): Promise<void> {
    const { platform, fn, modules, readSource = () => null } = this.options;
    const { config } = fn;
    const { event, twin } = this.script;
    await improveFindings(this.findings, {
      platform,
      config,
      modules,
      readSource,
      event,
      twin,
      isTwinGiven: this.options.twin !== undefined,
      entity: this.entity,
      playAgain: (schedule) => this.playAgain(schedule),
      playWith: (schedule, data) => this.tried({ event: { ...event, data }, only: [schedule] }, {}),
      playChanged: (changes, schedule, isRefuted) => {
        const keyed = changes.find((each) => each.kind === "function-key");
        const changed = keyed === undefined ? fn : { ...fn, config: withFunctionKey(config, keyed.expression) };
        return this.tried({ fn: changed, only: null, remembered: [schedule] }, { changes, isRefuted });
      },
    });
  }

  /** The same function, looked at in another way. */
  private async tried(other: Partial<VerifyFunctionOptions>, trial: Trial): Promise<Tried> {
    // The recordings are known by now: no host is asked again.
    const { onPlayed: _, remembered: __, picks: ___, record: ____, ...options } = this.options;
    const known = { ...options, fixtures: this.script.fixtures, budgetMs: 0, mends: false };
    const verifier = new FunctionVerifier({ ...known, ...other }, trial);
    const { findings } = await verifier.verify();
    return { findings, drawn: verifier.drawn };
  }

  private async playAgain(id: string): Promise<Finding | null> {
    const schedule = readSchedule(id);
    const reference = schedule === null ? undefined : this.references.get(isInVain(schedule));
    if (schedule === null || reference === undefined) return null;
    const answer = await this.play(schedule, firstStart, this.seed);
    if (answer?.kind !== "played") return null;
    const { record } = answer;
    const judged = judge(record, await this.handlers.referenceFor(schedule, reference));
    const { verdict } = judged;
    return verdict === "HELD" ? null : this.findings.of({ ...judged, verdict }, record);
  }

  private unproven(thing: string, schedule: string): FunctionReport {
    this.find(unprovenBy(thing), schedule);
    return this.report();
  }

  private report(): FunctionReport {
    const verdicts: Verdict[] = this.findings.all.map(({ verdict }) => verdict);
    const { only = null, remembered = [] } = this.options;
    const { facts } = this;
    return {
      id: this.options.fn.config.id,
      verdict: worstOf(verdicts),
      schedules: this.happened.count,
      unplayed: this.worlds.unplayed,
      effects: this.effects,
      commits: this.commits,
      notes: [...this.notes],
      findings: this.findings.all,
      outdated: only !== null || facts === null ? [] : this.happened.outdated(remembered, facts),
    };
  }
}

const unprovenBy = (thing: string): Judged => ({ verdict: "UNPROVEN", thing, effect: null, notes: [] });

function unanswered(answer: Answer | null): Judged {
  const why =
    answer === null || answer.kind === "stuck"
      ? "a world did not come back: an endless loop"
      : answer.kind === "gone" || answer.kind === "failed"
        ? `a world could not be played: ${answer.why}`
        : "a world answered something else";
  return unprovenBy(why);
}
