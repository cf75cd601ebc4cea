// One open run, replayed over new code without effects: recorded steps give back what they gave, and what the record does not have ends the branch that asks
// for it. It is a pass of the engine itself over the run's memo; only what it would begin, write down or ask outside is left out.
import { limits } from "../../engine/limits.ts";
import { invokedEvent } from "../../engine/prepare-ingest.ts";
import { callInProcess } from "../../execute/call-in-process.ts";
import type { FunctionCode } from "../../execute/function-code.ts";
import type { Work } from "../../execute/operation.ts";
import { Pass } from "../../execute/pass.ts";
import type { EffectStore, RunPorts } from "../../execute/ports.ts";
import type { RecordedAs } from "../../execute/recorded-ids.ts";
import { SiblingPlans } from "../../execute/sibling-plans.ts";
import { payloadOf } from "../../model/event.ts";
import { Expressions } from "../../model/expression.ts";
import { takeEquality } from "../../model/expression-equality.ts";
import type { StepKind } from "../../model/step.ts";
import { StepIds } from "../../model/step-id.ts";
import { StepError } from "../../model/user-errors.ts";
import type { Advanced } from "../../store/advance.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { AskedStep, Replay, ReplayEnd, ReplayedRun } from "../deploy/replay.ts";
import { type Entry as Supposing, suppose } from "../deploy/suppose.ts";
import { placeIn } from "./caller.ts";
import { type Life, never } from "./life.ts";
import { isOurs } from "./our-folder.ts";
import { realMonoMs, realTurn } from "./real.ts";
import type { WorldClock } from "./world-clock.ts";

/** A process for one entry into the code, with a clock of its own. */
export interface Entered {
  readonly life: Life;
  readonly clock: WorldClock;
  /** Counts what has happened in it. */
  readonly stirred: () => number;
  /** Reached for outside. */
  readonly refused: ReadonlySet<string>;
}

export interface ReplayPlace {
  /** Everything the body does belongs to this entry. */
  enter<T>(run: { readonly fn: string; readonly runId: string }, body: (entered: Entered) => Promise<T>): Promise<T>;
  /** Throws for data that the client's schema of the event refuses. */
  readonly checkData: (event: unknown) => Promise<void>;
}

/** Turns of the loop without anything happening after which code that waits is taken to wait. */
const quietTurns = 3;
/** As long as the engine waits for a branch that is late: what its code awaits beside steps may take this long, on its own clock. */
const patienceMs = 10_000;
/** Where it stands at no step at all. */
const longMs = 60 * 60 * 1_000;
/** Of the machine's own time, while it does something for the code. */
const machineMsMax = 1_500;

const stepIds = new StepIds();
const expressions = new Expressions(limits.expressionsCached);
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function replayRun(code: FunctionCode, run: ReplayedRun, place: ReplayPlace): Promise<Replay> {
  const { memo } = run;
  const recorded = new Set([...memo.steps, ...memo.waits, ...memo.attempts].map(({ stepId }) => stepId));
  const refusedData = await place.checkData(payloadOf(memo.event)).then(
    () => null,
    (error: unknown) => wordsOf(error),
  );
  const enter = (given: RunMemo) => enterOnce(code, { ...run, memo: given }, recorded, place);
  const first = await enter(memo);
  const { last, supposed } = await suppose(memo, first, enter);
  return { runId: memo.run.id, end: first.end, ...last, supposed, refused: first.refused, refusedData };
}

interface Entry extends Supposing {
  readonly refused: readonly string[];
}

async function enterOnce(
  code: FunctionCode,
  { fn, env, memo }: ReplayedRun,
  recorded: ReadonlySet<string>,
  place: ReplayPlace,
): Promise<Entry> {
  const runId = memo.run.id;
  return place.enter({ fn, runId }, async (entered) => {
    const suspending: (() => void)[] = [];
    const ports = portsOf(
      memo,
      entered,
      (answer) => suspending.push(answer),
      () => pass.asked.length,
    );
    let end: ReplayEnd | null = null;
    const pass = new ReplayPass(ports, memo, recorded, (why) => {
      end ??= { kind: "conflict", why };
    });
    const event = payloadOf(memo.event);
    const events = memo.events.length === 1 ? [event] : memo.events.map(payloadOf);
    const { subject, generation } = memo.run;
    const call = {
      pass,
      ports,
      destination: { env, fn, subject, generation },
      limits,
      runId,
      event,
      events,
      inputs: memo.inputs,
      attempt: 1,
      maxAttempts: code.config.retries + 1,
    };
    const run = async () => callInProcess(call, code, silent, silent);
    void run().then(
      () => {
        end ??= { kind: "returned" };
      },
      (error: unknown) => {
        end ??= threwOf(error);
      },
    );
    void pass.closed.then((result) => {
      end ??= result.kind === "broken" ? threwOf(result.error) : { kind: "waits" };
    });
    await settle(entered, suspending, () => end !== null);
    pass.giveUp("it was only replayed");
    const { asked, passedOver } = pass;
    return { end: end ?? { kind: "hangs" }, asked, passedOver, refused: [...entered.refused] };
  });
}

