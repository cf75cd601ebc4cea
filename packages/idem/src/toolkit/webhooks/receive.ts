// A receiver of webhooks, over Fetch: verifies, then claims and keeps in one commit, then answers, and never processes on the provider's
// connection.
//
//   body ─▶ 413       verify ─▶ 401, nothing kept       keep ─▶ 503 + Retry-After: the store is down or late, the provider tries again
//     └──▶ verify ──────┴─▶ handshake ─▶ 200              ├─▶ duplicate ─▶ 200 + Idempotent-Replayed, no work
//                              └─▶ read ─▶ keep ──────────┴─▶ fresh, or quarantined: a retry could not read it either ─▶ 200
import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { callWithin } from "../call-within.ts";
import type { Delivery, Verification, WebhookProvider } from "./provider.ts";
import type { Kept, WebhookStorage } from "./storage.ts";
import { type Normalise, type Received, readDelivery } from "./webhook-event.ts";

/** To log and to count, once each. Never a secret, a signature or a payload. */
export type WebhookNote =
  | {
      readonly kind: "refused";
      readonly source: string;
      readonly why: Extract<Verification, { kind: "refused" }>["why"];
    }
  | { readonly kind: "too-large"; readonly source: string }
  | { readonly kind: "handshake"; readonly source: string }
  | { readonly kind: "unavailable"; readonly source: string; readonly error: unknown }
  | {
      readonly kind: "kept" | "duplicate" | "conflicting-payload" | "quarantined" | "ignored";
      readonly source: string;
      readonly id: string | null;
      readonly type: string | null;
      readonly why: string | null;
    };

export interface ReceiveOptions {
  readonly source: string;
  readonly provider: WebhookProvider;
  readonly normalise: Normalise<unknown> | undefined;
  readonly ackBudget: string | number | undefined;
  readonly bytesMax: number | undefined;
  readonly onNote: ((note: WebhookNote) => void) | undefined;
  readonly platform: Platform | undefined;
}

export type WebhookReceiver = (request: Request) => Promise<Response>;

// Of the shortest time a provider waits, 3 s, this leaves one for the network.
const ackMsDefault = 2_000;
const bytesMaxDefault = 1024 * 1024;

export function receiver(options: ReceiveOptions, storage: WebhookStorage): WebhookReceiver {
  const { source, provider, normalise, platform = nodePlatform, bytesMax = bytesMaxDefault, onNote } = options;
  const ackMs = readAckBudget(options.ackBudget, provider);
  const note = (told: WebhookNote): void => {
    try {
      onNote?.(told);
    } catch {
      // A counter must not decide whether a delivery is taken.
    }
  };

  const keep = async (received: Received): Promise<Response> => {
    const called = await callWithin(platform, ackMs, () => storage.keep(received));
    if (called.kind !== "answer") {
      // Late is not lost: when it is committed after all, the provider's next try is a duplicate.
      if (called.kind === "late") called.pending.catch(() => {});
      note({ kind: "unavailable", source, error: called.kind === "failed" ? called.error : "over the ack budget" });
      return new Response("try again\n", { status: 503, headers: { "retry-after": "5" } });
    }
    const kept = called.value;
    note(noteOf(source, received, kept));
    if (kept.kind === "too-large") return new Response("too large\n", { status: 413 });
    return new Response(null, {
      status: 200,
      ...(kept.kind === "duplicate" ? { headers: { "idempotent-replayed": "true" } } : {}),
    });
  };

  return async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
    const bytes = await readBody(request, bytesMax);
    if (bytes === "too-large") {
      note({ kind: "too-large", source });
      return new Response("too large\n", { status: 413 });
    }
    if (bytes === "broken") return new Response(null, { status: 400 });
    const delivery: Delivery = { headers: request.headers, bytes, url: request.url };
    const verification = provider.verify(delivery, platform.wallMs());
    if (verification.kind === "refused") {
      note({ kind: "refused", source, why: verification.why });
      return new Response(null, { status: 401 });
    }
    const received = readDelivery(source, provider, delivery, normalise);
    // After the signature: every provider here signs its question, too, and nobody else gets an echo.
    const handshake = provider.handshake?.(delivery, received.event?.payload) ?? null;
    if (handshake === null) return keep(received);
    note({ kind: "handshake", source });
    return new Response(handshake.body, { status: 200, headers: { "content-type": handshake.type } });
  };
}

function readAckBudget(given: string | number | undefined, provider: WebhookProvider): number {
  if (given === undefined) return Math.min(ackMsDefault, provider.ackMs);
  const ms = parseDuration(given, "webhook: ackBudget");
  if (ms > 0 && ms <= provider.ackMs) return ms;
  const why = `${provider.name} waits ${provider.ackMs} ms; it must be above 0 and no longer than that`;
  throw errors.TOOLKIT_OPTION_INVALID({ call: "webhook", option: "ackBudget", why });
}

function noteOf(source: string, { event }: Received, kept: Kept): WebhookNote {
  if (kept.kind === "too-large") return { kind: "too-large", source };
  const about = { source, id: event?.id ?? null, type: event?.type ?? null };
  if (kept.kind === "quarantined") return { ...about, kind: "quarantined", why: kept.why };
  if (kept.kind === "duplicate" && kept.isConflicting) {
    return { ...about, kind: "conflicting-payload", why: "the same id came with another body; the first one stays" };
  }
  return { ...about, kind: kept.kind === "fresh" ? "kept" : kept.kind, why: null };
}

/** The body's bytes as they came, up to a bound: nothing is believed yet, so nothing is decoded. */
async function readBody(request: Request, bytesMax: number): Promise<Uint8Array | "too-large" | "broken"> {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) return "too-large";
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let count = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      count += value.byteLength;
      if (count > bytesMax) {
        await reader.cancel();
        return "too-large";
      }
      chunks.push(value);
    }
  } catch {
    // The sender went away in the middle, and will send it again.
    return "broken";
  }
}
