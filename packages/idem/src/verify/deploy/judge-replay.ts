// The verdict on one open run under new code, from its record and from what the code asked for when it was replayed.
//
//   the replay                                           the verdict
//   threw (not by a recorded failure), or hangs          STUCK    its code does not come as far as it did
//   its steps claim one id (`was`)                       STUCK    the run is parked
//   asks for a recorded step as another kind of step     STUCK    it would be given what another kind of step left
//   a recorded step is not asked for ─┬─ a new one took its place      AGAIN    it is done, or waited for, a second time
//                                     └─ none did                      DROPPED  what it did stands, what it gave is not used
//   anything of this, and its code reached outside       UNPROVEN the answer it did not get may be why
//   nothing of this                                      GOES ON  with a note where a new step stands between such that are done
import { type DestinationOf, destinationKey } from "../../dedup/destination-key.ts";
import type { StepKind } from "../../model/step.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { Place } from "../thing.ts";
import type { Replay } from "./replay.ts";
import { type Recorded, recordedOf, unaskedOf } from "./suppose.ts";

export const runVerdicts = ["STUCK", "AGAIN", "DROPPED", "UNPROVEN", "GOES ON"] as const;
export type RunVerdict = (typeof runVerdicts)[number];

/** A destination's key of a step before, and the one it would carry now. */
export interface KeyChange {
  readonly before: string;
  readonly now: string;
}

/** Something about a run that is the same in others of its function: `step`, `asked` and `why` say what. */
export interface RunFact {
  readonly kind: Exclude<RunVerdict, "GOES ON"> | "NOTE";
  /** The recorded step it is about; null where it is about none. */
  readonly step: string | null;
  /** The new one in its place. */
  readonly asked: string | null;
  readonly why: string;
  readonly place: Place | null;
  /** Of a step that carries one. */
  readonly key: KeyChange | null;
}

export interface JudgedRun {
  readonly verdict: RunVerdict;
  readonly facts: readonly RunFact[];
}

const keyedKinds: ReadonlySet<StepKind> = new Set(["run", "transaction", "effect", "fetch", "send-event", "invoke"]);

/** These all leave a value: one may stand for the other. */
const valueKinds: ReadonlySet<StepKind> = new Set(["run", "transaction", "effect"]);

const kindWords: Readonly<Partial<Record<StepKind, string>>> = {
  run: "step.run",
  transaction: "step.transaction",
  effect: "step.effect",
  sleep: "a sleep",
  "wait-for-event": "step.waitForEvent",
  "wait-for-signal": "step.waitForSignal",
  invoke: "step.invoke",
  "send-event": "step.sendEvent",
  "send-signal": "step.sendSignal",
  fetch: "step.fetch",
};

const kindWord = (kind: StepKind): string => kindWords[kind] ?? kind;

const fact = (kind: RunFact["kind"], why: string, rest: Partial<RunFact> = {}): RunFact => ({
  kind,
  step: null,
  asked: null,
  why,
  place: null,
  key: null,
  ...rest,
});

/** `of` are the names the run's destination keys are made of. `waitInputs`: what waits under way were begun with, by step id. */
export function judgeReplay(
  memo: RunMemo,
  replay: Replay,
  of: DestinationOf,
  waitInputs: ReadonlyMap<string, string | null>,
): JudgedRun {
  const notes = notesOf(memo, replay, waitInputs);
  const wrong = [...stuckBy(memo, replay), ...changedSteps(memo, replay, of)];
  if (wrong.length === 0) return { verdict: "GOES ON", facts: notes };
  const [refused] = replay.refused;
  if (refused !== undefined) {
    const why = `its code asks for ${refused} outside of a step, and nothing answers here`;
    return { verdict: "UNPROVEN", facts: [fact("UNPROVEN", why), ...notes] };
  }
  const verdict = runVerdicts.find((each) => wrong.some(({ kind }) => kind === each))!;
  // Code that came less far has not asked for what comes later.
  const told = verdict === "STUCK" ? wrong.filter(({ kind }) => kind === "STUCK") : wrong;
  return { verdict, facts: [...told, ...notes] };
}

