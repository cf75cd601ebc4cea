// Reaches user code that lives in another process, call by call (docs/reference/wire.md#the-run-loop). The state machine:
//
//   ask ("step") ─┬─ returned / complete ─────────────▶ the run ends
//                 ├─ threw ───────────────────────────▶ an attempt of the code between steps failed
//                 ├─ ran … (also by checkpoint) ──────▶ recorded ──▶ ask
//                 ├─ one step threw ──────────────────▶ its attempt failed; at its time: ask
//                 └─ planned, sleeps, waits, invokes ─▶ opened side by side ──┬─ all over ─────▶ ask
//                                                                             └─ race: any over ▶ ask, plan only
//   opened: planned → a call for that step alone · fetch, infer → done here · the rest → a wait in the store
//
// Nothing of this is kept anywhere but in the memo: after a crash the code is asked again, plan only while something is still
// open, and reports what it is waiting for; what is open already is recognised by its id.
import { type Divergence, isDivergence, readDivergence } from "../model/divergence.ts";
import type { Step, StepKind } from "../model/step.ts";
import type { CallReply } from "../protocol/call-reply.ts";
import { mergeSessions } from "../protocol/event-sessions.ts";
import { completeId, type WireOp } from "../protocol/wire-ops.ts";
import type { NewStep } from "../store/advance.ts";
import { AppCall } from "./app-call.ts";
import { askedToFetch } from "./asked-for.ts";
import type { RemoteCode } from "./function-code.ts";
import { fetchAnswer, inferAnswer } from "./gateway.ts";
import type { Memo } from "./memo.ts";
import type { OpIds, Work } from "./operation.ts";
import type { Pass } from "./pass.ts";
import { AppUnreachableError, RemoteError } from "./remote.ts";
import { planWait } from "./remote-waits.ts";
import type { RunCall } from "./run-call.ts";
import { Slots } from "./slots.ts";

export interface RemoteRun extends RunCall {
  readonly code: RemoteCode;
  /** For an untraced call, by its id (protocol/traceparent.ts). */
  readonly traceparentOf: (requestId: string) => string;
  /** The run is to go no further, as its function says of code that diverged. */
  readonly stop: (found: readonly Divergence[]) => void;
}

type OpsReply = Extract<CallReply, { kind: "ops" }>;

/** Gives the function's value, or throws its error. Never settles once the pass is over: the next one starts from the memo. */
export function callRemote(run: RemoteRun): Promise<unknown> {
  return new RemotePass(run).go();
}

// An app whose answers lead nowhere must not be asked in a circle.
const staleMax = 3;
// Each call makes the app go through its code from the start: a thousand at once would hold a million of its steps in memory.
const stepsAtOnceMax = 25;
// As many as a run may have steps.
const repeatsTried = 1_000;

class RemotePass {
  private readonly app: AppCall;
  /** Steps opened here whose outcome is still to come. */
  private readonly open = new Map<string, Promise<void>>();
  /** The number of them that are over. */
  private over = 0;
  private isRace = false;
  private readonly slots = new Slots(stepsAtOnceMax);
  /** A step the store or we would not take: the run's own failure. */
  private refusal: { readonly error: unknown } | null = null;
  /** When the app was last asked what comes next. */
  private askedAt = 0;
  /** The steps recorded when the app last said what comes next. */
  private planned: readonly Step[] = [];

  constructor(private readonly run: RemoteRun) {
    this.app = new AppCall(run);
  }

