// The questions of the radar's pages to the server.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { rollbackKind } from "../../../../idem/src/store/history.ts";
import { type Answer, ask } from "../../api/client.ts";
import { useLive } from "../../api/live.ts";

export type Alert = Answer<"GET /api/radar/alerts">["alerts"][number];
export type AlertWithPairs = Answer<"GET /api/radar/alerts/:alert">;
export type Pair = AlertWithPairs["pairs"][number];
/** The outcome of a delivery to a channel. */
export type Delivery = AlertWithPairs["deliveries"][number];
export type Suggestion = Answer<"GET /api/radar/suggestions/:function">;
type Rules = Answer<"GET /api/radar/rules">;
export type Rule = Rules["rules"][number];
export type Channel = Answer<"GET /api/radar/channels">["channels"][number];
export type ChannelKind = Channel["kind"];

// New pairs join an open alert without a word in the stream.
const askedEveryMs = 3_000;

const useAskedEvery = (): number | false => (useLive().state === "paused" ? false : askedEveryMs);

// As many cards as are read; the rest is in the history.
const alertsMax = 50;

/** Those that wait for a person: open first, then the acknowledged ones. */
export function useAlerts() {
  return useQuery({
    queryKey: ["radar", "alerts"],
    queryFn: async ({ signal }) => {
      const list = (state: Alert["state"]) =>
        ask("GET /api/radar/alerts", { query: { state, limit: alertsMax }, signal });
      const [open, acknowledged] = await Promise.all([list("open"), list("acknowledged")]);
      return { alerts: [...byWeight(open.alerts), ...byWeight(acknowledged.alerts)], openCount: open.openCount };
    },
    refetchInterval: useAskedEvery(),
  });
}

/** Lost writes before all, then things that ran twice before those that may have, the largest first. */
const byWeight = (alerts: readonly Alert[]): Alert[] =>
  [...alerts].sort((a, b) => weight(b) - weight(a) || b.pairCount - a.pairCount);
const weight = ({ kind }: Alert): number => {
  if (kind === rollbackKind) return 3;
  return kind === "doubled-runs" || kind === "key-ran-again" ? 2 : kind === "maybe-doubled" ? 0 : 1;
};

// More than are drawn one by one; beyond it the drawing is a bar per hour, of these.
export const pairsMax = 500;

export function useAlert(id: string) {
  return useQuery({
    queryKey: ["radar", "alert", id],
    queryFn: ({ signal }) =>
      ask("GET /api/radar/alerts/:alert", { params: { alert: id }, query: { limit: pairsMax }, signal }),
    refetchInterval: useAskedEvery(),
  });
}

export function useSuggestion(fn: string | null, isWaiting = false) {
  return useQuery({
    queryKey: ["radar", "suggestion", fn],
    queryFn: ({ signal }) => ask("GET /api/radar/suggestions/:function", { params: { function: fn! }, signal }),
    enabled: fn !== null,
    // It is made from hundreds of events: asked often only while a person waits for the key to be live.
    refetchInterval: isWaiting ? askedEveryMs : 60_000,
    retry: false,
  });
}

const useRulesAnswer = <T>(select: (answer: Rules) => T) =>
  useQuery({
    queryKey: ["radar", "rules"],
    queryFn: ({ signal }) => ask("GET /api/radar/rules", { signal }),
    select,
  });

export const useRules = () => useRulesAnswer(rulesOf);
export const useWatchedClosely = () => useRulesAnswer(watchedOf);
const rulesOf = ({ rules }: Rules) => rules;
const watchedOf = ({ watchedClosely }: Rules) => watchedClosely;

export const channelKinds = ["slack", "email", "webhook", "log"] as const satisfies readonly ChannelKind[];

export const useChannels = () =>
  useQuery({
    queryKey: ["radar", "channels"],
    queryFn: async ({ signal }) => (await ask("GET /api/radar/channels", { signal })).channels,
    retry: false,
  });

export const useFunctions = () =>
  useQuery({
    queryKey: ["functions", "names"],
    queryFn: async ({ signal }) => (await ask("GET /api/functions", { signal })).functions,
    staleTime: 30_000,
  });

/** Its author's name for it; its name in the environment until that is known. */
export function useFunctionName(fn: string | null): string {
  const { data } = useFunctions();
  return fn === null ? "" : (data?.find((each) => each.function === fn)?.id ?? fn);
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
      ask("GET /api/radar/preview", { query: { ...draft, function: draft.function || undefined }, signal }),
    enabled: isReady,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });
