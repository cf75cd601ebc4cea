// One function, from two clean runs to a report: what is played, in which order, and what comes of it. The worlds are played in threads (playing-threads.ts);
// what they showed is judged here (judge.ts).
import { defaultWindowMs } from "../model/function-config.ts";
import { tickEventName } from "../model/tick.ts";
import type { Platform } from "../platform/platform.ts";
import { tellAbsent } from "./absent-fields.ts";
import { learnVolatile } from "./compare-things.ts";
import { type Judged, judge, judgeReplay, type Reference, unknownsOf, type Verdict, worstOf } from "./judge.ts";
import { type Change, withFunctionKey } from "./mends/change.ts";
import { improve, type Tried } from "./mends/improve.ts";
import { suggestKey } from "./mends/suggest-key.ts";
import type { Answer, PlayingThreads } from "./playing-threads.ts";
import type { Finding, FunctionReport } from "./report.ts";
import {
  type Adversity,
  type CleanFacts,
  cleanSchedule,
  inHandler,
  isInVain,
  nameOf,
  pairs,
  readSchedule,
  type Schedule,
  scheduleOf,
  singles,
  whyNotHappened,
} from "./schedules.ts";
import type { Json, SeenEffect, Thing, WorldRecord } from "./thing.ts";
import { entityField, otherFields, withAnother } from "./twin.ts";
import type { DescribedFunction } from "./worker/messages.ts";
import type { DeliveredEvent, Fixture, WorldScript } from "./worker/world-script.ts";

export interface VerifyFunctionOptions {
  readonly threads: Pick<PlayingThreads, "ask">;
  readonly platform: Pick<Platform, "monoMs">;
  /** Files that define it, as a program would load them. */
  readonly modules: readonly string[];
  readonly fn: DescribedFunction;
  /** Full names of functions that handle the end of others. */
  readonly endHandlers: readonly string[];
  /** What starts it. Absent for a function that only a clock starts, or only others invoke. */
  readonly event?: { readonly name: string; readonly data?: Json; readonly id?: string } | null;
  /** The data of the twin, where it cannot be made from the event. */
  readonly twin?: Json;
  /** The field that says which entity the event is about ("placementId"), where its name does not. */
  readonly entity?: string | null;
  readonly fixtures?: readonly Fixture[];
  /** The data of what its runs wait for, by the event's or the signal's name. */
  readonly waits?: Readonly<Record<string, Json>>;
  /** `--record`: these hosts (with their port) are really asked once, and their answers used where no fixture says otherwise. */
  readonly record?: { readonly hosts: readonly string[]; readonly take: (recorded: readonly Fixture[]) => void };
  /** For pairs of adversities, once every single one was played. */
  readonly budgetMs: number;
  readonly seed?: number;
  /** Only these; null for all there are. Names that mean nothing are left out. */
  readonly only?: readonly string[] | null;
  /** Which of the single adversities are played; all unless told. `index` is their place among them. */
  readonly picks?: (schedule: Schedule, index: number) => boolean;
  /** Played before all others: what failed the last time. */
  readonly remembered?: readonly string[];
  /** Why a finding about this effect may be; null where nobody said so. */
  readonly accepts?: (effect: string) => string | null;
  /** Whether findings are made small and changes that mend them are looked for; they are, unless told. */
  readonly mends?: boolean;
  /** The text of a file of the user's, for edits; null where it cannot be read. */
  readonly readSource?: (file: string) => string | null;
  readonly onPlayed?: (schedule: string, played: number, known: number) => void;
}

const tickName = "verify/tick";
const hour = 60 * 60 * 1_000;
// Two clean runs under other clocks: in another year, month, day, hour and minute.
const firstStart = Date.UTC(2026, 5, 1, 9);
const secondStart = Date.UTC(2027, 10, 23, 16, 41, 7, 389);
// Longer than any memory the registry knows that is not for ever.
const outageMs = 46 * 24 * hour;
/** How a run ends otherwise than well, with the first of its effects. */
const runEnds: readonly Adversity[] = [
  { kind: "refused", effect: 1, status: 500, isAlways: true },
  { kind: "cancel", effect: 1 },
];
/** Worlds that do not answer after which no more are tried. */
const stuckMax = 2;

/** How many findings of a function are made small and mended: the others are found again once these are gone. */
const improvedMax = 5;
/** Real time that making one event smaller may take. */
const shrinkMsMax = 1_500;

/** A trial of something else than was asked for. */
interface Trial {
  readonly changes?: readonly Change[];
  /** Whether what was found by now refutes it. */
  readonly isRefuted?: (findings: readonly Finding[]) => boolean;
}

