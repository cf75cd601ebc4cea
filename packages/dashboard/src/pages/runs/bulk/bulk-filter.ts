// What bulk work is asked to be about: the rows that were ticked, or the filter of the page with its time pinned.
import type { Body } from "../../../api/client.ts";
import type { GroupItem } from "../groups-data.ts";
import { instantOf, type RunsView } from "../runs-view.ts";

export type BulkBody = Body<"POST /api/bulk">;
export type BulkFilter = BulkBody["filter"];

const unitMs: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** "1h" means the hour before now; what is chosen by hand is an instant already. */
function pinned(text: string, now: number): string {
  const ago = /^(\d+)([smhdw])$/.exec(text);
  const at = ago === null ? instantOf(text) : now - Number(ago[1]) * unitMs[ago[2]!]!;
  return at === null ? text : new Date(at).toISOString();
}

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