  async go(): Promise<unknown> {
    const { pass } = this.run;
    let attempt = this.run.attempt - 1;
    let fruitless = 0;
    let mustWait = this.reopen();
    for (;;) {
      if (mustWait && (await this.someOver())) attempt = 0;
      const before = { over: this.over, recorded: pass.memo.rowCount };
      this.askedAt = this.run.ports.now();
      const reply = await pass.during(() =>
        this.app.ask(null, pass.memo.recorded, this.attemptOf(attempt), this.isPlanOnly),
      );
      if (reply === null) return never();
      if (this.run.ports.reportsElsewhere === true) await pass.collect();
      if (pass.isOver) return never();
      if (reply.kind === "returned") return JSON.parse(reply.json);
      if (reply.kind === "threw") throw new RemoteError(reply.error, reply.isFinal, reply.retryAfter);
      if (reply.kind === "stale") {
        if (pass.isOver || pass.isDraining) return never();
        if (++fruitless > staleMax) throw new AppUnreachableError("The app stopped the call as out of date");
        continue;
      }
      const end = await this.take(reply);
      if (end === "lost") return never();
      if (end !== null) return end.value;
      const someOver = this.over > before.over;
      const looksAgain = reply.ops.some(({ op }) => op === "look-again");
      if (!someOver && pass.memo.rowCount === before.recorded && this.open.size === 0 && !looksAgain) {
        if (++fruitless > 1) throw emptyAnswer();
      } else {
        fruitless = 0;
        attempt = 0;
      }
      // A step that ended while the app was being asked is already worth the next question.
      mustWait = this.open.size > 0 && !(this.isRace && someOver);
    }
  }

  /** While something is open, steps are only found: running one here would hide its siblings. */
  private get isPlanOnly(): boolean {
    return this.open.size > 0 || this.run.pass.memo.hasWaits;
  }

  /** Counted from 0. A single step that failed is tried again by asking: its own count goes with the question. */
  private attemptOf(ownAttempt: number): number {
    const { retrying } = this.run.pass.memo;
    const alone = this.open.size === 0 && retrying.length === 1 ? retrying[0]! : null;
    return alone === null ? ownAttempt : Math.max(ownAttempt, alone.count - alone.unreached);
  }

  private async someOver(): Promise<boolean> {
    const before = this.over;
    const open = [...this.open.values()];
    await (this.isRace ? Promise.race(open) : Promise.all(open));
    this.throwRefusal();
    return this.over > before;
  }

  private throwRefusal(): void {
    if (this.refusal !== null) throw this.refusal.error;
  }

  // ------------------------------------------------------------------------------------------------ taking an answer

  /** Records what is done and opens what is to come; the end of the run, if the answer held it. */
  private async take(reply: OpsReply): Promise<{ readonly value: unknown } | "lost" | null> {
    const { pass, ports, runId } = this.run;
    const { ops } = reply;
    if (!(await recordDone(ops, pass, ports.now()))) return "lost";
    const diverged = ops.filter((op) => op.op === "ran" && isDivergence(op));
    if (diverged.length > 0 && this.run.code.config.onDiverged !== undefined) {
      this.run.stop(diverged.map((op) => divergedOf(pass.memo, op.stepId)));
      return "lost";
    }
    this.planned = pass.memo.recorded;
    // Waits first: a sibling that sends the event must find them.
    for (const op of ops) if (op.op === "wait-for-event") this.openOp(op, reply);
    const complete = ops.find((op) => op.op === "complete");
    if (complete?.op === "complete") {
      // Steps the code did not wait for begin all the same, as they do in one process.
      for (const op of ops) if (op.op === "planned") this.openOp(op, reply);
      return { value: JSON.parse(complete.json) };
    }
    // An error that came with deferred work takes the place of an answer of its own (docs/reference/wire.md#ops).
    const codeThrew = ops.find((op) => op.op === "threw" && op.stepId === completeId);
    if (codeThrew?.op === "threw") throw thrownBy(codeThrew, reply);
    for (const op of ops) this.openOp(op, reply);
    this.throwRefusal();
    // Without the pending set of version 2 any step that is over is worth another look.
    this.isRace = reply.version < 2 || ops.some(({ race }) => race);
    if (this.open.size > 1) ports.plans.note(runId, this.isRace ? "any" : "all");
    return null;
  }

