// The view that the address names. Typing in a filter replaces the entry in the history, choosing one adds an entry.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { isRunOrder, type RunOrder } from "../../../../idem/src/server/api/run-orders.ts";
import type { Query } from "../../api/client.ts";
import type { Choice } from "../../parts/field.tsx";
import { instantOf } from "../../parts/pin-time.ts";
import { clockOf, dateOf, isSameDay } from "../../parts/time-words.ts";

const useRunsSearch = () => useSearch({ from: "/runs" });

export type RunsSearch = ReturnType<typeof useRunsSearch>;
export type Group = NonNullable<RunsSearch["group"]>;

/** The page's time when the address names none. */
export const sinceUnlessTold = "7d";

/** Undefined takes a parameter out of the address. */
export type Change = { readonly [Name in keyof RunsSearch]?: RunsSearch[Name] | undefined };

/** For links: the address as it is, but for the change. */
export const changed =
  (change: Change) =>
  (now: object): RunsSearch =>
    ({ ...now, ...change }) as RunsSearch;

type Times = Pick<Query<"GET /api/groups">, "since" | "until" | "endedSince" | "endedUntil">;

const endStates: readonly string[] = ["completed", "failed", "cancelled"];

/** "Failed, last 7 days" is what failed in that time, whenever it began; what is open is asked for whatever its age, unless a time was chosen. */
export function timesOf(
  state: RunsSearch["state"],
  { since, until, by }: Pick<RunsSearch, "since" | "until" | "by">,
): Times {
  if (state === undefined && by === undefined) return { since: since ?? sinceUnlessTold, until };
  if (state === undefined || endStates.includes(state))
    return { endedSince: since ?? sinceUnlessTold, endedUntil: until };
  return { since, until };
}

export interface RunsView {
  readonly search: RunsSearch;
  readonly group: Group;
  /** As the grouping has it: what another grouping is ordered by does not count. */
  readonly order: "attention" | "newest" | RunOrder;
  readonly since: string;
  /** Of which state the runs are; `show=failed` is one as well. */
  readonly state: RunsSearch["state"];
  /** The time, as the list is asked for it. */
  readonly times: Times;
  /** The filters that totals have. */
  readonly range: Query<"GET /api/totals">;
  /** Something beyond time and function narrows the list: then totals are those of more than the list. */
  readonly isNarrowed: boolean;
  readonly isFiltered: boolean;
  readonly change: (change: Change, how?: { readonly replace?: boolean }) => void;
  readonly clear: () => void;
}

export function useRunsView(): RunsView {
  const search = useRunsSearch();
  const navigate = useNavigate({ from: "/runs" });
  const change = useCallback<RunsView["change"]>(
    (to, { replace = false } = {}) => void navigate({ search: changed(to), replace, resetScroll: false }),
    [navigate],
  );
  const clear = useCallback(
    () =>
      void navigate({
        search: ({ group, order, cols }) => ({
          ...(group === undefined ? {} : { group }),
          ...(order === undefined ? {} : { order }),
          ...(cols === undefined ? {} : { cols }),
        }),
        resetScroll: false,
      }),
    [navigate],
  );
  return useMemo(() => {
    const { group = "key", since = sinceUnlessTold, until, fn, state, key, event, q, cel, show } = search;
    const ofState = state ?? (show === "failed" ? "failed" : undefined);
    const isNarrowed = [state, search.by, key, event, q, cel, show].some((each) => each !== undefined);
    return {
      search,
      group,
      order: orderOf(group, search.order),
      since,
      state: ofState,
      times: timesOf(ofState, search),
      range: { since, until, fn },
      isNarrowed,
      isFiltered: isNarrowed || fn !== undefined || search.since !== undefined || until !== undefined,
      change,
      clear,
    };
  }, [search, change, clear]);
}

function orderOf(group: Group, order: RunsSearch["order"]): RunsView["order"] {
  if (group === "none") return order !== undefined && isRunOrder(order) ? order : "newest";
  return order === "newest" ? "newest" : "attention";
}

export const timeChoices: readonly Choice[] = [
  { value: "1h", text: "last hour" },
  { value: "4h", text: "last 4 hours" },
  { value: "24h", text: "last 24 hours" },
  { value: "7d", text: "last 7 days" },
  { value: "30d", text: "last 30 days" },
  { value: "90d", text: "last 90 days" },
];

const isAgo = /^\d+[smhdw]$/;
const units: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day", w: "week" };

/** "last 7 days", "15 May, 12:00 to 18:00": for a label. */
export function rangeWords(
  { since, search: { until } }: Pick<RunsView, "since" | "search">,
  now: number,
  utc: boolean,
): string {
  const chosen = until === undefined ? timeChoices.find(({ value }) => value === since)?.text : undefined;
  if (chosen !== undefined) return chosen;
  if (until === undefined && isAgo.test(since)) {
    const count = Number(since.slice(0, -1));
    return count === 1 ? `last ${units[since.at(-1)!]}` : `last ${count} ${units[since.at(-1)!]}s`;
  }
  const [from, to] = [instantOf(since), until === undefined ? null : instantOf(until)];
  if (from === null) return since;
  const minutes = (at: number) => clockOf(at, { utc, millis: false }).slice(0, 5);
  const whole = (at: number) => `${dateOf(at, now, utc)}, ${minutes(at)}`;
  if (to === null) return `since ${whole(from)}`;
  return `${whole(from)} to ${isSameDay(from, to, utc) ? minutes(to) : whole(to)}`;
}

/** "in the last 7 days", "from 15 May, 12:00 to 18:00": at the end of a sentence. */
export function inRange(words: string): string {
  if (words.startsWith("last ")) return `in the ${words}`;
  return words.startsWith("since ") ? words : `from ${words}`;
}
