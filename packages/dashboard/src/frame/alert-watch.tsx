// A new alert appears on every page: in the badge, in the tab's title, and as one message that stays until it is opened or closed.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { type Answer, ask } from "../api/client.ts";
import { type Digest, useDigests } from "../api/live.ts";
import { addressOf } from "../base-path.ts";
import { say } from "./messages.ts";
import { setOpenAlerts } from "./open-alerts.ts";

type OpenAlert = Answer<"GET /api/radar/alerts">["alerts"][number];

export const openAlertsKey = ["radar", "open"] as const;

const shownMax = 20;

export function AlertWatch() {
  const { data, refetch } = useQuery({
    queryKey: openAlertsKey,
    queryFn: ({ signal }) => ask("GET /api/radar/alerts", { query: { state: "open", limit: shownMax }, signal }),
    retry: false,
  });
  const openCount = data?.openCount;
  useDigests(
    useCallback(
      (digest: Digest | null) => {
        const { alerts } = digest ?? {};
        const isTold =
          digest !== null && (alerts === undefined || (alerts.open === openCount && (alerts.new ?? []).length === 0));
        if (!isTold) void refetch();
      },
      [refetch, openCount],
    ),
  );
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (data === undefined) return;
    setOpenAlerts(data.openCount);
    const fresh = known.current === null ? [] : data.alerts.filter(({ id }) => !known.current!.has(id));
    // Alerts open before this page was opened are in the badge; only new ones interrupt.
    known.current ??= new Set();
    for (const { id } of data.alerts) known.current.add(id);
    const [first] = fresh;
    if (first === undefined) return;
    const text = fresh.length === 1 ? wordsOf(first) : `${fresh.length} new alerts. ${wordsOf(first)}`;
    const href = fresh.length === 1 ? addressOf(`radar/alerts/${encodeURIComponent(first.id)}`) : addressOf("radar");
    // Magenta is for what happened twice.
    const isTwice = fresh.some(({ kind }) => /^(doubled-runs|key-ran-again|maybe-doubled|rule)$/.test(kind));
    say(text, {
      tone: isTwice ? "alert" : "note",
      link: { text: fresh.length === 1 ? "Open the alert" : "Open the radar", href },
    });
  }, [data]);
  return null;
}

/** Short enough for two lines; the alert's page has the rest. */
const wordsOf = ({ kind, function: fn, title }: OpenAlert): string =>
  fn !== null && (kind === "doubled-runs" || kind === "key-ran-again")
    ? `${fn} ran twice for the same thing.`
    : `${title}.`;
