// One attempt of a step whose outcome is recorded by the same commit as what its code wrote.
//
//   begin ─▶ the code ─┬─ threw ──────────▶ rolled back: a failed attempt as any other
//                      └─ a value ─▶ its turn among the run's commits ─▶ recorded and committed ─▶ the code hears of it
//
// The turn comes first: if another commit of the run could come between this one and its answer, a race would have another winner on
// replay.
import type { AttemptFacts, Op, Ran, Work } from "./operation.ts";
import type { PassCommits } from "./pass-commits.ts";
import type { PassState } from "./pass-state.ts";
import type { RunPorts } from "./ports.ts";

export interface TransactionOf {
  readonly op: Op;
  readonly work: Extract<Work, { kind: "transaction" }>;
  readonly facts: AttemptFacts;
  readonly startedAt: number;
  readonly ports: Pick<RunPorts, "now" | "point" | "transact">;
  readonly state: PassState;
  readonly commits: PassCommits;
  /** Middleware, and whether the value is small enough; both before anything is committed. */
  readonly around: (run: () => Promise<Ran>) => Promise<Ran>;
}

/** Throws what made the attempt fail; nothing of it was written then. */
export async function attemptTransaction(of: TransactionOf): Promise<Ran> {
  const { op, work, facts, startedAt, ports, state, commits } = of;
  const { stepId, name, repeat, kind } = op;
  let leave = () => {};
  try {
    const given = { json: "" };
    const answer = await ports.transact!(async (tx) => {
      refuseIfOver(state);
      const { json } = await of.around(() => work.run(facts, tx));
      given.json = json;
      const before = ports.point("step:before-commit");
      if (before !== undefined) await before;
      leave = await commits.turn();
      refuseIfOver(state);
      const outcome = { kind: "value", json } as const;
      return { stepId, name, repeat, kind, outcome, attempt: facts.attempt, startedAt, endedAt: ports.now() };
    });
    if (answer.kind !== "recorded") {
      state.giveUp(answer.kind === "ended" ? `the run is ${answer.state}` : "another worker has the run");
      throw new Error("the run is not this worker's any more");
    }
    const { outcome, stamp } = answer;
    const times = { attempt: facts.attempt, startedAt, endedAt: ports.now() };
    await commits.takeRecorded({ stepId, name, repeat, kind, outcome, stamp, ...times, worker: null });
    return { json: given.json, isRecorded: true };
  } finally {
    leave();
  }
}

/** The pass is over: what the code wrote goes with it. */
function refuseIfOver({ isClosed }: PassState): void {
  if (isClosed) throw new Error("the run is not this worker's any more");
}
