// Decisions as /api shows them: what became of one event for one function, and why.
import { z } from "zod";
import { type Decision, decisionKinds } from "../../model/decision.ts";

export const decisionItem = z.object({
  eventId: z.string(),
  function: z.string(),
  kind: z.enum(decisionKinds),
  reason: z.string().nullable(),
  runId: z
    .string()
    .nullable()
    .describe("The run that answers for this event: the one started, or the one that was first"),
  key: z.string().nullable().describe('As JSON, so that 7 and "7" differ'),
  windowEndsAt: z.number().int().nullable(),
  firstEventId: z.string().nullable(),
  decidedAt: z.number().int(),
});
export type DecisionItem = z.infer<typeof decisionItem>;

export const explainedDecision = decisionItem.extend({
  differs: z.array(z.string()).describe("On a duplicate: the paths at which its data differs from the first one's"),
});
export type ExplainedDecisionItem = z.infer<typeof explainedDecision>;

export const decisionItemOf = ({ fn, ...decision }: Decision): DecisionItem => ({
  eventId: decision.eventId,
  function: fn,
  kind: decision.kind,
  reason: decision.reason,
  runId: decision.runId,
  key: decision.key,
  windowEndsAt: decision.windowEndsAt,
  firstEventId: decision.firstEventId,
  decidedAt: decision.decidedAt,
});

export const explainedDecisionOf = (
  decision: Decision & { readonly differs: readonly string[] },
): ExplainedDecisionItem => ({ ...decisionItemOf(decision), differs: [...decision.differs] });
