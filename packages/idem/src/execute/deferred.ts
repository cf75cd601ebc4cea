// Work a run put off until its end: one event for each, in the commit that ends the run, whatever its end is
// (docs/reference/wire.md#ops). Its id comes from the step, so a rerun's deferred work is recognised as the same.
import { type DestinationOf, destinationKey } from "../dedup/destination-key.ts";
import { errors } from "../model/errors.ts";
import { deferredEventName } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import type { Step } from "../model/step.ts";
import { dayMs } from "../model/window.ts";
import { mergeSessions } from "../protocol/event-sessions.ts";
import type { NewEvent } from "../store/ingest.ts";

// As many as Inngest takes. More is refused when it is reported: dropped later, it would go unnoticed.
const defersMax = 20;

/** Throws when a run would put off more than it may. */
export function checkDefers(runId: string, recordedCount: number, coming: readonly { kind: string }[]): void {
  if (recordedCount + coming.filter(isDefer).length > defersMax) {
    throw errors.RUN_TOO_MANY_DEFERS({ runId, max: defersMax });
  }
}

export const isDefer = ({ kind }: { readonly kind: string }): boolean => kind === "defer";

export function deferredEvents(
  steps: readonly Step[],
  run: DestinationOf & { readonly runId: string },
  made: { readonly newId: () => string; readonly now: number },
): NewEvent[] {
  const aborted = new Set(
    steps
      .filter(({ kind }) => kind === "defer-abort")
      .map(({ outcome }) => (fromJson(outcome.json) as { readonly target?: unknown } | null)?.target),
  );
  return steps
    .filter(({ kind, stepId }) => kind === "defer" && !aborted.has(stepId))
    .map(({ name, repeat, outcome }) => {
      const { function: slug, input, meta } = fromJson(outcome.json) as Record<string, unknown>;
      const about = { fn_slug: slug, parent_fn_slug: run.fn, parent_run_id: run.runId };
      return {
        id: made.newId(),
        callerId: destinationKey(run, name, repeat),
        windowMs: dayMs,
        name: deferredEventName,
        data: JSON.stringify({ ...(typeof input === "object" ? input : { input }), _inngest: about }),
        ts: made.now,
        extra: extraOf(meta),
        sourceRunId: run.runId,
      };
    });
}

/** Put-off work is started in any case: sessions that cannot be kept are left out. */
function extraOf(meta: unknown): string | null {
  if (meta === null || meta === undefined) return null;
  try {
    return JSON.stringify({ meta: mergeSessions(meta, "Deferred work") });
  } catch {
    return null;
  }
}
