// Sources of webhooks as the pages ask for them, and what they say about deliveries in words.
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { type Answer, ask, type Body } from "../../api/client.ts";

export type Source = Answer<"GET /api/webhooks">["sources"][number];
export type Delivery = Answer<"GET /api/webhooks/:name">["deliveries"][number];

// Deliveries are counted in the server's memory and told by no stream.
const askAgainMs = 5_000;

export const useSources = () =>
  useQuery({
    queryKey: ["sources"],
    queryFn: async ({ signal }) => (await ask("GET /api/webhooks", { signal })).sources,
    refetchInterval: askAgainMs,
  });

export const useSource = (name: string) =>
  useQuery({
    queryKey: ["sources", name],
    queryFn: ({ signal }) => ask("GET /api/webhooks/:name", { params: { name }, signal }),
    refetchInterval: askAgainMs,
  });

export const forgetSources = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ["sources"] });

export type NewSource = Body<"POST /api/webhooks">;

/** `secret`: made by the server, and told this once. */
export const addSource = (source: NewSource) => ask("POST /api/webhooks", { body: source });

const sum = (day: Source["day"], ...kinds: readonly string[]): number =>
  kinds.reduce((total, kind) => total + (day[kind] ?? 0), 0);

/** Deliveries = new + duplicates + refused + what was neither. */
export const figuresOf = ({ day }: Pick<Source, "day">) => ({
  all: Object.values(day).reduce((total, count) => total + count, 0),
  fresh: sum(day, "kept"),
  duplicates: sum(day, "duplicate", "conflicting-payload"),
  refused: sum(day, "refused", "too-large"),
  quarantined: sum(day, "quarantined"),
  unavailable: sum(day, "unavailable"),
});

export const keyWords = ({ key }: Pick<Source, "key">): string => (key === undefined ? "delivery id" : key.join(" + "));

/** Providers whose secret we may choose; the others show one of theirs. */
export const choosesSecret = (provider: string): boolean =>
  provider === "github" || provider === "standard-webhooks" || provider === "generic-hmac";

export interface Provider {
  readonly id: NewSource["provider"];
  readonly name: string;
  /** The place to find its secret. */
  readonly secret: string;
}

export const providers: readonly Provider[] = [
  { id: "stripe", name: "Stripe", secret: "Under Developers, Webhooks, the endpoint: Signing secret, whsec_…" },
  { id: "github", name: "GitHub", secret: "Leave it empty and one is made; paste it there as the webhook's secret" },
  { id: "shopify", name: "Shopify", secret: "The app's client secret" },
  { id: "slack", name: "Slack", secret: "Under Basic Information: Signing Secret" },
  { id: "clerk", name: "Clerk", secret: "Under Webhooks, the endpoint: Signing Secret, whsec_…" },
  { id: "resend", name: "Resend", secret: "Under Webhooks: Signing Secret, whsec_…" },
  { id: "svix", name: "Svix", secret: "The endpoint's Signing Secret, whsec_…" },
  { id: "linear", name: "Linear", secret: "Shown once when the webhook is made" },
  { id: "paddle", name: "Paddle", secret: "Under Notifications, the destination: Secret key" },
  { id: "twilio", name: "Twilio", secret: "The account's Auth Token" },
  { id: "standard-webhooks", name: "Any sender of Standard Webhooks", secret: "Leave it empty and one is made" },
  { id: "generic-hmac", name: "Any sender that signs with HMAC", secret: "Leave it empty and one is made" },
];

export const providerName = (id: string): string => providers.find((each) => each.id === id)?.name ?? id;

const refusals: Readonly<Record<string, string>> = {
  missing: "It carried no signature",
  malformed: "Its signature is not in the form this provider sends",
  stale: "It was signed too long ago, or the clocks differ",
  mismatch: "Signature was made with another secret",
};

export interface DeliveryWords {
  readonly glyph: "first" | "suppressed" | "failed" | "waiting" | "note";
  readonly words: string;
}

export function deliveryWords({ kind, why }: Pick<Delivery, "kind" | "why">): DeliveryWords {
  switch (kind) {
    case "kept":
      return { glyph: "first", words: "Genuine and new" };
    case "duplicate":
      return { glyph: "suppressed", words: "Genuine, known already: nothing started" };
    case "conflicting-payload":
      return { glyph: "suppressed", words: "Genuine, known already, but with another body: nothing started" };
    case "quarantined":
      return { glyph: "failed", words: `Genuine, but could not be read: ${why ?? "no reason given"}` };
    case "ignored":
      return { glyph: "note", words: "Genuine, and of no interest here" };
    case "handshake":
      return { glyph: "note", words: "The provider asked whether anybody is here" };
    case "too-large":
      return { glyph: "failed", words: "Refused: it is larger than 1 MB" };
    case "unavailable":
      return { glyph: "waiting", words: `Not kept, the provider will try again: ${why ?? "the store did not answer"}` };
    case "refused":
      return { glyph: "failed", words: refusals[why ?? ""] ?? "Refused" };
    default:
      return { glyph: "note", words: kind };
  }
}
