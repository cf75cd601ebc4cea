// The commits of a pass. Each answer is taken in before it is passed on: recorded outcomes go to the code, a lost run closes
// the pass.
import type { AnswerTo } from "../model/answer.ts";
import { isNote } from "../model/divergence.ts";
import type { Outcome, Step } from "../model/step.ts";
import type { AdvanceAnswer, NewStep } from "../store/advance.ts";
import { CommitQueue, type Commits, type Committed } from "./commit-queue.ts";
import type { PassState } from "./pass-state.ts";
import type { Patch, RunPorts } from "./ports.ts";
import type { StepSlots } from "./step-slots.ts";

export type Advanced = Extract<AdvanceAnswer, { kind: "advanced" }>;

/** Whose commits they are. */
export interface Committing {
  /** One was answered, and what it brought was taken in. */
  committed(): void;
}

/** Beside what stands in line, which it brings to the store itself, one patch at a time: it is whoever waits for that answer. */
export class PassCommits implements Commits, AnswerTo<AdvanceAnswer> {
  /** Whether an outcome was recorded since the pass began: code between steps then has its attempts back. */
  progressed = false;
  /** Of steps that take slots beside the run's own: every commit says how many. */
  slots: StepSlots | null = null;
  private readonly queue = new CommitQueue(this);
  /** The patch of the line that is on its way. */
  private sent: Patch | null = null;

  constructor(
    private readonly ports: Pick<RunPorts, "advance" | "point">,
    private readonly state: PassState,
    private readonly pass: Committing,
  ) {}

  isCommitted(): void {
    this.state.leave();
    this.pass.committed();
  }

  /** `by` is called once the patch is committed and its outcomes are on their way to the code. */
  add(patch: Patch, by: Committed): void {
    this.state.enter();
    this.queue.add(patch, by);
  }

  /** The same, to be awaited. */
  commit(patch: Patch): Promise<void> {
    return new Promise((committed) => this.add(patch, { committed }));
  }

  /** For a step that is recorded by a commit of its own: until it is left, nothing else of this run is committed. */
  turn(): Promise<() => void> {
    return this.queue.turn();
  }

  /** A step that was recorded so, in its turn. */
  async takeRecorded(step: Step): Promise<void> {
    const { state } = this;
    const after = this.ports.point("step:after-commit");
    if (after !== undefined) await after;
    if (state.isClosed) return;
    // As with any step beside waits: the first to end wins the race.
    const news = state.memo.hasWaits ? await this.send({ next: { kind: "continue", collect: true } }) : null;
    if (state.isClosed) return;
    if (news === null) this.take([{ ...step, stamp: state.memo.lastStamp }], state.memo.seen);
    else this.take([step, ...news.news], news.seen);
  }

  /** Writes down new waits and failed attempts while something else goes on. */
  async flush(): Promise<void> {
    const unsaved = this.state.unsaved.take();
    if (unsaved !== null) await this.commit({ ...unsaved, next: { kind: "continue", collect: false } });
  }

  take(steps: readonly Step[], seen: number): void {
    const { handOut, memo } = this.state;
    if (handOut.take(steps) && !steps.every(isNote)) this.progressed = true;
    memo.seen = Math.max(memo.seen, seen);
  }

  /** One patch, past those that wait their turn. `heard` gets null when the pass is over. */
  tell(patch: Patch, heard: (answer: Advanced | null) => void): void {
    this.advance(patch, {
      answered: (answer) => heard(this.judge(answer)),
      failed: (error) => {
        this.broken(error);
        heard(null);
      },
    });
  }

  /** The same, to be awaited. */
  send(patch: Patch): Promise<Advanced | null> {
    return new Promise((resolve) => this.tell(patch, resolve));
  }

  private advance(patch: Patch, to: AnswerTo<AdvanceAnswer>): void {
    const { lines, memo } = this.state;
    if (patch.lines !== undefined) lines.join(patch.lines);
    const beside = this.slots === null ? undefined : this.slots.said();
    this.ports.advance(beside === undefined ? patch : { ...patch, beside }, memo.seen, lines.take(), to);
  }

  private judge(answer: AdvanceAnswer): Advanced | null {
    const { state } = this;
    if (state.isClosed) return null;
    if (answer.kind === "advanced") {
      if (answer.beside !== undefined) this.slots?.answered(answer.beside);
      return answer;
    }
    state.giveUp(answer.kind === "ended" ? `the run is ${answer.state}` : "another worker has the run");
    return null;
  }

  private broken(error: unknown): void {
    this.state.close({ kind: "broken", error });
  }

  commitTogether(patch: Patch): void {
    this.sent = patch;
    this.advance(patch, this);
  }

  answered(answer: AdvanceAnswer): void {
    const advanced = this.judge(answer);
    if (advanced === null) {
      this.queue.answered();
      return;
    }
    const after = (this.sent!.steps?.length ?? 0) > 0 ? this.ports.point("step:after-commit") : undefined;
    if (after === undefined) this.takeIn(advanced);
    else void after.then(() => this.takeIn(advanced));
  }

  failed(error: unknown): void {
    this.broken(error);
    this.queue.answered();
  }

  private takeIn({ outcomes, stamps, news, seen }: Advanced): void {
    const { state } = this;
    const { steps = none } = this.sent!;
    if (!state.isClosed) {
      // Without waits nothing else is recorded, and the order of answers is the order of recording.
      const { lastStamp } = state.memo;
      const own = steps.map((step, i) => recorded(step, outcomes[i]!, stamps?.[i] ?? lastStamp));
      this.take(news.length === 0 ? own : [...own, ...news], seen);
    }
    this.queue.answered();
  }
}

const none: readonly never[] = [];

// Fields one by one: docs/performance.md#objects.
const recorded = (
  { stepId, name, repeat, kind, attempt, startedAt, endedAt }: NewStep,
  outcome: Outcome,
  stamp: number,
): Step => ({ stepId, name, repeat, kind, outcome, attempt, startedAt, endedAt, stamp, worker: null });
