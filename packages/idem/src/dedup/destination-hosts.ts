// Which of the systems whose keys are known a host belongs to. Where a provider has several entries, the host means the plain one, the strictest.
import type { AnyDestination } from "./destination.ts";
import { type DestinationName, destination } from "./destinations.ts";

/** Hosts as each provider publishes them; a leading dot means whatever ends so. */
const hosts: Readonly<Record<string, DestinationName>> = {
  "api.stripe.com": "stripe",
  "api.resend.com": "resend",
  "connect.squareup.com": "square",
  "connect.squareupsandbox.com": "square",
  "api-m.paypal.com": "paypal",
  "api-m.sandbox.paypal.com": "paypal",
  ".adyen.com": "adyen",
  ".adyenpayments.com": "adyen",
  "api.xero.com": "xero",
  "api.checkout.com": "checkout",
  "api.sandbox.checkout.com": "checkout",
  "api.truelayer.com": "truelayer",
  "api.truelayer-sandbox.com": "truelayer",
  "api.brevo.com": "brevo",
  ".api.nylas.com": "nylas",
  "api.us.nylas.com": "nylas",
  "api.eu.nylas.com": "nylas",
  "api.telnyx.com": "telnyx",
  "thirdparty.qonto.com": "qonto",
  "api.postmarkapp.com": "postmark",
  "api.sendgrid.com": "sendgrid",
  "api.twilio.com": "twilio",
  "slack.com": "slack",
  "hooks.slack.com": "slack",
  "api.github.com": "github",
};

/** Hosts that have the region in the middle. */
const regional: readonly (readonly [RegExp, DestinationName])[] = [[/^sqs\.[a-z0-9-]+\.amazonaws\.com$/, "aws/sqs"]];

/** Null for a host nobody described. */
export function destinationAt(host: string): AnyDestination | null {
  const name =
    hosts[host] ??
    Object.entries(hosts).find(([known]) => known.startsWith(".") && host.endsWith(known))?.[1] ??
    regional.find(([pattern]) => pattern.test(host))?.[1];
  return name === undefined ? null : destination(name as DestinationName);
}
