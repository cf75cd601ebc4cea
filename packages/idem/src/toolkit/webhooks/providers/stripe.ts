// Stripe. `Stripe-Signature: t=…,v1=…[,v1=…][,v0=…]` over `t.body`; only v1 counts. The key is the whole secret, `whsec_` included.
import { at, instant, jsonOf, words } from "../payload.ts";
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
  signaturesMax,
  verified,
} from "../signature.ts";

export function stripe({ secrets, tolerance }: TimedProviderOptions): WebhookProvider {
  const keys = readSecrets("stripe", secrets);
  // Stripe's own library knows no future: a stamp of next year passes there. Here it does not.
  const toleranceMs = readTolerance("stripe", tolerance, { ms: 300_000 });
  return {
    name: "stripe",
    // "Promptly"; retried with growing pauses for three days.
    ackMs: 10_000,
    windowMs: windowMsDefault,
    verify(delivery, now) {
      const header = signatureHeader(delivery, "stripe-signature");
      if (isFault(header)) return refused(header);
      const parts = header.split(",").map((part) => part.split("=", 2) as [string, string | undefined]);
      const stamps = parts.filter(([name]) => name === "t");
      const stamp = readStamp(stamps[0]?.[1] ?? null);
      const given = parts.filter(([name]) => name === "v1").map(([, value]) => fromHex(value ?? ""));
      if (stamp === null || stamps.length !== 1 || given.length > signaturesMax) return refused("malformed");
      if (given.length === 0) return refused("missing");
      const made = keys.map((key) => hmac("sha256", key, `${stamp}.`, delivery.bytes));
      if (
        !isAnySame(
          made,
          given.filter((each) => each !== null),
        )
      )
        return refused("mismatch");
      return isTimely(stamp * 1_000, now, toleranceMs) ? verified : refused("stale");
    },
    parse: ({ bytes }) => jsonOf(bytes),
    read: (_delivery, payload) => ({
      id: words(at(payload, "id")),
      type: words(at(payload, "type")),
      at: instant(at(payload, "created")),
      // A thin event names its object without carrying it.
      subject: words(at(payload, "data", "object", "id")) ?? words(at(payload, "related_object", "id")),
    }),
    sign({ secret, bytes, url, at: ms }) {
      const stamp = Math.floor(ms / 1_000);
      const signature = hmac("sha256", secret, `${stamp}.`, bytes).toString("hex");
      return { url, headers: { "stripe-signature": `t=${stamp},v1=${signature}` } };
    },
  };
}