function stuckBy(memo: RunMemo, { end, asked }: Replay): RunFact[] {
  if (end.kind === "conflict") return [fact("STUCK", `the run would be parked: ${end.why}`)];
  if (end.kind === "hangs") {
    return [fact("STUCK", "its code waits for something that is no step, and that does not come")];
  }
  if (end.kind === "threw" && !end.isRecorded) {
    const last = memo.steps.at(-1)?.stamp ?? 0;
    const threwBefore = memo.attempts.some(({ stepId, stamp }) => stepId === "" && stamp > last);
    const before = threwBefore ? "; it has thrown before, too" : "";
    return [
      fact("STUCK", `its code throws before it comes to where the run stands: ${end.why}${before}`, {
        place: end.place,
      }),
    ];
  }
  const kinds = new Map<string, StepKind>([
    ...memo.steps.map(({ stepId, kind }) => [stepId, kind] as const),
    ...memo.waits.map(({ stepId, stepKind }) => [stepId, stepKind] as const),
  ]);
  return asked.flatMap(({ stepId, step, kind }) => {
    const before = kinds.get(stepId);
    if (before === undefined || before === kind || (valueKinds.has(before) && valueKinds.has(kind))) return [];
    const why = `it is ${kindWord(kind)} now and was ${kindWord(before)}, whose outcome it would be given`;
    return [fact("STUCK", why, { step })];
  });
}

function changedSteps(memo: RunMemo, replay: Replay, of: DestinationOf): RunFact[] {
  const { asked, supposed } = replay;
  const unasked = unaskedOf(recordedOf(memo), replay);
  const inPlaceOf = new Map(supposed.map(({ stepId, took }) => [took, stepId]));
  return unasked.map((before): RunFact => {
    const now = asked.find(({ stepId }) => stepId === inPlaceOf.get(before.stepId));
    if (now === undefined) return fact("DROPPED", droppedWords(before), { step: before.name });
    const key = keyedKinds.has(now.kind)
      ? {
          before: destinationKey(of, before.name, before.repeat),
          now: destinationKey(of, now.name, now.repeat),
        }
      : null;
    return fact("AGAIN", againWords(before), { step: before.name, asked: now.step, key });
  });
}

function againWords({ state, kind }: Recorded): string {
  if (state === "failing") return "it was tried before, and would be tried as another step";
  if (kind === "sleep") return state === "done" ? "it slept, and would sleep again" : "it sleeps, and would sleep anew";
  if (state === "waiting") return "it waits, and would begin to wait anew";
  return "it is done, and would be done again";
}

const droppedWords = ({ state }: Recorded): string =>
  state === "waiting"
    ? "it waits, and nothing asks for it any more"
    : state === "done"
      ? "it is done, and nothing asks for what it gave any more"
      : "it failed and was to be tried again, and nothing asks for it any more";

function notesOf(memo: RunMemo, replay: Replay, waitInputs: ReadonlyMap<string, string | null>): RunFact[] {
  const { asked, supposed, refusedData } = replay;
  const unasked = new Set(unaskedOf(recordedOf(memo), replay).map(({ stepId }) => stepId));
  const late = supposed.flatMap(({ stepId, took }): RunFact[] => {
    const step = asked.find((each) => each.stepId === stepId);
    if (step === undefined || (took === null ? unasked.size > 0 : unasked.has(took))) return [];
    return [fact("NOTE", "it is new and stands before steps that are done: it is done late", { asked: step.step })];
  });
  const waits = asked.flatMap(({ stepId, step, input }): RunFact[] => {
    const [before, now] = [conditionOf(waitInputs.get(stepId) ?? null), conditionOf(input)];
    if (before === null || now === null || before === now) return [];
    return [fact("NOTE", `it waits on with ${before}, as it began; now it is ${now}`, { step })];
  });
  const data =
    refusedData === null
      ? []
      : [fact("NOTE", `the schema of "${memo.event.name}" refuses the data it has: ${refusedData}; it keeps it`)];
  return [...late, ...waits, ...data];
}

/** The condition of a wait, without its end, which depends on the clock. Null where it is unknown. */
function conditionOf(input: string | null): string | null {
  if (input === null) return null;
  try {
    const { until: _, ...condition } = JSON.parse(input) as Record<string, unknown>;
    return Object.keys(condition).length === 0 ? null : JSON.stringify(condition);
  } catch {
    return null;
  }
}
