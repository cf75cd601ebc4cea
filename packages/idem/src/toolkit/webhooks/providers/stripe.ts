// Stripe. `Stripe-Signature: t=…,v1=…[,v1=…][,v0=…]` over `t.body`; only v1 counts. The key is the whole secret, `whsec_` included.
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, instant, jsonOf, words } from "../payload.ts";
import { type TimedProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import { readSecrets, readTolerance } from "../signature.ts";
import { signStampedList, verifyStampedList } from "../stamped-list.ts";

const list = { header: "stripe-signature", separator: ",", stamp: "t", signature: "v1", joint: "." };

export function stripe(options: TimedProviderOptions): WebhookProvider {
  refuseUnknown<TimedProviderOptions>("stripe", options, { secrets: true, tolerance: true });
  const { secrets, tolerance } = options;
  const keys = readSecrets("stripe", secrets);
  // Stripe's own library knows no future: a stamp of next year passes there. Here it does not.
  const toleranceMs = readTolerance("stripe", tolerance, { ms: 300_000 });
  return {
    name: "stripe",
    // "Promptly"; retried with growing pauses for three days.
    ackMs: 10_000,
    windowMs: windowMsDefault,
    verify: (delivery, now) => verifyStampedList(list, { keys, toleranceMs }, delivery, now),
    parse: ({ bytes }) => jsonOf(bytes),
    read: (_delivery, payload) => ({
      id: words(at(payload, "id")),
      type: words(at(payload, "type")),
      at: instant(at(payload, "created")),
      // A thin event names its object without carrying it.
      subject: words(at(payload, "data", "object", "id")) ?? words(at(payload, "related_object", "id")),
    }),
    sign: signStampedList(list),
  };
}
