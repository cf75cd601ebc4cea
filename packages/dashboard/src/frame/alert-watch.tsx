// A new alert appears on every page: in the badge, in the tab's title, and as one message that stays until it is opened or closed.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { getJson } from "../api/client.ts";
import { type Digest, useDigests } from "../api/live.ts";
import { addressOf } from "../base-path.ts";
import { say } from "./messages.ts";
import { setOpenAlerts } from "./open-alerts.ts";

interface OpenAlerts {
  readonly alerts: readonly { readonly id: string; readonly title: string }[];
  readonly openCount: number;
}

export const openAlertsKey = ["radar", "open"] as const;

const shownMax = 20;

export function AlertWatch() {
  const { data, refetch } = useQuery({
    queryKey: openAlertsKey,
    queryFn: ({ signal }) => getJson<OpenAlerts>("api/radar/alerts", { state: "open", limit: shownMax }, signal),
    retry: false,
  });
  const openCount = data?.openCount;
  useDigests(
    useCallback(
      (digest: Digest | null) => {
        const { alerts } = digest ?? {};
        const isTold =
          digest !== null && (alerts === undefined || (alerts.open === openCount && (alerts.new ?? []).length === 0));
        if (!isTold) void refetch({ cancelRefetch: false });
      },
      [refetch, openCount],
    ),
  );
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (data === undefined) return;
    setOpenAlerts(data.openCount);
    const fresh = known.current === null ? [] : data.alerts.filter(({ id }) => !known.current!.has(id));
    // What was open before this page was opened is in the badge; only what is new interrupts.
    known.current ??= new Set();
    for (const { id } of data.alerts) known.current.add(id);
    const [first] = fresh;
    if (first === undefined) return;
    const text = fresh.length === 1 ? `${first.title}.` : `${fresh.length} new alerts. ${first.title}.`;
    const href = fresh.length === 1 ? addressOf(`radar/alerts/${encodeURIComponent(first.id)}`) : addressOf("radar");
    say(text, { tone: "alert", link: { text: fresh.length === 1 ? "Open the alert" : "Open the radar", href } });
  }, [data]);
  return null;
}