/** What handlers of a run's end make, and which of the world's effects are theirs. */
interface Handled {
  readonly things: readonly Thing[];
  readonly effects: readonly number[];
}

interface Played {
  readonly schedule: Schedule;
  readonly answer: Answer;
}

export async function verifyFunction(options: VerifyFunctionOptions): Promise<FunctionReport> {
  return new FunctionVerifier(options).verify();
}

class FunctionVerifier {
  private script: Omit<WorldScript, "startMs">;
  private readonly isSent: boolean;
  private readonly seed: number;
  private readonly entity: string | null;
  private readonly findings: Finding[] = [];
  private readonly effectOf = new Map<Finding, SeenEffect | null>();
  /** By whether waits are in vain. */
  private readonly references = new Map<boolean, Reference>();
  private readonly handled = new Map<string, Promise<Handled | null>>();
  private drawn: WorldRecord["drawn"] = [];
  private readonly notes = new Set<string>();
  /** Its key is not shown to let other things through. */
  private lacksTwin = false;
  private played = 0;
  /** Those in which all of the schedule happened. */
  private readonly happened = new Set<string>();
  /** Those in which some of it did not, and nothing was found. */
  private readonly idle = new Map<string, string>();
  private facts: CleanFacts | null = null;
  private known = 0;
  private stuck = 0;
  private effects = 0;
  private commits = 0;

  constructor(
    private readonly options: VerifyFunctionOptions,
    private readonly trial: Trial = {},
  ) {
    const { fn, event, fixtures = [] } = options;
    this.seed = options.seed ?? 1;
    const { config } = fn;
    const names = config.triggers.flatMap((each) => ("event" in each ? [each.event] : []));
    this.isSent = event !== undefined && event !== null;
    const delivered = this.delivered();
    const about = config.triggers.length === 0 ? config.id : delivered.name;
    this.entity = this.isSent ? entityField(about, delivered.data, options.entity ?? null) : null;
    const twinData = options.twin ?? (this.entity === null ? null : withAnother(delivered.data, this.entity));
    const fields = otherFields(delivered.data, this.entity);
    this.script = {
      modules: options.modules,
      env: fn.env,
      fn: fn.fn,
      names: [...names, delivered.name],
      tickName,
      event: delivered,
      twin: this.isSent && twinData !== null ? { ...delivered, id: `${delivered.id}-twin`, data: twinData } : null,
      changed: Object.fromEntries(fields.map((field) => [field, changedField(delivered.data, field)])),
      windowMs: config.idempotency?.windowMs ?? defaultWindowMs,
      outageMs,
      fixtures,
      waits: options.waits ?? {},
      changes: trial.changes ?? [],
    };
  }

  private delivered(): DeliveredEvent {
    const { event } = this.options;
    if (event !== undefined && event !== null) {
      // What only others invoke hears of no name.
      const name = this.options.fn.config.triggers.length === 0 ? tickName : event.name;
      return { name, id: event.id ?? "verify-event", data: event.data ?? {} };
    }
    const cron = this.options.fn.config.triggers.flatMap((each) => ("cron" in each ? [each.cron] : []))[0];
    const at = new Date(firstStart).toISOString();
    const data = cron === undefined ? {} : { cron, scheduledAt: at, fireAt: at };
    return { name: tickName, id: `${tickEventName}-1`, data };
  }

  async verify(): Promise<FunctionReport> {
    const { triggers } = this.options.fn.config;
    const needsEvent = triggers.length > 0 && triggers.every((each) => "event" in each);
    if (needsEvent && !this.isSent) return this.unproven("no example event", cleanSchedule.id, null);
    await this.recordAnswers();
    const hadWaits = await this.verifyVariant([]);
    // The same once more, with every wait in vain: another branch of the code, with a clean run of its own.
    const { only = null } = this.options;
    const isVainWanted = only === null ? this.findings.length === 0 : read(only).some(isInVain);
    if (hadWaits && isVainWanted) await this.verifyVariant([{ kind: "wait", answer: "timeout" }]);
    this.tellIdle();
    if (this.options.mends !== false) await this.improve();
    if (this.lacksTwin && (this.options.only ?? null) === null) {
      return this.unproven(
        "no twin could be made of the event, so nobody knows whether the function's key swallows other things; name the field that tells them apart (entity), or give the twin's data (twin)",
        cleanSchedule.id,
        null,
      );
    }
    return this.report();
  }

