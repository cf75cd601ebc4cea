// Linear. `Linear-Signature` over the body, in hex; the time is the body's own `webhookTimestamp`, and so it is signed, too. Five seconds to
// answer with 200; retries after a minute, an hour and six.
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, instant, jsonOf, words } from "../payload.ts";
import { type Delivery, type TimedProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import {
  fromHex,
  hmac,
  isAnySame,
  isFault,
  isTimely,
  readSecrets,
  readStamp,
  readTolerance,
  refused,
  signatureHeader,
  verified,
} from "../signature.ts";

export function linear(options: TimedProviderOptions): WebhookProvider {
  refuseUnknown<TimedProviderOptions>("linear", options, { secrets: true, tolerance: true });
  const { secrets, tolerance } = options;
  const keys = readSecrets("linear", secrets);
  const toleranceMs = readTolerance("linear", tolerance, { ms: 60_000 });
  return {
    name: "linear",
    ackMs: 5_000,
    windowMs: windowMsDefault,
    verify(delivery, now) {
      const header = signatureHeader(delivery, "linear-signature");
      if (isFault(header)) return refused(header);
      const given = fromHex(header);
      if (given === null) return refused("malformed");
      const made = keys.map((key) => hmac("sha256", key, delivery.bytes));
      if (!isAnySame(made, [given])) return refused("mismatch");
      const stamp = stampOf(delivery);
      if (stamp === "missing" || stamp === "malformed") return refused(stamp);
      return isTimely(stamp, now, toleranceMs) ? verified : refused("stale");
    },
    parse: ({ bytes }) => jsonOf(bytes),
    read({ headers }, payload) {
      const [type, action] = [words(at(payload, "type")), words(at(payload, "action"))];
      return {
        id: words(headers.get("linear-delivery")),
        type: type === null || action === null ? type : `${type}.${action}`,
        at: instant(at(payload, "createdAt")),
        subject: words(at(payload, "data", "id")),
      };
    },
    sign: ({ secret, bytes, url, id, at: ms }) => ({
      url,
      headers: {
        "linear-signature": hmac("sha256", secret, bytes).toString("hex"),
        "linear-timestamp": String(ms),
        "linear-delivery": id,
      },
    }),
  };
}

/** The body's comes first: nobody signs the header. */
function stampOf({ headers, bytes }: Delivery): number | "missing" | "malformed" {
  let inBody: unknown;
  try {
    inBody = at(jsonOf(bytes), "webhookTimestamp");
  } catch {
    // Authentic, but no JSON: the header is all there is, and quarantine takes the rest.
  }
  if (inBody !== undefined) return typeof inBody === "number" ? inBody : "malformed";
  const header = headers.get("linear-timestamp");
  return header === null ? "missing" : (readStamp(header) ?? "malformed");
}
