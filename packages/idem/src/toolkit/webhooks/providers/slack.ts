// Slack. `X-Slack-Signature: v0=…` over `v0:timestamp:body`, with the time in `X-Slack-Request-Timestamp`. Three seconds to answer; three
// retries, at once, after a minute and after five.
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, formOf, instant, isForm, jsonOf, words } from "../payload.ts";
import { type TimedProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
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

const prefix = "v0=";

export function slack(options: TimedProviderOptions): WebhookProvider {
  refuseUnknown<TimedProviderOptions>("slack", options, { secrets: true, tolerance: true });
  const { secrets, tolerance } = options;
  const keys = readSecrets("slack", secrets);
  const toleranceMs = readTolerance("slack", tolerance, { ms: 300_000 });
  return {
    name: "slack",
    ackMs: 3_000,
    windowMs: windowMsDefault,
    verify(delivery, now) {
      const header = signatureHeader(delivery, "x-slack-signature");
      if (isFault(header)) return refused(header);
      const given = header.startsWith(prefix) ? fromHex(header.slice(prefix.length)) : null;
      const text = delivery.headers.get("x-slack-request-timestamp");
      if (text === null) return refused("missing");
      const stamp = readStamp(text);
      if (given === null || stamp === null) return refused("malformed");
      const made = keys.map((key) => hmac("sha256", key, `v0:${stamp}:`, delivery.bytes));
      if (!isAnySame(made, [given])) return refused("mismatch");
      return isTimely(stamp * 1_000, now, toleranceMs) ? verified : refused("stale");
    },
    parse({ bytes }) {
      // Commands and buttons come as forms, the latter with JSON in a field.
      if (!isForm(bytes)) return jsonOf(bytes);
      const form = formOf(bytes);
      const payload = form.get("payload");
      return payload === null ? Object.fromEntries(form) : JSON.parse(payload);
    },
    read: (_delivery, payload) => ({
      id: words(at(payload, "event_id")),
      type: words(at(payload, "event", "type")) ?? words(at(payload, "type")) ?? words(at(payload, "command")),
      at: instant(at(payload, "event_time")),
      subject: words(at(payload, "event", "channel")) ?? words(at(payload, "team_id")),
    }),
    handshake(_delivery, payload) {
      const challenge = words(at(payload, "challenge"));
      return at(payload, "type") === "url_verification" && challenge !== null
        ? { body: challenge, type: "text/plain" }
        : null;
    },
    sign({ secret, bytes, url, at: ms }) {
      const stamp = Math.floor(ms / 1_000);
      return {
        url,
        headers: {
          "x-slack-request-timestamp": String(stamp),
          "x-slack-signature": prefix + hmac("sha256", secret, `v0:${stamp}:`, bytes).toString("hex"),
          "content-type": "application/json",
        },
      };
    },
  };
}
