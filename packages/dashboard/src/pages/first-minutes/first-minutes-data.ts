// A beginner's progress: an app, an event, a run, a duplicate that was stopped.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { type Answer, ask } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";

export type App = Answer<"GET /api/apps">["apps"][number];
export type TriedPort = Answer<"GET /api/apps">["tried"][number];
export type FunctionItem = Answer<"GET /api/functions">["functions"][number];
export type RunItem = Answer<"GET /api/runs">["runs"][number];
export type EventItem = Answer<"GET /api/events">["events"][number];

export interface Progress {
  readonly apps: readonly App[];
  readonly tried: readonly TriedPort[];
  readonly functions: readonly FunctionItem[];
  /** The newest. */
  readonly event: EventItem | null;
  readonly run: RunItem | null;
  readonly asked: number;
  readonly suppressed: number;
}

/** From 0 to 4: an app is connected, an event came, a run is there, a duplicate was stopped. */
export function stepsDone({ functions, event, run, suppressed }: Progress): number {
  if (functions.length === 0) return 0;
  if (suppressed > 0) return 4;
  return event === null ? 1 : run === null ? 2 : 3;
}

const place = "idem-first-minutes";
// A person who has sent this much is past the first minutes, duplicate or not.
const askedMax = 100;

const wasClosed = (): boolean => {
  try {
    return localStorage.getItem(place) === "closed";
  } catch {
    return false;
  }
};

const keepClosed = (): void => {
  try {
    localStorage.setItem(place, "closed");
  } catch {
    // It is closed until the page is loaded again.
  }
};

const lookMs = 3_000;

// The hours are counted for ninety days at least.
const since = "90d";

async function readProgress(signal: AbortSignal): Promise<Progress> {
  const [{ apps, tried }, { functions }, { events }, { runs }, totals] = await Promise.all([
    ask("GET /api/apps", { signal }),
    ask("GET /api/functions", { signal }),
    ask("GET /api/events", { query: { limit: 1 }, signal }),
    ask("GET /api/runs", { query: { limit: 1 }, signal }),
    ask("GET /api/totals", { query: { since }, signal }),
  ]);
  const { asked, suppressed } = totals;
  return { apps, tried, functions, event: events[0] ?? null, run: runs[0] ?? null, asked, suppressed };
}

export interface FirstMinutesState {
  /** `over`: something else stands here. */
  readonly kind: "asking" | "shown" | "over";
  readonly progress: Progress | null;
  readonly close: () => void;
}

/** Asked anew as things arrive, for as long as it is shown. */
export function useFirstMinutes(): FirstMinutesState {
  const queries = useQueryClient();
  const [isClosed, setClosed] = useState(wasClosed);
  // People who see the last step light up go on by themselves.
  const [began, setBegan] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["first minutes"],
    queryFn: ({ signal }) => readProgress(signal),
    enabled: !isClosed,
    // An app that registers is no news of the stream.
    refetchInterval: lookMs,
  });
  const isOver =
    isClosed || error !== null || (data !== undefined && !began && (stepsDone(data) === 4 || data.asked > askedMax));
  if (data !== undefined && !isOver && !began) setBegan(true);
  useFollow(
    useCallback(async () => {
      if (!isOver) await queries.invalidateQueries({ queryKey: ["first minutes"] });
    }, [queries, isOver]),
  );
  const close = () => {
    keepClosed();
    setClosed(true);
  };
  return { kind: isOver ? "over" : data === undefined ? "asking" : "shown", progress: data ?? null, close };
}
