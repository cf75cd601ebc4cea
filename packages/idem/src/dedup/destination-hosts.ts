// Which of the systems whose keys are known a host belongs to. Where a provider has several entries, the host means the plain one, the strictest.
import type { AnyDestination } from "./destination.ts";
import { type DestinationName, destination } from "./destinations.ts";

/** Hosts as each provider publishes them (read in 2026; docs/destinations.md names the pages); a leading dot means whatever ends so. */
const hosts: Readonly<Record<string, DestinationName>> = {
  "api.stripe.com": "stripe",
  "api.resend.com": "resend",
  "connect.squareup.com": "square",
  "connect.squareupsandbox.com": "square",
  "api-m.paypal.com": "paypal",
  "api-m.sandbox.paypal.com": "paypal",
  // For who must know its addresses; the same API.
  "api.paypal.com": "paypal",
  "api.sandbox.paypal.com": "paypal",
  ".adyen.com": "adyen",
  ".adyenpayments.com": "adyen",
  "api.xero.com": "xero",
  "api.checkout.com": "checkout",
  "api.sandbox.checkout.com": "checkout",
  // Each merchant has one of its own.
  ".api.checkout.com": "checkout",
  ".api.sandbox.checkout.com": "checkout",
  "api.truelayer.com": "truelayer",
  "api.truelayer-sandbox.com": "truelayer",
  "api.brevo.com": "brevo",
  "api.us.nylas.com": "nylas",
  "api.eu.nylas.com": "nylas",
  "api.telnyx.com": "telnyx",
  "thirdparty.qonto.com": "qonto",
  "thirdparty-sandbox.staging.qonto.co": "qonto",
  "api.postmarkapp.com": "postmark",
  "api.sendgrid.com": "sendgrid",
  "api.eu.sendgrid.com": "sendgrid",
  // A host for each product, and for each region.
  ".twilio.com": "twilio",
  "slack.com": "slack",
  "hooks.slack.com": "slack",
  "api.github.com": "github",
};

/** Hosts that have a region or a customer in the middle. Of AWS: the plain ones, those of FIPS, both with IPv6, and China's. */
const regional: readonly (readonly [RegExp, DestinationName])[] = [
  [/^sqs(-fips)?\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn)$/, "aws/sqs"],
  [/^email(-fips)?\.[a-z0-9-]+\.(amazonaws\.com(\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn)$/, "aws/ses"],
  [/^api\.[a-z0-9-]+\.ghe\.com$/, "github"],
];

/** Null for a host nobody described. */
export function destinationAt(host: string): AnyDestination | null {
  const name =
    hosts[host] ??
    Object.entries(hosts).find(([known]) => known.startsWith(".") && host.endsWith(known))?.[1] ??
    regional.find(([pattern]) => pattern.test(host))?.[1];
  return name === undefined ? null : destination(name as DestinationName);
}
