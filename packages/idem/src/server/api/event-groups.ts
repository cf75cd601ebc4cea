// Events with what was decided for each function: the list grouped by event.
import { z } from "zod";
import { decisionKinds } from "../../model/decision.ts";
import { detectedEvent } from "../../radar/follow-arrivals.ts";
import type { EventSummary, StoreReads } from "../../store/reads.ts";
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

// Pages that hold nothing but what the radar said of itself are passed by; beyond it the list is asked again, from there.
const pagesMax = 5;

export async function eventGroups(
  reads: StoreReads,
  env: string,
  filter: EventGroupFilter,
): Promise<{ events: EventGroup[]; next: string | null }> {
  const page = await otherThanRadars(reads, env, filter);
  const decisions = await reads.decisionsOfEvents(
    env,
    page.rows.map(({ id }) => id),
  );
  const events = page.rows.map(({ id, callerId, name, receivedAt, firstEventId }, i): EventGroup => {
    const some = decisions[i]!.map(({ fn, kind, reason, runId }) => ({ function: fn, kind, reason, runId }));
    const runCount = some.filter(({ kind }) => kind === "started").length;
    return { id, callerId, name, receivedAt, firstEventId, decisions: some, runCount };
  });
  return { events, next: page.next };
}

/** The radar's own events about every entity would be all there is to see on a bad day: asked for by name they are listed. */
async function otherThanRadars(reads: StoreReads, env: string, { event, before, ...bounds }: EventGroupFilter) {
  let next = before ?? null;
  let rows: readonly EventSummary[] = [];
  for (let pages = 0; pages < pagesMax && rows.length === 0; pages++) {
    const page = await reads.eventPage(env, {
      ...bounds,
      examinedMax,
      ...(event === undefined ? {} : { name: event }),
      ...(next === null ? {} : { before: next }),
    });
    rows = event === undefined ? page.rows.filter(({ name }) => name !== detectedEvent) : page.rows;
    next = page.next;
    if (next === null) break;
  }
  return { rows, next };
}
