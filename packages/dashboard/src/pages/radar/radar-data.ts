// What the radar's pages ask the server for.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getJson } from "../../api/client.ts";
import { useLive } from "../../api/live.ts";

export interface Alert {
  readonly id: string;
  readonly kind: string;
  /** Null where it is about events. */
  readonly function: string | null;
  readonly subject: string;
  readonly state: "open" | "acknowledged" | "muted" | "closed";
  readonly title: string;
  readonly next: string;
  readonly line: string | null;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly pairCount: number;
  readonly of: "run" | "event";
  readonly differs: readonly string[];
  readonly judgedBy: string | null;
  readonly judgedAt: number | null;
  readonly note: string | null;
  readonly mutedUntil: number | null;
}

export interface Pair {
  /** JSON text of the value both have. */
  readonly entity: string;
  readonly firstId: string | null;
  readonly laterId: string;
  readonly at: number;
}

/** What became of telling a channel. */
export interface Delivery {
  readonly channel: string;
  readonly state: "sent" | "failed" | "trying";
  readonly at: number;
  readonly words: string;
}

export interface AlertWithPairs {
  readonly alert: Alert;
  readonly pairs: readonly Pair[];
  readonly deliveries?: readonly Delivery[];
  readonly next: string | null;
}

export interface Suggestion {
  readonly function: string;
  readonly expression: string | null;
  readonly line: string | null;
  readonly keyExpression: string | null;
  readonly runCount: number;
  readonly suppressedCount: number;
  readonly entityCount: number;
  /** In how many of the runs the field was there. */
  readonly presentCount: number;
  readonly differs: readonly string[];
  readonly refused: readonly {
    readonly expression: string;
    readonly why: "too-wide" | "too-narrow" | "not-always-there";
  }[];
  /** What people said no to, and why. */
  readonly leftOut: readonly {
    readonly expression: string;
    readonly reason: string;
    readonly by: string;
    readonly at: number;
  }[];
}

export interface Rule {
  readonly name: string;
  readonly more: number;
  readonly what: "runs" | "events" | "effects";
  readonly of: string;
  readonly withinMs: number;
  readonly function: string | null;
  readonly muted: boolean;
}

export interface KnownFunction {
  readonly function: string;
  readonly id: string;
  readonly name: string;
  readonly key: { readonly expression: string } | null;
}

// New pairs join an open alert without a word in the stream.
const askedEveryMs = 3_000;

const useAskedEvery = (): number | false => (useLive().state === "paused" ? false : askedEveryMs);

// As many cards as are read; the rest is in the history.
const alertsMax = 50;

/** Those that wait for somebody: open first, then those somebody knows of. */
export function useAlerts() {
  return useQuery({
    queryKey: ["radar", "alerts"],
    queryFn: async ({ signal }) => {
      const list = (state: Alert["state"]) =>
        getJson<{ alerts: Alert[]; openCount: number }>("api/radar/alerts", { state, limit: alertsMax }, signal);
      const [open, acknowledged] = await Promise.all([list("open"), list("acknowledged")]);
      return { alerts: [...byWeight(open.alerts), ...byWeight(acknowledged.alerts)], openCount: open.openCount };
    },
    refetchInterval: useAskedEvery(),
  });
}

/** What ran twice before what may have, the largest first. */
const byWeight = (alerts: readonly Alert[]): Alert[] =>
  [...alerts].sort((a, b) => weight(b) - weight(a) || b.pairCount - a.pairCount);
const weight = ({ kind }: Alert): number =>
  kind === "doubled-runs" || kind === "key-ran-again" ? 2 : kind === "maybe-doubled" ? 0 : 1;

// More than are drawn one by one; beyond it the drawing is a bar per hour, of these.
export const pairsMax = 500;

export function useAlert(id: string) {
  return useQuery({
    queryKey: ["radar", "alert", id],
    queryFn: ({ signal }) =>
      getJson<AlertWithPairs>(`api/radar/alerts/${encodeURIComponent(id)}`, { limit: pairsMax }, signal),
    refetchInterval: useAskedEvery(),
  });
}

export function useSuggestion(fn: string | null, isWaiting = false) {
  return useQuery({
    queryKey: ["radar", "suggestion", fn],
    queryFn: ({ signal }) => getJson<Suggestion>(`api/radar/suggestions/${encodeURIComponent(fn!)}`, {}, signal),
    enabled: fn !== null,
    // It is made from hundreds of events: asked often only while somebody waits for the key to be live.
    refetchInterval: isWaiting ? askedEveryMs : 60_000,
    retry: false,
  });
}

/** A function or a source of webhooks in its first seven days. */
export interface WatchedClosely {
  readonly what: "function" | "source";
  readonly name: string;
  readonly until: number;
}

interface Rules {
  readonly rules: readonly Rule[];
  readonly watchedClosely: readonly WatchedClosely[];
}

const useRulesAnswer = <T>(select: (answer: Rules) => T) =>
  useQuery({
    queryKey: ["radar", "rules"],
    queryFn: ({ signal }) => getJson<Rules>("api/radar/rules", {}, signal),
    select,
  });

export const useRules = () => useRulesAnswer(rulesOf);
export const useWatchedClosely = () => useRulesAnswer(watchedOf);
const rulesOf = ({ rules }: Rules) => rules;
const watchedOf = ({ watchedClosely }: Rules) => watchedClosely;

export const channelKinds = ["slack", "email", "webhook", "log"] as const;
export type ChannelKind = (typeof channelKinds)[number];

export interface Channel {
  readonly name: string;
  readonly kind: ChannelKind;
  /** Where it goes, without what is secret of it. */
  readonly host: string | null;
  /** Tells addresses apart. */
  readonly urlMark: string | null;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly muted: boolean;
}

export const useChannels = () =>
  useQuery({
    queryKey: ["radar", "channels"],
    queryFn: async ({ signal }) =>
      (await getJson<{ channels: readonly Channel[] }>("api/radar/channels", {}, signal)).channels,
    retry: false,
  });

export const useFunctions = () =>
  useQuery({
    queryKey: ["functions", "names"],
    queryFn: async ({ signal }) =>
      (await getJson<{ functions: readonly KnownFunction[] }>("api/functions", {}, signal)).functions,
    staleTime: 30_000,
  });

/** What its author called it; its name in the environment until that is known. */
export function useFunctionName(fn: string | null): string {
  const { data } = useFunctions();
  return fn === null ? "" : (data?.find((each) => each.function === fn)?.id ?? fn);
}

export interface Preview {
  readonly count: number;
  readonly eventCount: number;
  readonly days: number;
  readonly isAll: boolean;
}

export interface RuleDraft {
  readonly more: number;
  readonly what: Rule["what"];
  readonly of: string;
  readonly within: string;
  readonly function: string;
}

export const usePreview = (draft: RuleDraft, isReady: boolean) =>
  useQuery({
    queryKey: ["radar", "preview", draft],
    queryFn: ({ signal }) =>
      getJson<Preview>("api/radar/preview", { ...draft, function: draft.function || undefined }, signal),
    enabled: isReady,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });
