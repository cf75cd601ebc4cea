// Events with what was decided for each function: the list grouped by event.
import { z } from "zod";
import { decisionKinds } from "../../model/decision.ts";
import type { StoreReads } from "../../store/reads.ts";
import { examinedMax } from "./paging.ts";

export const eventGroup = z.object({
  id: z.string(),
  callerId: z.string().nullable(),
  name: z.string(),
  receivedAt: z.number().int(),
  firstEventId: z.string().nullable().describe("Set on a duplicate: the event that was first"),
  decisions: z.array(
    z.object({
      function: z.string(),
      kind: z.enum(decisionKinds),
      reason: z.string().nullable(),
      runId: z.string().nullable(),
    }),
  ),
  runCount: z.number().int(),
});
export type EventGroup = z.infer<typeof eventGroup>;

export interface EventGroupFilter {
  /** A name. */
  readonly event?: string;
  readonly since?: number;
  readonly until?: number;
  readonly before?: string | undefined;
  readonly limit: number;
}

export async function eventGroups(
  reads: StoreReads,
  env: string,
  { event, before, ...bounds }: EventGroupFilter,
): Promise<{ events: EventGroup[]; next: string | null }> {
  const page = await reads.eventPage(env, {
    ...bounds,
    examinedMax,
    ...(event === undefined ? {} : { name: event }),
    ...(before === undefined ? {} : { before }),
  });
  const decisions = await Promise.all(page.rows.map(({ id }) => reads.decisionsOfEvent(env, id)));
  const events = page.rows.map(({ id, callerId, name, receivedAt, firstEventId }, i): EventGroup => {
    const some = decisions[i]!.map(({ fn, kind, reason, runId }) => ({ function: fn, kind, reason, runId }));
    const runCount = some.filter(({ kind }) => kind === "started").length;
    return { id, callerId, name, receivedAt, firstEventId, decisions: some, runCount };
  });
  return { events, next: page.next };
}
