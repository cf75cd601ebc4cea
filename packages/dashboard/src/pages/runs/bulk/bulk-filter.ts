// The runs bulk work is for: the rows that were ticked, or the filter of the page with its time pinned.
import type { Body } from "../../../api/client.ts";
import { pinned } from "../../../parts/pin-time.ts";
import type { GroupItem } from "../groups-data.ts";
import type { RunsView } from "../runs-view.ts";

export type BulkBody = Body<"POST /api/bulk">;
export type BulkFilter = BulkBody["filter"];

/** Null where the list is narrowed by something that bulk work cannot ask for. */
export function filterOfView({ search, times }: Pick<RunsView, "search" | "times">, now: number): BulkFilter | null {
  const { fn, state, key, event, q, cel, show } = search;
  if (show !== undefined && show !== "failed") return null;
  const shown = state ?? (show === "failed" ? ("failed" as const) : undefined);
  return {
    ...(fn === undefined ? {} : { function: fn }),
    ...(shown === undefined ? {} : { state: shown }),
    ...(key === undefined ? {} : { key }),
    ...(event === undefined ? {} : { event }),
    ...(q === undefined ? {} : { q }),
    ...(cel === undefined ? {} : { if: cel }),
    ...(times.endedSince === undefined
      ? { ...(times.since === undefined ? {} : { since: pinned(times.since, now) }), until: endOf(times.until, now) }
      : // Left as it was chosen: a length of time begins where the list counts it from.
        { endedSince: times.endedSince, endedUntil: endOf(times.endedUntil, now) }),
  };
}

/** For a link: the time of the list as instants. A length of time by ends is counted from a full hour or minute, as the list says. */
export function pinnedTimes(
  { times }: Pick<RunsView, "times">,
  countedSince: number | null,
  now: number,
): { readonly since?: string; readonly until?: string } {
  const since = times.endedSince ?? times.since;
  if (since === undefined) return {};
  const from = times.endedSince !== undefined && countedSince !== null ? new Date(countedSince).toISOString() : null;
  return { since: from ?? pinned(since, now), until: endOf(times.endedUntil ?? times.until, now) };
}

const endOf = (until: string | undefined, now: number): string =>
  until === undefined ? new Date(now).toISOString() : pinned(until, now);

/** The run a row stands for: of a key that ran more often, the newest that fits. */
export function runOfRow({ runs, id }: GroupItem, { search: { state, show } }: RunsView): string {
  const shown = state ?? (show === "failed" ? "failed" : undefined);
  const fitting = runs.filter((run) => shown === undefined || run.state === shown);
  return (
    [...(fitting.length === 0 ? runs : fitting)]
      .map((run) => run.id)
      .sort()
      .at(-1) ?? id
  );
}
