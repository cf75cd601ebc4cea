// The systems whose keys are known, by name. Lengths and memories are what each publishes about itself (read in 2025 and 2026); where a
// provider has several numbers, it has several names here, and the plain name is the strictest of them. Trust their page over this one.
import { errors } from "../model/errors.ts";
import {
  type AnyDestination,
  type CustomDestination,
  customDestination,
  type Destination,
  type DestinationFacts,
  describeDestination,
  describeKeyless,
  type KeylessDestination,
} from "./destination.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const header = (name = "Idempotency-Key") => ({ kind: "header", name }) as const;
const field = (name: string) => ({ kind: "field", name }) as const;

type Facts = Omit<DestinationFacts, "name">;

const stripe: Facts = {
  place: header(),
  maxLength: 255,
  // "At least 24 hours".
  remembersMs: day,
  mismatch: "refused",
  reconcile: "search by metadata: put the key there, and look for it with the search or list call of the resource",
};
const square: Facts = {
  place: field("idempotency_key"),
  // Create payment, and 27 requests more.
  maxLength: 45,
  remembersMs: null,
  mismatch: "refused",
  reconcile: "list the resource since the first try, and compare reference_id: put the key there",
};
const paypal: Facts = {
  place: header("PayPal-Request-Id"),
  maxLength: 78,
  remembersMs: 3 * hour,
  mismatch: "first-answer",
  reconcile: "show or search the resource by invoice_id or custom_id: put the key there",
};
const aws: Facts = {
  place: field("ClientToken"),
  maxLength: 64,
  remembersMs: null,
  mismatch: "refused",
  reconcile: "describe the resources by a tag: put the key there",
};

const keyed = {
  stripe,
  "stripe/v2": { ...stripe, remembersMs: 30 * day },
  resend: {
    place: header(),
    maxLength: 256,
    remembersMs: day,
    mismatch: "refused",
    reconcile: "list the mails sent since the first try, and compare a tag: put the key there",
  },
  square,
  "square/terminal": { ...square, maxLength: 64 },
  "square/orders": { ...square, maxLength: 192 },
  "square/bookings": { ...square, maxLength: 255 },
  paypal,
  // 72 hours by arrangement with them.
  "paypal/orders": { ...paypal, maxLength: 108, remembersMs: 6 * hour },
  "paypal/orders-v1": { ...paypal, remembersMs: Number.POSITIVE_INFINITY },
  "paypal/vault": paypal,
  "paypal/web-profiles": paypal,
  "paypal/subscriptions": { ...paypal, remembersMs: 3 * day },
  "paypal/payouts": { ...paypal, remembersMs: 30 * day },
  "paypal/payments-v1": { ...paypal, remembersMs: 30 * day },
  "paypal/payments": { ...paypal, remembersMs: 45 * day },
  adyen: {
    place: header(),
    maxLength: 64,
    // Of one company account, and not shared between regions.
    remembersMs: 31 * day,
    mismatch: "first-answer",
    reconcile: "search the payments by merchantReference: put the key there",
  },
  xero: {
    place: header(),
    maxLength: 128,
    // Their specification does not say; minutes is what it is believed to be.
    remembersMs: 5 * minute,
    reconcile: "get the resource where Reference is the key: put it there",
  },
  aws,
  "aws/ec2": aws,
  "aws/ecs": { ...aws, place: field("clientToken"), maxLength: 36 },
  "aws/cloudformation": { ...aws, place: field("ClientRequestToken"), maxLength: 128, charset: "a-z0-9-" },
  "aws/cloud-control": { ...aws, maxLength: 128, charset: "a-z0-9-", remembersMs: 36 * hour },
  "aws/verified-permissions": { ...aws, place: field("clientToken"), charset: "a-z0-9-", remembersMs: 8 * hour },
  // Of FIFO queues: within five minutes a message with a known one is accepted and not delivered again.
  "aws/sqs": {
    ...aws,
    place: field("MessageDeduplicationId"),
    maxLength: 128,
    remembersMs: 5 * minute,
    mismatch: "first-answer",
  },
  checkout: {
    place: header("Cko-Idempotency-Key"),
    // Only answers of 2xx are kept.
    remembersMs: day,
    reconcile: "get the payments by reference: put the key there",
  },
  truelayer: { place: header(), remembersMs: 30 * day, mismatch: "refused" },
  brevo: {
    // Among the headers of the mail, not of the request.
    place: field("idempotencyKey"),
    // 15 or 30 minutes, depending on which of their pages one reads.
    remembersMs: 15 * minute,
  },
  nylas: { place: header(), maxLength: 256, remembersMs: hour },
  telnyx: { place: header(), maxLength: 255, remembersMs: day, mismatch: "refused" },
  qonto: { place: header("X-Qonto-Idempotency-Key"), remembersMs: 30 * minute, mismatch: "first-answer" },
  // Payments of a call and user-defined messages; not messages and calls themselves.
  "twilio/payments": { place: field("IdempotencyKey"), remembersMs: null },
} as const satisfies Record<string, Facts>;

const keyless = {
  // Neither of its versions: a mail that was accepted twice is two.
  "aws/ses":
    "keep a sent-log of your own; SES publishes what became of a mail (EmailTags with the key) as events, and lists none",
  postmark: "search the outbound messages by metadata that holds the key",
  sendgrid: "search the mail activity by a custom argument that holds the key",
  twilio: "list the messages to that number since the first try; calls' payments are twilio/payments",
  slack: "read the channel's history since the first try and compare the message's metadata",
  github: "use a natural key: a ref's name, a check run's external id, or a marker in the body and a search for it",
} as const satisfies Record<string, string>;

/** Systems that take a key. */
export type KeyedName = keyof typeof keyed;
/** Systems that take none. */
export type KeylessName = keyof typeof keyless;
export type DestinationName = KeyedName | KeylessName;

const known = new Map<string, AnyDestination>([
  ...Object.entries(keyed).map(([name, facts]) => [name, describeDestination({ name, ...facts })] as const),
  ...Object.entries(keyless).map(([name, hint]) => [name, describeKeyless(name, hint)] as const),
]);

/** Their names, in order. */
export const destinationNames = [...known.keys()] as readonly DestinationName[];

/**
 * A system that a step writes to: where its key goes, and how long it is remembered.
 *
 * ```ts
 * await step.run("pay", (context) => paypal.post("/v2/checkout/orders", order, { headers: destination("paypal/orders").headers(context) }));
 * ```
 */
export function destination(name: KeyedName | CustomDestination): Destination;
export function destination(name: KeylessName): KeylessDestination;
export function destination(name: DestinationName | CustomDestination): AnyDestination;
export function destination(name: DestinationName | CustomDestination): AnyDestination {
  if (typeof name === "object" && name !== null) {
    if (known.has(name.name)) {
      throw errors.TOOLKIT_OPTION_INVALID({
        call: "destination",
        option: "name",
        why: `"${name.name}" is known here already: say destination("${name.name}"), or use another name`,
      });
    }
    return customDestination(name);
  }
  const found = known.get(name);
  if (found !== undefined) return found;
  throw errors.TOOLKIT_OPTION_INVALID({
    call: "destination",
    option: "name",
    why: `"${String(name).slice(0, 64)}" is none of ${destinationNames.join(", ")}; describe another with destination({ name, header, maxLength, remembers })`,
  });
}