  private openOp(op: WireOp, reply: OpsReply): void {
    const { ports, limits } = this.run;
    switch (op.op) {
      case "planned":
        this.begin(op.kind, op, this.attemptAlone(op, null));
        break;
      case "threw":
        this.begin(op.kind, op, this.attemptAlone(op, { error: thrownBy(op, reply), began: this.beganAt(op) }));
        break;
      case "fetch":
        this.begin("fetch", op, {
          kind: "attempt",
          input: () => askedAt(op.method, op.url),
          run: ({ signal }) => fetchAnswer(op, ports, signal(), limits.fetchBytesMax),
        });
        break;
      case "infer":
        this.begin("fetch", op, {
          kind: "attempt",
          // Some models take their secret in the query.
          input: () => askedAt("POST", op.url.split("?")[0]!),
          run: ({ signal }) => inferAnswer(op, ports, signal(), limits.fetchBytesMax),
        });
        break;
      case "invoke":
        this.begin(op.op, op, this.invokeWork(op));
        break;
      case "sleep":
      case "wait-for-event":
      case "wait-for-signal":
        this.begin(op.op, op, { kind: "wait", plan: () => planWait(op, this.run) });
        break;
    }
  }

  // ------------------------------------------------------------------------------------------------ open steps

  private begin(kind: StepKind, { stepId, name, repeat }: OpIds, work: Work): void {
    const { pass } = this.run;
    if (this.open.has(stepId) || pass.memo.get(stepId) !== undefined) return;
    const settled = pass
      .requestAs(kind, { stepId, name, repeat }, () => work)
      .catch((error) => {
        // A failed step is an outcome like any other.
        if (pass.memo.get(stepId) === undefined) this.refusal = { error };
      })
      .then(() => {
        this.open.delete(stepId);
        this.over++;
      });
    this.open.set(stepId, settled);
  }

  /** By the app's clock, and not before it was asked; where it does not say, behind what it did last. */
  private beganAt({ startedAt }: Extract<WireOp, { op: "threw" }>): number {
    const since = this.run.pass.memo.recorded.reduce((last, { endedAt }) => Math.max(last, endedAt), this.askedAt);
    return Math.max(this.askedAt, startedAt ?? since);
  }

  /** A call for one step alone. `known` is how its first attempt failed, when that has been answered already, and when it began. */
  private attemptAlone(
    { input: given, ...ids }: OpIds & { readonly input: string | null },
    known: { readonly error: RemoteError; readonly began: number } | null,
  ): Work {
    let failure = known;
    let began: number | null = null;
    let input = given;
    // The code came to this step with these; what its siblings leave behind only makes the way longer (the SDK takes 75 ms to
    // come to one of a thousand planned steps, and 400 ms past the outcomes of the others).
    const { planned } = this;
    return {
      kind: "attempt",
      isElsewhere: true,
      input: () => input,
      began: () => began,
      run: async ({ attempt }) => {
        began = failure?.began ?? null;
        if (failure !== null) {
          const { error } = failure;
          failure = null;
          throw error;
        }
        // Its turn may come long after it was allowed to begin: a cancel or a lost lease meanwhile is looked at again.
        const reply = await this.slots.within(async (hasWaited) => {
          if (hasWaited) await this.run.pass.collect();
          return this.run.pass.during(() => this.app.ask(ids.stepId, planned, attempt - 1, true));
        });
        if (reply === null) throw new AppUnreachableError("The app was not asked: this process lets go of the run");
        if (reply.kind === "threw") throw new RemoteError(reply.error, reply.isFinal, reply.retryAfter);
        if (reply.kind === "stale") throw new AppUnreachableError("The app stopped the call as out of date");
        const op = reply.kind === "ops" ? reply.ops.find(({ stepId }) => stepId === ids.stepId) : undefined;
        if (op?.op === "ran" || op?.op === "threw") input = op.input ?? input;
        if (op?.op === "ran") return { json: op.json };
        if (op?.op === "threw" && reply.kind === "ops") throw thrownBy(op, reply);
        throw notAnswered(ids.name);
      },
    };
  }

  /** Sessions that cannot be kept fail the step for good: its code may catch it, and go on without the function. */
  private invokeWork(op: Extract<WireOp, { op: "invoke" }>): Work {
    try {
      if (op.meta !== null) mergeSessions(op.meta, `The data for function "${op.function}"`);
      return { kind: "wait", plan: () => planWait(op, this.run) };
    } catch (error) {
      return { kind: "attempt", run: () => Promise.reject(error) };
    }
  }