  /** One clean run that really asks: in all worlds after it the answers are known. */
  private async recordAnswers(): Promise<void> {
    const { record } = this.options;
    if (record === undefined) return;
    const script = { ...this.script, recordFrom: record.hosts };
    const answer = await this.play(cleanSchedule, firstStart, this.seed, false, script);
    const recorded = answer?.kind === "played" ? (answer.record.recorded ?? []) : [];
    record.take(recorded);
    this.script = { ...this.script, fixtures: [...this.script.fixtures, ...recorded] };
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
      this.find(
        {
          verdict: "UNPROVEN",
          thing: "two clean runs under another clock and other chance make different things",
          effect: null,
          notes: [],
        },
        first,
      );
      return false;
    }
    const twin = this.script.twin === null ? null : await this.playTwin(clean);
    if (twin === null && this.isSent && this.options.fn.config.idempotency !== null) this.lacksTwin = true;
    const { endHandlers } = this.options;
    const reference: Reference = { clean: first, twin, volatile, endHandlers };
    this.references.set(base.length > 0, reference);
    const facts = this.factsOf(first, twin !== null);
    this.facts ??= facts;
    const { first: before, rest } = this.wanted(facts, base);
    await this.playAll(before, reference);
    if (this.trial.isRefuted?.(this.findings) === true) return false;
    await this.playAll(rest, reference);
    if (first.effects.length > 0 && base.length === 0) await this.playHandlers(reference);
    if (this.findings.length === 0 && (this.options.only ?? null) === null)
      await this.playPairs(facts, base, reference);
    return first.hasWaits && base.length === 0;
  }

  private factsOf(clean: WorldRecord, hasTwin: boolean): CleanFacts {
    const { config } = this.options.fn;
    const names = config.triggers.flatMap((each) => ("event" in each ? [each.event] : []));
    return {
      effectCount: clean.effects.length,
      effectsInSteps: clean.effects.flatMap(({ index, step, isLate }) => (step !== null && !isLate ? [index] : [])),
      commitCount: clean.commits,
      commitsOfCode: clean.commitsOfCode,
      steps: clean.steps,
      hasWaits: clean.hasWaits,
      isSent: this.isSent,
      hasKey: config.idempotency !== null,
      // Whoever invokes a function twice wants it twice, unless its key says otherwise.
      isUnkeyed: config.unkeyed !== undefined || (config.triggers.length === 0 && config.idempotency === null),
      isBatched: config.batch !== undefined,
      otherNames: names.filter((name) => name !== this.script.event.name && !name.includes("*")),
      hasTwin,
      otherFields: Object.keys(this.script.changed),
    };
  }

  private wanted(
    facts: CleanFacts,
    base: readonly Adversity[],
  ): { readonly first: readonly Schedule[]; readonly rest: readonly Schedule[] } {
    const { only = null, remembered = [] } = this.options;
    // Each with the clean run it is compared with.
    const named = (names: readonly string[]) => read(names).filter((each) => isInVain(each) === base.length > 0);
    if (only !== null) return { first: [], rest: named(only) };
    const { picks = () => true } = this.options;
    const all = singles(facts)
      .filter(picks)
      .map(({ adversities }) => scheduleOf(...base, ...adversities));
    const before = named(remembered);
    const ids = new Set(before.map(({ id }) => id));
    return { first: before, rest: all.filter(({ id }) => !ids.has(id)) };
  }

  private async playAll(schedules: readonly Schedule[], reference: Reference): Promise<void> {
    this.known += schedules.length;
    const all = await Promise.all(
      schedules.map(async (schedule): Promise<Played | null> => {
        const answer = await this.play(schedule, firstStart, this.seed);
        return answer === null ? null : { schedule, answer };
      }),
    );
    // In their order, whichever thread was first: the same report each time.
    for (const played of all) {
      if (played !== null) this.weigh(played, await this.referenceFor(played.schedule, reference));
    }
  }

  /** With what handlers of a run's end make, where the schedule ends the run and something else goes wrong. */
  private async referenceFor(schedule: Schedule, reference: Reference): Promise<Reference> {
    if (this.options.endHandlers.length === 0 || schedule.adversities.length < 2 || isInVain(schedule))
      return reference;
    const end = runEnds.find((each) => schedule.adversities.some((other) => nameOf(other) === nameOf(each)));
    const handled = end === undefined ? null : await this.handledAt(end);
    return handled === null ? reference : { ...reference, handled: handled.things };
  }

  /** What handlers do where a run ends so and nothing goes wrong with them. */
  private handledAt(end: Adversity): Promise<Handled | null> {
    const name = nameOf(end);
    const known = this.handled.get(name) ?? this.playEnd(end);
    this.handled.set(name, known);
    return known;
  }

  private async playEnd(end: Adversity): Promise<Handled | null> {
    const answer = await this.play(scheduleOf(end), firstStart, this.seed);
    if (answer?.kind !== "played") return null;
    const isHandlers = (fn: string | null): boolean => fn !== null && this.options.endHandlers.includes(fn);
    const { effects, things } = answer.record;
    return {
      things: things.filter(({ by }) => isHandlers(by)),
      effects: effects.flatMap(({ fn, index }) => (isHandlers(fn) ? [index] : [])),
    };
  }

  /** Handlers of failures and cancellations: where a run ends so, what goes wrong with them in turn. */
  private async playHandlers(reference: Reference): Promise<void> {
    const { endHandlers, only = null } = this.options;
    if (endHandlers.length === 0 || only !== null) return;
    for (const end of runEnds) {
      const handled = await this.handledAt(end);
      if (handled !== null) await this.playAll([...inHandler(end, handled.effects)], reference);
    }
  }

  private async playPairs(facts: CleanFacts, base: readonly Adversity[], reference: Reference): Promise<void> {
    const { platform, budgetMs } = this.options;
    const until = platform.monoMs() + budgetMs;
    const batchSize = 16;
    const all = pairs(facts);
    while (platform.monoMs() < until && this.findings.length === 0) {
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

  /** Null once worlds do not answer any more. */
  private async play(
    schedule: Schedule,
    startMs: number,
    seed: number,
    isShown = false,
    script = this.script,
  ): Promise<Answer | null> {
    if (this.stuck >= stuckMax) return null;
    const message = { kind: "play", script: { ...script, startMs }, schedule: schedule.id, seed, isShown } as const;
    const answer = await this.options.threads.ask(message);
    if (answer.kind === "stuck") this.stuck++;
    this.played++;
    this.options.onPlayed?.(schedule.id, this.played, this.known);
    return answer;
  }

  /** Null, and a finding, where a clean run does not show what the function does. */
  private cleanRecord(answer: Answer | null): WorldRecord | null {
    if (answer?.kind !== "played") {
      this.found(unanswered(answer), cleanSchedule.id, this.seed, []);
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
    this.find({ verdict: "UNPROVEN", thing, effect: null, notes: [] }, record);
    return null;
  }

  private weigh({ schedule, answer }: Played, reference: Reference): void {
    if (answer.kind !== "played") {
      this.found(unanswered(answer), schedule.id, this.seed, []);
      return;
    }
    const { record } = answer;
    const judged = judge(record, reference);
    const [missing] = record.notHappened;
    if (missing !== undefined && judged.verdict === "HELD") {
      this.idle.set(schedule.id, missing);
      return;
    }
    this.happened.add(schedule.id);
    for (const each of record.assumptions) this.notes.add(`assumed: ${each}`);
    for (const note of judged.notes) this.notes.add(note);
    if (judged.verdict !== "HELD") this.find(judged, record);
  }

  /** A schedule that was asked for and does not happen proves nothing. */
  private tellIdle(): void {
    const { facts } = this;
    if (facts === null) return;
    for (const { id, adversities } of read(this.options.only ?? [])) {
      if (this.happened.has(id)) continue;
      const name = this.idle.get(id) ?? (facts.hasWaits ? null : "wait-timeout");
      const adversity = adversities.find((each) => nameOf(each) === name);
      if (adversity === undefined) continue;
      this.unproven(`${nameOf(adversity)} did not happen: ${whyNotHappened(adversity, facts)}`, id, null);
    }
  }

  /** Of what is remembered: what was played and did not happen, or means nothing any more. */
  private outdated(): string[] {
    const { remembered = [], only = null } = this.options;
    const { facts } = this;
    if (facts === null || only !== null) return [];
    return remembered.filter((name) => {
      const schedule = readSchedule(name);
      return schedule === null || this.idle.has(schedule.id) || (isInVain(schedule) && !facts.hasWaits);
    });
  }

  private find(judged: Judged, { schedule, seed, timeline }: WorldRecord): void {
    this.found(judged, schedule, seed, timeline);
  }

  /** One finding for each verdict about one effect: the first that showed it has the smallest schedule. */
  private found(judged: Judged, schedule: string, seed: number, timeline: Finding["timeline"]): void {
    if (judged.verdict === "HELD") return;
    const { effect, thing } = judged;
    const title = effect?.title ?? null;
    const place = judged.place ?? effect?.place ?? null;
    const isKnown = this.findings.some(
      (other) =>
        other.verdict === judged.verdict &&
        (title === null ? other.thing === thing : other.effect === title && other.place?.line === place?.line),
    );
    if (isKnown) return;
    const finding = this.findingOf(judged, schedule, seed, timeline);
    this.findings.push(finding);
    this.effectOf.set(finding, effect);
  }

  private findingOf(judged: Judged, schedule: string, seed: number, timeline: Finding["timeline"]): Finding {
    const { effect, thing } = judged;
    const title = effect?.title ?? null;
    const place = judged.place ?? effect?.place ?? null;
    const because = title === null ? null : (this.options.accepts?.(title) ?? null);
    const { name, data } = this.script.event;
    return {
      verdict: because === null && judged.verdict !== "HELD" ? judged.verdict : "ACCEPTED",
      thing,
      place,
      effect: title,
      step: effect?.step ?? null,
      schedule,
      seed,
      timeline,
      event: this.isSent ? { name, data } : null,
      mend: null,
      because,
    };
  }

  // ------------------------------------------------------------------------------------------------ for a person to act on

  private async improve(): Promise<void> {
    const { platform, fn, modules, readSource = () => null, twin } = this.options;
    const { config } = fn;
    const all = [...this.findings];
    const wrong = all.filter(({ verdict }) => verdict !== "UNPROVEN" && verdict !== "ACCEPTED");
    if (wrong.length === 0) return;
    const entityExpression = this.entity === null ? null : `event.data.${this.entity}`;
    const { event, twin: twinEvent } = this.script;
    const suggested = twinEvent === null ? null : await suggestKey(config.id, event.name, event.data, twinEvent.data);
    const key = {
      keyExpression: config.idempotency?.key ?? null,
      isUnkeyed: config.unkeyed !== undefined,
      suggestedKey: suggested ?? entityExpression,
      entityExpression,
    };
    for (const finding of wrong.slice(0, improvedMax)) {
      const until = platform.monoMs() + shrinkMsMax;
      const better = await improve(finding, {
        fnId: config.id,
        modules,
        readSource,
        effect: this.effectOf.get(finding) ?? null,
        findings: all,
        key,
        playAgain: (schedule) => this.playAgain(schedule),
        playWith: (schedule, data) => this.tried({ event: { ...event, data }, only: [schedule] }, {}),
        playChanged: (changes, schedule, isRefuted) => {
          const keyed = changes.find((each) => each.kind === "function-key");
          const changed = keyed === undefined ? fn : { ...fn, config: withFunctionKey(config, keyed.expression) };
          return this.tried({ fn: changed, only: null, remembered: [schedule] }, { changes, isRefuted });
        },
        // Whoever gave the twin's data knows which data goes together.
        isLate: () => twin !== undefined || platform.monoMs() > until,
      });
      this.findings[this.findings.indexOf(finding)] = better;
    }
  }

  /** The same function, looked at in another way. */
  private async tried(other: Partial<VerifyFunctionOptions>, trial: Trial): Promise<Tried> {
    const { onPlayed: _, remembered: __, picks: ___, ...options } = this.options;
    const verifier = new FunctionVerifier({ ...options, budgetMs: 0, mends: false, ...other }, trial);
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
    const judged = judge(record, await this.referenceFor(schedule, reference));
    return judged.verdict === "HELD" ? null : this.findingOf(judged, record.schedule, record.seed, record.timeline);
  }

  private unproven(thing: string, schedule: string, record: WorldRecord | null): FunctionReport {
    this.found({ verdict: "UNPROVEN", thing, effect: null, notes: [] }, schedule, this.seed, record?.timeline ?? []);
    return this.report();
  }

  private report(): FunctionReport {
    const verdicts: Verdict[] = this.findings.map(({ verdict }) => verdict);
    return {
      id: this.options.fn.config.id,
      verdict: worstOf(verdicts),
      schedules: this.happened.size,
      effects: this.effects,
      commits: this.commits,
      notes: [...this.notes],
      findings: this.findings,
      outdated: this.outdated(),
    };
  }
}

const read = (names: readonly string[]): Schedule[] => names.flatMap((name) => readSchedule(name) ?? []);

function unanswered(answer: Answer | null): Judged {
  const why =
    answer === null || answer.kind === "stuck"
      ? "a world did not come back: an endless loop"
      : answer.kind === "gone" || answer.kind === "failed"
        ? `a world could not be played: ${answer.why}`
        : "a world answered something else";
  return { verdict: "UNPROVEN", thing: why, effect: null, notes: [] };
}

function changedField(data: Json, field: string): Json {
  const record = data as { readonly [name: string]: Json };
  return { ...record, [field]: (withAnother({ value: record[field]! }, "value") as { value: Json }).value };
}