/** Lets the code go as far as it does without the outside: turns, what the machine does for it, and its own timers. */
async function settle(
  { clock, life, stirred }: Entered,
  suspending: (() => void)[],
  isOver: () => boolean,
): Promise<void> {
  const beganAt = realMonoMs();
  const from = clock.monoMs();
  let seen = stirred();
  for (let quiet = 0; !isOver(); ) {
    await realTurn();
    if (stirred() !== seen) {
      seen = stirred();
      quiet = 0;
      continue;
    }
    if (++quiet < quietTurns) continue;
    if (isAtWork(life) && realMonoMs() - beganAt < machineMsMax) continue;
    const next = clock.next("awaited");
    const untilMs = suspending.length > 0 ? patienceMs : longMs;
    if (next !== null && next - from <= untilMs) await clock.moveTo(Math.max(next, clock.monoMs()), async () => {});
    else if (suspending.length > 0) for (const answer of suspending.splice(0)) answer();
    else return;
    quiet = 0;
  }
}

const isAtWork = ({ underway }: Life): boolean =>
  underway > 0 ||
  process.getActiveResourcesInfo().some((name) => /Req|ZLIB|Zlib|PBKDF|SCRYPT|RANDOM|SIGN|HASH/.test(name));

/** Notes what the code asks for. */
class ReplayPass extends Pass {
  readonly asked: AskedStep[] = [];

  constructor(
    ports: RunPorts,
    memo: RunMemo,
    private readonly recorded: ReadonlySet<string>,
    onConflict: (why: string) => void,
  ) {
    super(ports, memo, limits, {
      attemptsMax: 1,
      lostWorkers: 0,
      backoff: null,
      deadlineAt: null,
      slots: null,
      stepTimeoutMs: null,
      // Steps are compared at the end, with all that is known then.
      divergence: { policy: "warn", isWatched: false, hasTimes: true },
      diverged: () => {},
      conflict: ({ message }) => onConflict(message),
      around: (_, body) => body(),
      warn: () => {},
    });
  }

  override requestAs(kind: StepKind, ids: RecordedAs, workOf: () => Work, step = ids.name): Promise<unknown> {
    let work: Work | null = null;
    const isUnderWay = this.memo.isWaiting(ids.stepId);
    const given = (): Work => {
      work = workOf();
      return work;
    };
    const promise = super.requestAs(kind, ids, given, step);
    const { stepId, name, repeat } = ids;
    const isNew = !this.recorded.has(stepId);
    this.asked.push({ stepId, name, repeat, step, kind, isNew, input: isUnderWay ? inputOf(work) : null });
    return promise;
  }

  /** Records that stand for a step which has another one (`was`): nobody asks for them, and that is right. */
  get passedOver(): string[] {
    return this.memo.known.map(({ stepId }) => stepId).filter((stepId) => !this.memo.unasked.has(stepId));
  }
}

function inputOf(work: Work | null): string | null {
  try {
    return work?.kind === "wait" ? (work.plan().wait.input ?? null) : null;
  } catch {
    // The code gets its fault where the wait would be begun.
    return null;
  }
}

function threwOf(error: unknown): ReplayEnd {
  const { stack = null } = error instanceof Error ? error : {};
  return { kind: "threw", why: wordsOf(error), place: placeIn(stack, isOurs), isRecorded: isOfStep(error) };
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === "Error" || error.message.startsWith(error.name)
    ? error.message
    : `${error.name}: ${error.message}`;
}

/** Causes of causes, as far as anybody writes them. */
const causesMax = 10;

function isOfStep(error: unknown): boolean {
  let cause = error;
  for (let i = 0; i < causesMax && cause instanceof Error; i++, cause = cause.cause) {
    if (cause instanceof StepError) return true;
  }
  return false;
}

const untold: Advanced = {
  kind: "advanced",
  now: 0,
  seen: 0,
  outcomes: [],
  news: [],
  stamps: null,
  leased: true,
  ingested: null,
  woken: [],
  freed: false,
};

/** Nothing is begun, so none of these is ever asked. */
const noEffects: EffectStore = { claim: never, extend: never, settle: never, release: never, report: () => {} };

function portsOf(
  memo: RunMemo,
  { life, clock }: Entered,
  suspend: (answer: () => void) => void,
  askedCount: () => number,
): RunPorts {
  const platform = life.platform();
  const runId = memo.run.id;
  const now = () => clock.wallMs();
  let ids = 0;
  const newId = () => `${runId}-${++ids}`;
  return {
    dispatch: { jobId: runId, generation: 0 },
    plans: new SiblingPlans(),
    now,
    reached: now,
    random: () => 0,
    newId,
    stepId: (name, repeat) => stepIds.of(name, repeat),
    soon: (run) => life.soon(run),
    timer: (ms, run) => platform.timer(ms, run),
    point: () => {},
    fetch: never,
    isHeld: () => true,
    // The run is given back once its code has come as far as it can; a branch that was late goes on.
    advance: ({ next }, _seen, _log, to) => {
      const before = askedCount();
      if (next.kind === "suspend") suspend(() => to.answered({ ...untold, leased: askedCount() > before }));
      else queueMicrotask(() => to.answered({ ...untold, leased: next.kind === "continue" }));
    },
    transact: never,
    effects: noEffects,
    beginsHere: () => false,
    checkExpression: (expression) => {
      expressions.get(expression);
    },
    takeEquality: (text) => takeEquality(expressions.get(text), payloadOf(memo.event)),
    acceptSends: never,
    acceptInvoked: (invoked) => invokedEvent(invoked, { runId, fn: memo.run.fn, app: "" }, { newId, now: now() }),
    signal: never,
  };
}
