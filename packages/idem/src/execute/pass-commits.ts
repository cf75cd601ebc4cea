// What a pass writes. Each answer is taken in before anybody hears of it: recorded outcomes go to the code, a lost run closes
// the pass.
import { isNote } from "../model/divergence.ts";
import type { Outcome, Step } from "../model/step.ts";
import type { AdvanceAnswer, NewStep } from "../store/advance.ts";
import { CommitQueue, type Committed } from "./commit-queue.ts";
import type { PassState } from "./pass-state.ts";
import type { AnswerTo, Patch, RunPorts } from "./ports.ts";
import type { StepSlots } from "./step-slots.ts";

export type Advanced = Extract<AdvanceAnswer, { kind: "advanced" }>;

export class PassCommits {
  /** Whether an outcome was recorded since the pass began: code between steps then has its attempts back. */
  progressed = false;
  /** Where steps take slots beside the run's own: every commit says how many. */
  slots: StepSlots | null = null;
  private readonly queue: CommitQueue;

  constructor(
    private readonly ports: Pick<RunPorts, "advance" | "point">,
    private readonly state: PassState,
    onCommitted: () => void,
  ) {
    this.queue = new CommitQueue(
      (patch, answered) => this.commitTogether(patch, answered),
      () => {
        state.leave();
        onCommitted();
      },
    );
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
    // As with any step beside waits: whoever was first wins the race.
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

  /** One patch, past those that wait their turn. Null when the pass is over. */
  send(patch: Patch): Promise<Advanced | null> {
    return new Promise((resolve) => {
      this.advance(patch, {
        answered: (answer) => resolve(this.judge(answer)),
        failed: (error) => {
          this.broken(error);
          resolve(null);
        },
      });
    });
  }

  private advance(patch: Patch, to: AnswerTo): void {
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

  private commitTogether(patch: Patch, answered: () => void): void {
    this.advance(patch, {
      answered: (answer) => {
        const advanced = this.judge(answer);
        if (advanced === null) {
          answered();
          return;
        }
        const after = (patch.steps?.length ?? 0) > 0 ? this.ports.point("step:after-commit") : undefined;
        if (after === undefined) this.takeIn(patch, advanced, answered);
        else void after.then(() => this.takeIn(patch, advanced, answered));
      },
      failed: (error) => {
        this.broken(error);
        answered();
      },
    });
  }

  private takeIn(patch: Patch, { outcomes, stamps, news, seen }: Advanced, answered: () => void): void {
    const { state } = this;
    if (!state.isClosed) {
      // Without waits nothing else is recorded, and the order of answers is the order of recording.
      const { lastStamp } = state.memo;
      const own = (patch.steps ?? none).map((step, i) => recorded(step, outcomes[i]!, stamps?.[i] ?? lastStamp));
      this.take(news.length === 0 ? own : [...own, ...news], seen);
    }
    answered();
  }
}

const none: readonly never[] = [];

// Fields one by one: docs/performance.md#objects.
const recorded = (
  { stepId, name, repeat, kind, attempt, startedAt, endedAt }: NewStep,
  outcome: Outcome,
  stamp: number,
): Step => ({ stepId, name, repeat, kind, outcome, attempt, startedAt, endedAt, stamp, worker: null });
