// Shopify. `X-Shopify-Hmac-SHA256` over the body, in base64; no time is signed. Five seconds to answer; eight retries over four hours,
// and then it may remove the subscription. After a rotation the old secret signs for up to an hour: configure both.
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, instant, jsonOf, words } from "../payload.ts";
import { type ProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import { fromBase64, hmac, isAnySame, isFault, readSecrets, refused, signatureHeader, verified } from "../signature.ts";

export function shopify(options: ProviderOptions): WebhookProvider {
  refuseUnknown<ProviderOptions>("shopify", options, { secrets: true });
  const { secrets } = options;
  const keys = readSecrets("shopify", secrets);
  return {
    name: "shopify",
    ackMs: 5_000,
    windowMs: windowMsDefault,
    verify(delivery) {
      const current = signatureHeader(delivery, "x-shopify-hmac-sha256");
      // The name in their Events preview.
      const header = current === "missing" ? signatureHeader(delivery, "shopify-hmac-sha256") : current;
      if (isFault(header)) return refused(header);
      const given = fromBase64(header);
      if (given === null) return refused("malformed");
      const made = keys.map((key) => hmac("sha256", key, delivery.bytes));
      return isAnySame(made, [given]) ? verified : refused("mismatch");
    },
    parse: ({ bytes }) => jsonOf(bytes),
    read: ({ headers }, payload) => ({
      id: words(headers.get("x-shopify-webhook-id")),
      type: words(headers.get("x-shopify-topic")),
      at: instant(headers.get("x-shopify-triggered-at")),
      subject: words(at(payload, "admin_graphql_api_id")) ?? words(at(payload, "id")),
    }),
    sign: ({ secret, bytes, url, id, type }) => ({
      url,
      headers: {
        "x-shopify-hmac-sha256": hmac("sha256", secret, bytes).toString("base64"),
        "x-shopify-webhook-id": id,
        "x-shopify-topic": type ?? "orders/create",
      },
    }),
  };
}
