// Judges the ledger and the store beside each other. Every check is a promise; what breaks it is named.
import { answerTo, laneMax, lanesMax, tickEveryMs, tickName } from "./answers.ts";
import { errorHash, valueHash } from "./functions.ts";
import type { LedgerFacts } from "./read-ledger.ts";
import type { StoreFacts } from "./read-store.ts";
import { hashOf } from "./records.ts";

export interface Violation {
  readonly check: string;
  readonly detail: string;
}

export interface Evidence {
  readonly ledger: LedgerFacts;
  readonly store: StoreFacts;
}

type Check = (evidence: Evidence) => Iterable<string>;

const takeoverMsMax = 30_000;

// Clocks are read in whole milliseconds, by two threads.
const roundingMs = 2;

const checks: Record<string, Check> = {
  "an acknowledged event is stored with the payload it was sent with": function* ({ ledger, store }) {
    for (const { eventId, hash } of [...ledger.acked, ...ledger.ackedOthers]) {
      const stored = store.events.get(eventId);
      if (stored === undefined) yield `event ${eventId} was acknowledged and is gone`;
      else if (hashOf(stored.data) !== hash) yield `event ${eventId} was changed to ${stored.data}`;
    }
  },

  "a call is stored whole or not at all, each time it is made": function* ({ store }) {
    const stored = new Map<number, Map<number, number>>();
    for (const { extra } of store.events.values()) {
      const meta = extra === null ? undefined : JSON.parse(extra).meta;
      if (meta === undefined) continue;
      const indexes = stored.get(meta.call) ?? new Map<number, number>();
      stored.set(meta.call, indexes.set(meta.index, (indexes.get(meta.index) ?? 0) + 1));
    }
    for (const [call, indexes] of stored) {
      const counts = Array.from({ length: Math.max(...indexes.keys()) + 1 }, (_, i) => indexes.get(i) ?? 0);
      if (new Set(counts).size > 1) yield `call ${call}: its events are stored ${counts.join(", ")} times`;
    }
  },

  "every call is answered in the end": function* ({ ledger }) {
    for (const call of ledger.tried) if (!ledger.answered.has(call)) yield `call ${call} was never answered`;
  },

  "one decision for each event and each function its name reaches": function* ({ store }) {
    for (const [id, event] of store.events) {
      const found = store.decisions.get(id)!;
      const wanted =
        event.name === "approval/given" ? [] : [`torture-${answerTo(event.name, fromText(event.data)).fn}`];
      const fns = found.map(({ fn }) => fn);
      if (fns.join() !== wanted.join()) yield `event ${id} (${event.name}) has decisions for [${fns}]`;
      for (const { kind, runId } of found) {
        if (isPausedTick(event.name, kind)) continue;
        if (runId === null) yield `event ${id}: ${kind} names no run`;
        else if (!store.runs.has(runId)) yield `event ${id}: ${kind} names run ${runId}, which is not there`;
      }
    }
  },

  "an acknowledged decision stands": function* ({ ledger, store }) {
    for (const { eventId, decisions } of ledger.acked) {
      if (decisions.length !== 1) yield `event ${eventId} was acknowledged with ${decisions.length} decisions`;
      for (const [, fn, kind, runId] of decisions) {
        const stored = store.decisions.get(eventId)?.find((decision) => decision.fn === `torture-${fn}`);
        if (stored?.kind === kind && stored.runId === runId) continue;
        yield `event ${eventId} was answered ${kind} ${runId}; stored is ${stored?.kind} ${stored?.runId}`;
      }
    }
  },

  "one run for each event id": function* ({ store }) {
    const firsts = new Map<string, string>();
    for (const { id, callerId, firstEventId } of store.events.values()) {
      if (callerId === null || firstEventId !== null) continue;
      const other = firsts.get(callerId);
      if (other !== undefined) yield `id ${callerId}: events ${other} and ${id} were both first`;
      firsts.set(callerId, id);
    }
  },

  "one run for each key": function* ({ store }) {
    const winners = new Map<string, string>();
    for (const { run, event } of store.runs.values()) {
      const data = fromText(event.data);
      // A receipt has no key of its own: the step that sent it must have made it once.
      const key = event.name === "receipt/made" ? data.order : run.key;
      if (key === null) continue;
      const name = `${run.fn} ${key}`;
      if (winners.has(name)) yield `${name}: runs ${winners.get(name)} and ${run.id}`;
      winners.set(name, run.id);
    }
  },

  "a duplicate names the winner": function* ({ store }) {
    const winners = new Map([...store.runs.values()].map(({ run }) => [`${run.fn} ${run.key}`, run.id]));
    for (const [id, decisions] of store.decisions) {
      const event = store.events.get(id)!;
      for (const { kind, fn, runId, firstEventId } of decisions) {
        if (kind === "started") {
          const run = store.runs.get(runId!);
          if (run?.run.eventId !== id) yield `event ${id} started ${runId}, which belongs to event ${run?.run.eventId}`;
          continue;
        }
        if (kind === "duplicate-event") {
          const first = store.decisions.get(event.firstEventId ?? "")?.find((decision) => decision.fn === fn);
          if (first === undefined || first.runId !== runId)
            yield `event ${id}: ${kind} names ${runId}, not ${first?.runId}`;
          continue;
        }
        if (isPausedTick(event.name, kind)) continue;
        if (kind !== "duplicate-key") yield `event ${id}: nothing here may be decided ${kind}`;
        const winner = winners.get(`${fn} ${fromText(event.data).order}`);
        if (winner !== runId) yield `event ${id}: ${kind} names ${runId}, not ${winner}`;
        if (store.runs.get(runId ?? "")?.run.eventId !== firstEventId)
          yield `event ${id}: its first is not ${firstEventId}`;
      }
    }
  },

  "no step is entered after its value was returned": function* ({ ledger }) {
    for (const [step, { entries, returnedAt }] of ledger.steps) {
      const again = entries.find(({ order }) => returnedAt !== null && order > returnedAt);
      if (again !== undefined) yield `${step}: returned in line ${returnedAt}, entered in line ${again.order}`;
    }
  },

  "a step has one value, and the store has the same": function* ({ ledger, store }) {
    for (const [step, { hashes }] of ledger.steps) {
      if (hashes.size > 1) yield `${step} was given as ${[...hashes].join(" and ")}`;
    }
    for (const { run, steps } of store.runs.values()) {
      for (const { name, outcome, kind } of steps) {
        const given = ledger.steps.get(`${run.id} ${name}`)?.hashes;
        if (given === undefined || given.size === 0 || kind === "sleep") continue;
        const value = JSON.parse(outcome.json);
        const stored = outcome.kind === "value" ? valueHash(value) : errorHash(value);
        if (!given.has(stored)) yield `${run.id} ${name}: given ${[...given]}, stored ${outcome.json}`;
      }
    }
  },

  "a step hands on one destination key": function* ({ ledger }) {
    for (const [step, { entries }] of ledger.steps) {
      if (new Set(entries.map(({ key }) => key)).size > 1) yield `${step}: ${entries.map(({ key }) => key)}`;
    }
  },

  "a step of a run that went on was entered before": function* ({ ledger, store }) {
    for (const { run, steps } of store.runs.values()) {
      for (const { name, kind } of steps) {
        if (kind !== "run" || (ledger.steps.get(`${run.id} ${name}`)?.entries.length ?? 0) > 0) continue;
        yield `${run.id} ${name} has an outcome, and nobody entered it`;
      }
    }
  },

  "every run ends with the right answer": function* ({ store }) {
    for (const { run, event } of store.runs.values()) {
      const wanted = answerTo(event.name, fromText(event.data));
      if (run.state !== wanted.state) yield `${run.fn} ${run.id} is ${run.state}, not ${wanted.state}: ${run.result}`;
      else if (run.state === "completed" && JSON.stringify(JSON.parse(run.result!)) !== JSON.stringify(wanted.output)) {
        yield `${run.fn} ${run.id} answered ${run.result} instead of ${JSON.stringify(wanted.output)}`;
      }
    }
    if (store.openJobs > 0) yield `${store.openJobs} jobs are still open`;
    for (const run of store.jobless) yield `run ${run} is open and has no job`;
  },

  "a client sees one end, the stored one": function* ({ ledger, store }) {
    for (const [runId, ends] of ledger.ends) {
      const run = store.runs.get(runId)?.run;
      const output = run?.state === "completed" ? JSON.parse(run.result!) : null;
      for (const { state, hash } of ends) {
        if (state !== run?.state || hash !== valueHash(output)) yield `${runId}: seen ${state}, stored ${run?.state}`;
      }
    }
    for (const { decisions } of ledger.acked) {
      for (const [, , , runId] of decisions) {
        if (!ledger.ends.has(runId!)) yield `${runId} was acknowledged, and no client saw its end`;
      }
    }
  },

  "after a cancel is acknowledged no attempt starts": function* ({ ledger }) {
    for (const { run, order, speaker } of ledger.cancels) {
      const late = (ledger.entriesOfRun.get(run) ?? []).filter((entry) => entry.order > order);
      // Another process may be about to enter its next step: it was given the value of the one before, and is refused with this.
      const isKnown = late.length === 1 && late[0]!.speaker !== speaker;
      if (late.length > 0 && !isKnown) {
        yield `${run}: cancel acknowledged in line ${order}, a step entered in ${late.map((entry) => entry.order)}`;
      }
    }
  },

  "no more are at work than a limit allows": function* ({ ledger: { lanes } }) {
    for (const [lane, most] of lanes.most) if (most > laneMax) yield `${most} in lane ${lane} of ${laneMax}`;
    if (lanes.mostInAll > lanesMax) yield `${lanes.mostInAll} in all lanes of ${lanesMax}`;
  },

  "each instant of a schedule is decided once and has at most one run": function* ({ store }) {
    const runs = [...store.runs.values()].filter(({ event }) => event.name === tickName);
    const instants = runs.map(({ run, event }) => `${run.fn} ${fromText(event.data).scheduledAt}`);
    for (const twice of instants.filter((instant, i) => instants.indexOf(instant) < i)) yield `${twice} has two runs`;
    const ticks = [...store.events.values()].filter(({ name }) => name === tickName);
    const times = ticks.map(({ data }) => Date.parse(fromText(data).scheduledAt)).sort((a, b) => a - b);
    for (const [i, time] of times.entries()) {
      if (i > 0 && time - times[i - 1]! !== tickEveryMs)
        yield `after ${new Date(times[i - 1]!).toISOString()} one is missing`;
    }
  },

  "what a lost process was in the middle of goes on elsewhere within 30 s": function* ({ ledger }) {
    for (const { run, ms, isCalm } of ledger.takeovers) {
      if (isCalm && ms > takeoverMsMax) yield `${run} was taken over after ${ms} ms`;
    }
  },

  "no sleep is over early": function* ({ ledger }) {
    for (const [run, { ms, askedAt, wokeAt }] of ledger.sleeps) {
      if (wokeAt !== null && wokeAt < askedAt + ms - roundingMs) yield `${run} slept ${wokeAt - askedAt} of ${ms} ms`;
    }
  },

  "the store is sound": ({ store }) => store.damage,

  "no lost writes are reported where none are lost": ({ store }) => store.losses,
};

/** At the end the schedule is paused, so that nothing begins any more. */
const isPausedTick = (name: string, kind: string): boolean => name === tickName && kind === "paused";

// More of the same teaches nothing.
const detailsMax = 5;

export function check(evidence: Evidence): Violation[] {
  return Object.entries(checks).flatMap(([name, find]) => {
    const details = [...find(evidence)];
    const more = details.length > detailsMax ? [`… and ${details.length - detailsMax} more`] : [];
    return [...details.slice(0, detailsMax), ...more].map((detail) => ({ check: name, detail }));
  });
}

/** An invoked function's data carries the engine's own note beside the user's fields. */
const fromText = (text: string): Record<string, any> => JSON.parse(text);
