// GitHub. `X-Hub-Signature-256: sha256=…` over the body; no time is signed. It never retries by itself; a redelivery by hand or by the
// API has the same `X-GitHub-Delivery`. Only the body is signed: the headers that name the event and the delivery are not.
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, formOf, isForm, jsonOf, parsePayload, words } from "../payload.ts";
import { type ProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import { fromHex, hmac, isAnySame, isFault, readSecrets, refused, signatureHeader, verified } from "../signature.ts";
import { eventShown } from "./github-events.ts";

const prefix = "sha256=";

export function github(options: ProviderOptions): WebhookProvider {
  refuseUnknown<ProviderOptions>("github", options, { secrets: true });
  const { secrets } = options;
  const keys = readSecrets("github", secrets);
  return {
    name: "github",
    ackMs: 10_000,
    windowMs: windowMsDefault,
    verify(delivery) {
      const header = signatureHeader(delivery, "x-hub-signature-256");
      if (isFault(header)) return refused(header);
      const given = header.startsWith(prefix) ? fromHex(header.slice(prefix.length)) : null;
      if (given === null) return refused("malformed");
      const made = keys.map((key) => hmac("sha256", key, delivery.bytes));
      return isAnySame(made, [given]) ? verified : refused("mismatch");
    },
    parse({ bytes }) {
      if (!isForm(bytes)) return jsonOf(bytes);
      const payload = formOf(bytes).get("payload");
      if (payload === null) throw new Error("the form has no field payload");
      return parsePayload(payload);
    },
    read(delivery, payload) {
      const event = eventShown(delivery.headers.get("x-github-event"), payload);
      const action = words(at(payload, "action"));
      return {
        id: words(delivery.headers.get("x-github-delivery")),
        type: event === null || action === null ? event : `${event}.${action}`,
        at: null,
        subject: words(at(payload, "repository", "full_name")),
      };
    },
    // A payload that is no ping was quarantined when it was read, and there is none here.
    handshake: ({ headers }, payload) =>
      headers.get("x-github-event") === "ping" && payload !== undefined ? { body: "", type: "text/plain" } : null,
    sign: ({ secret, bytes, url, id, type }) => ({
      url,
      headers: {
        "x-hub-signature-256": prefix + hmac("sha256", secret, bytes).toString("hex"),
        "x-github-delivery": id,
        "x-github-event": type ?? "push",
        "content-type": "application/json",
      },
    }),
  };
}
