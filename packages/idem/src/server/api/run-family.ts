// A run among others: who asked for it, and which runs it asked for itself.
import { z } from "zod";
import { runStates } from "../../model/run.ts";
import { invokedRun } from "../../model/wait.ts";
import type { RunMemo } from "../../store/leases.ts";
import type { StoreReads } from "../../store/reads.ts";
import type { StepGiven } from "../../store/steps.ts";

// A run may invoke a thousand; its steps list all of them.
const childrenShown = 50;

const relative = {
  runId: z.string(),
  function: z.string(),
  state: z.enum(runStates),
  step: z.string().nullable().describe("The step that asked for it; null where the run is known by its event alone"),
};

export const runFamily = {
  parent: z
    .object({ ...relative, isInvoked: z.boolean().describe("False where the parent only sent the event") })
    .nullable()
    .describe("The run whose step invoked it or sent its event"),
  children: z.array(z.object(relative)).describe("The first fifty runs that its steps invoked"),
  childCount: z.number().int(),
};

type Family = z.infer<z.ZodObject<typeof runFamily>>;

export async function familyOf(
  reads: StoreReads,
  env: string,
  { run, event, steps, waits }: RunMemo,
  given: readonly StepGiven[],
): Promise<Family> {
  const names = new Map([...steps, ...waits].map(({ stepId, name }) => [stepId, name]));
  const invoked = given.flatMap(({ stepId, childRunId }) => {
    const runId = invokedRun(childRunId);
    return runId === null ? [] : [{ runId, step: names.get(stepId) ?? null }];
  });
  const children = await Promise.all(
    invoked.slice(0, childrenShown).map(async ({ runId, step }) => {
      const child = await reads.run(env, runId);
      return child === null ? [] : [{ runId, function: child.fn, state: child.state, step }];
    }),
  );
  return {
    parent: await parentOf(reads, env, run.id, event.sourceRunId),
    children: children.flat(),
    childCount: invoked.length,
  };
}

async function parentOf(
  reads: StoreReads,
  env: string,
  runId: string,
  sourceRunId: string | null,
): Promise<Family["parent"]> {
  const memo = sourceRunId === null ? null : await reads.runMemo(env, sourceRunId);
  if (memo === null) return null;
  // A step's input is not asked for, only which run it was for.
  const invoking = (await reads.stepInputs(env, memo.run.id, 0)).find(({ childRunId }) => childRunId === runId);
  const step = [...memo.steps, ...memo.waits].find(({ stepId }) => stepId === invoking?.stepId);
  return {
    runId: memo.run.id,
    function: memo.run.fn,
    state: memo.run.state,
    step: step?.name ?? null,
    isInvoked: invoking !== undefined,
  };
}
