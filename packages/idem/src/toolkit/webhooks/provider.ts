// A sender of webhooks: the signature and the id of its deliveries, its patience, and for how long one may come again.
//
// A provider is made with its secrets, `stripe({ secrets: [current, previous] })`, and checks bytes as they came. Time is an argument.
// Inside, a refusal says why; outside, every refusal is the same 401.

/** A delivery as it came, before anybody believes it. */
export interface Delivery {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The public address the provider called, with its query. */
  readonly url: string;
}

export type Verification =
  | { readonly kind: "verified" }
  | {
      readonly kind: "refused";
      /** `malformed`: there, but nothing this provider would send; repeated headers are that, too. */
      readonly why: "missing" | "malformed" | "stale" | "mismatch";
    };

/** Read from a verified delivery; null where it does not say. */
export interface Particulars {
  /** The same when the provider delivers again. Without one the SHA-256 of the body is the id. */
  readonly id: string | null;
  readonly type: string | null;
  /** Milliseconds since 1970, by the provider's word. */
  readonly at: number | null;
  /** The thing it is about: an invoice, an order. */
  readonly subject: string | null;
}

/** For a test that sends what the provider would have sent. */
export interface Signing {
  readonly secret: string;
  readonly bytes: Uint8Array;
  readonly url: string;
  /** The delivery's id, where it travels in a header. */
  readonly id: string;
  /** The delivery's type, where it travels in a header. */
  readonly type: string | null;
  readonly at: number;
}

export interface WebhookProvider {
  readonly name: string;
  /** Every secret is tried against every signature, in constant time, and nothing that differs by secret ends it early. */
  verify(delivery: Delivery, now: number): Verification;
  /** From verified bytes to the payload. Throws where they are not what the provider sends: that goes to quarantine. */
  parse(delivery: Delivery): unknown;
  read(delivery: Delivery, payload: unknown): Particulars;
  /** The answer to a verified delivery that only asks whether anybody is there; null for any other. */
  handshake?(delivery: Delivery, payload: unknown): { readonly body: string; readonly type: string } | null;
  /** Headers of a delivery; for tests of users. Where the address is signed too, it may be another one afterwards. */
  sign(signing: Signing): { readonly headers: Readonly<Record<string, string>>; readonly url: string };
  /** The provider's patience for an answer. */
  readonly ackMs: number;
  /** Ids are remembered for this long: longer than the provider delivers again, by itself or by a person's click. */
  readonly windowMs: number;
}

/** 35 days: five-minute memories cover replay attacks, but not a retry schedule of three days or a redelivery by hand. */
export const windowMsDefault = 35 * 24 * 60 * 60 * 1_000;

export interface ProviderOptions {
  /** The current secret, and during a rotation the other one; a delivery signed with any of them is verified. */
  readonly secrets: readonly string[];
}

export interface TimedProviderOptions extends ProviderOptions {
  /** Greatest age of the signed time, and how far ahead it may be: "5m" or milliseconds. */
  readonly tolerance?: string | number;
}
