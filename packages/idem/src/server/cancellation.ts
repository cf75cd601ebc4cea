// A bulk cancel as /v1 shows it.
import type { Engine } from "../engine/engine.ts";
import type { RestCancellation } from "../protocol/rest-shapes.ts";
import type { BulkProgress } from "./bulk-work.ts";
import { readInstant } from "./read-input.ts";

export function cancellationOf(progress: BulkProgress, { registry }: Pick<Engine, "registry">): RestCancellation {
  const { filter, startedAt } = progress;
  const target = filter.fn === undefined ? null : registry.get(filter.fn);
  const instant = (text: string | undefined) => (text === undefined ? null : readInstant("filter", text, startedAt));
  return {
    id: progress.id,
    app: target?.app ?? null,
    functionId: target?.config.id ?? filter.fn ?? null,
    startedAfter: instant(filter.since),
    startedBefore: instant(filter.until),
    if: filter.if ?? null,
    createdAt: startedAt,
    state: progress.state,
    cancelledCount: progress.doneCount,
  };
}
