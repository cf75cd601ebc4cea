// Paddle Billing. `Paddle-Signature: ts=…;h1=…[;h1=…]` over `ts:body`. Five seconds to answer; 60 retries over three days.
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, instant, jsonOf, words } from "../payload.ts";
import { type TimedProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import { readSecrets, readTolerance } from "../signature.ts";
import { signStampedList, verifyStampedList } from "../stamped-list.ts";

const list = { header: "paddle-signature", separator: ";", stamp: "ts", signature: "h1", joint: ":" };

export function paddle(options: TimedProviderOptions): WebhookProvider {
  refuseUnknown<TimedProviderOptions>("paddle", options, { secrets: true, tolerance: true });
  const { secrets, tolerance } = options;
  const keys = readSecrets("paddle", secrets);
  // Their library allows 5 s, which a slow proxy uses up; five minutes is what everybody else allows.
  const toleranceMs = readTolerance("paddle", tolerance, { ms: 300_000, msMin: 5_000, msMax: 300_000 });
  return {
    name: "paddle",
    ackMs: 5_000,
    windowMs: windowMsDefault,
    verify: (delivery, now) => verifyStampedList(list, { keys, toleranceMs }, delivery, now),
    parse: ({ bytes }) => jsonOf(bytes),
    read: (_delivery, payload) => ({
      // Not notification_id: that one is another for every destination.
      id: words(at(payload, "event_id")),
      type: words(at(payload, "event_type")),
      at: instant(at(payload, "occurred_at")),
      subject: words(at(payload, "data", "id")),
    }),
    sign: signStampedList(list),
  };
}