  /** A failed attempt is kept without its repeat; the id is made from it. */
  private repeatOf(stepId: string, name: string): number {
    for (let repeat = 0; repeat < repeatsTried; repeat++) {
      if (this.run.ports.stepId(name, repeat) === stepId) return repeat;
    }
    return 0;
  }

  /** Opens what an earlier pass left open, without asking; false when only the app can say what that is. */
  private reopen(): boolean {
    const { pass, ports, runId } = this.run;
    const { retrying, waitingIds } = pass.memo;
    const isBlocked = retrying.some(({ retryAt }) => retryAt > ports.reached());
    const isKnown = waitingIds.length > 0 ? ports.plans.of(runId) === "all" : isBlocked || retrying.length > 1;
    if (!isKnown) return false;
    this.planned = pass.memo.recorded;
    for (const { stepId, name } of retrying) {
      const ids = { stepId, name, repeat: this.repeatOf(stepId, name) };
      this.begin("run", ids, this.attemptAlone({ ...ids, input: null }, null));
    }
    // They are in the store and found by their ids; what they wait for is not planned again.
    for (const stepId of waitingIds) {
      this.begin("sleep", { stepId, name: "", repeat: 0 }, { kind: "wait", plan: plannedBefore });
    }
    return true;
  }
}

/** The part of a memo about steps that were not recorded yet. */
export type KnownOfSteps = Pick<Memo, "divergedName" | "inputOf"> & {
  failures(stepId: string): { readonly count: number } | null;
};

/** The ops reported as done, as steps to record. */
export function stepsDone(ops: readonly WireOp[], memo: KnownOfSteps, now: number): NewStep[] {
  return ops.flatMap((op): NewStep[] => {
    if (op.op !== "ran" && op.op !== "defer" && op.op !== "defer-abort") return [];
    const { stepId, repeat } = op;
    return [
      {
        stepId,
        // An app that noticed that its code diverged knows recorded steps by their ids alone.
        name: memo.divergedName(stepId) ?? op.name,
        repeat,
        kind: op.op === "ran" ? op.kind : op.op,
        outcome: { kind: "value", json: op.op === "defer-abort" ? JSON.stringify({ target: op.target }) : op.json },
        attempt: (memo.failures(stepId)?.count ?? 0) + 1,
        startedAt: op.op === "ran" ? Math.min(op.startedAt ?? now, now) : now,
        endedAt: now,
        input: memo.inputOf(stepId, op.op === "ran" ? op.input : null),
      },
    ];
  });
}

/** A value that is too large becomes its step's failure. False when the pass is over. */
async function recordDone(ops: readonly WireOp[], pass: Pass, now: number): Promise<boolean> {
  const fresh = stepsDone(ops, pass.memo, now).filter(({ stepId }) => pass.memo.get(stepId) === undefined);
  if (fresh.length > 0) await pass.record(fresh.map((step) => pass.fitting(step)));
  return !pass.isOver;
}

const divergedOf = (memo: Memo, stepId: string): Divergence => {
  const { name, outcome } = memo.get(stepId)!;
  return readDivergence({ stepId, name, json: outcome.json });
};

const thrownBy = (op: Extract<WireOp, { op: "threw" }>, { noRetry, retryAfter }: OpsReply): RemoteError =>
  new RemoteError(op.error, op.isFinal || noRetry, retryAfter);

/** Null for a text that is no address: the request says so, and fails. */
const askedAt = (method: string, url: string): string | null =>
  URL.canParse(url) ? askedToFetch(method, new URL(url)) : null;

const notAnswered = (step: string): RemoteError =>
  new RemoteError(
    { name: "StepNotFoundError", message: `The app did not answer for step "${step}" when it was asked for it` },
    false,
    null,
  );

const emptyAnswer = (): RemoteError =>
  new RemoteError(
    { name: "EmptyAnswerError", message: "The app answered without a step and without a result" },
    false,
    null,
  );

const never = (): Promise<never> => new Promise(() => {});

function plannedBefore(): never {
  throw new Error("a wait that was open before is not planned again");
}
