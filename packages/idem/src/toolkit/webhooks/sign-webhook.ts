// Deliveries as a provider would send them, for tests of users: no sandbox delivers twice, late, or with yesterday's secret.
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { WebhookProvider } from "./provider.ts";

export interface SignWebhookOptions {
  /** When the provider signed it; now by default. */
  readonly at?: number;
  /** The delivery's id, where it travels in a header; made of chance by default. */
  readonly id?: string;
  /** The delivery's type, where it travels in a header (GitHub, Shopify). */
  readonly type?: string;
  readonly url?: string;
  /** Added to the provider's own, or put in place of them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A signed delivery.
 *
 * ```ts
 * const response = await receive(signWebhook(provider, secret, JSON.stringify({ id: "evt_1", type: "invoice.paid" })));
 * ```
 */
export function signWebhook(
  provider: WebhookProvider,
  secret: string,
  body: string | Uint8Array,
  options: SignWebhookOptions = {},
): Request {
  refuseUnknown<SignWebhookOptions>("signWebhook", options, {
    at: true,
    id: true,
    type: true,
    url: true,
    headers: true,
  });
  const { at, id, type, url = "https://localhost/webhooks", headers: given = {} } = options;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const signed = provider.sign({
    secret,
    bytes,
    url,
    id: id ?? `msg_${Buffer.from(nodePlatform.randomBytes(12)).toString("hex")}`,
    type: type ?? null,
    at: at ?? nodePlatform.wallMs(),
  });
  const headers = { "content-type": "application/json", ...signed.headers, ...given };
  return new Request(signed.url, { method: "POST", headers, body: bytes as Uint8Array<ArrayBuffer> });
}
