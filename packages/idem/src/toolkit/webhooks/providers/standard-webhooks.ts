// Standard Webhooks, and Svix, which it comes from: `id.timestamp.body`, signed with HMAC-SHA-256 (`v1`) or Ed25519 (`v1a`), several
// signatures in one header. The key is the secret behind `whsec_`, base64-decoded: not as with Stripe, whose secrets begin alike.

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { at, instant, jsonOf, words } from "../payload.ts";
import { type Delivery, type TimedProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import {
  fromBase64,
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

interface Dialect {
  readonly name: string;
  /** Tried in this order; all three headers have to be of one family. */
  readonly families: readonly ("webhook" | "svix")[];
}

/** Secrets are `whsec_…` (HMAC) or `whpk_…` (a public key of Ed25519); which of the two is decided here and not by the request. */
export const standardWebhooks = (options: TimedProviderOptions): WebhookProvider =>
  provider({ name: "standard-webhooks", families: ["webhook"] }, options);

export const svix = (options: TimedProviderOptions): WebhookProvider =>
  provider({ name: "svix", families: ["svix", "webhook"] }, options);

export const resend = (options: TimedProviderOptions): WebhookProvider =>
  provider({ name: "resend", families: ["svix", "webhook"] }, options);

export const clerk = (options: TimedProviderOptions): WebhookProvider =>
  provider({ name: "clerk", families: ["svix", "webhook"] }, options);

function provider({ name, families }: Dialect, options: TimedProviderOptions): WebhookProvider {
  refuseUnknown<TimedProviderOptions>(name, options, { secrets: true, tolerance: true });
  const { secrets, tolerance } = options;
  const keys = readSecrets(name, secrets).map((secret) => readKey(name, secret));
  const shared = keys.filter((key): key is Uint8Array => key instanceof Uint8Array);
  const publics = keys.filter((key): key is KeyObject => !(key instanceof Uint8Array));
  const toleranceMs = readTolerance(name, tolerance, { ms: 300_000 });
  const familyOf = ({ headers }: Delivery) => families.find((family) => headers.has(`${family}-signature`));
  return {
    name,
    ackMs: 15_000,
    windowMs: windowMsDefault,
    verify(delivery, now) {
      const family = familyOf(delivery);
      if (family === undefined) return refused("missing");
      const header = signatureHeader(delivery, `${family}-signature`);
      if (isFault(header)) return refused(header);
      const id = delivery.headers.get(`${family}-id`);
      const text = delivery.headers.get(`${family}-timestamp`);
      if (id === null || id === "" || text === null) return refused("missing");
      const stamp = readStamp(text);
      const given = header.split(" ");
      if (stamp === null || given.length > signaturesMax) return refused("malformed");
      const before = `${id}.${stamp}.`;
      const made = shared.map((key) => hmac("sha256", key, before, delivery.bytes));
      const isShared = isAnySame(made, signaturesOf(given, "v1,"));
      const signed = publics.length === 0 ? null : Buffer.concat([Buffer.from(before), delivery.bytes]);
      const isPublic = signed !== null && isAnySigned(publics, signed, signaturesOf(given, "v1a,"));
      if (!isShared && !isPublic) return refused("mismatch");
      return isTimely(stamp * 1_000, now, toleranceMs) ? verified : refused("stale");
    },
    parse: ({ bytes }) => jsonOf(bytes),
    read(delivery, payload) {
      const family = familyOf(delivery) ?? families[0]!;
      return {
        id: words(delivery.headers.get(`${family}-id`)),
        type: words(at(payload, "type")),
        at: instant(at(payload, "timestamp")) ?? instant(at(payload, "created_at")),
        subject: words(at(payload, "data", "id")) ?? words(at(payload, "data", "email_id")),
      };
    },
    sign({ secret, bytes, url, id, at: ms }) {
      const stamp = Math.floor(ms / 1_000);
      const signature = signatureOf(secret, Buffer.concat([Buffer.from(`${id}.${stamp}.`), bytes]));
      const family = families[0]!;
      return {
        url,
        headers: {
          [`${family}-id`]: id,
          [`${family}-timestamp`]: String(stamp),
          [`${family}-signature`]: signature,
        },
      };
    },
  };
}

const sharedPrefix = "whsec_";
const publicPrefix = "whpk_";
/** Only ever seen by a test that signs. */
const privatePrefix = "whsk_";

function readKey(name: string, secret: string): Uint8Array | KeyObject {
  const refuse = (why: string) => errors.TOOLKIT_OPTION_INVALID({ call: name, option: "secrets", why });
  if (secret.startsWith(sharedPrefix)) {
    const key = fromBase64(secret.slice(sharedPrefix.length));
    if (key === null) throw refuse("behind whsec_ a secret has to be base64");
    if (key.length < 24 || key.length > 64) throw refuse("a decoded secret has to have 24 to 64 bytes");
    return key;
  }
  if (!secret.startsWith(publicPrefix)) throw refuse("a secret has to begin with whsec_ or whpk_");
  const key = fromBase64(secret.slice(publicPrefix.length));
  if (key?.length !== 32) throw refuse("behind whpk_ there have to be 32 bytes in base64");
  const x = Buffer.from(key).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** Anything of another scheme, or not base64, is no signature. */
const signaturesOf = (given: readonly string[], scheme: "v1," | "v1a,"): Uint8Array[] =>
  given
    .filter((each) => each.startsWith(scheme))
    .map((each) => fromBase64(each.slice(scheme.length)))
    .filter((each) => each !== null);

/** A public key is no secret, but all are tried with all the same. */
function isAnySigned(keys: readonly KeyObject[], signed: Uint8Array, given: readonly Uint8Array[]): boolean {
  let matches = 0;
  for (const key of keys) for (const each of given) matches += verify(null, signed, key, each) ? 1 : 0;
  return matches > 0;
}

// RFC 8410: what stands before the 32 bytes of an Ed25519 seed in PKCS #8.
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");

function signatureOf(secret: string, signed: Uint8Array): string {
  if (!secret.startsWith(privatePrefix)) {
    const key = readKey("signWebhook", secret);
    if (key instanceof Uint8Array) return `v1,${hmac("sha256", key, signed).toString("base64")}`;
    throw errors.TOOLKIT_OPTION_INVALID({
      call: "signWebhook",
      option: "secret",
      why: "a public key signs nothing; give the private one, whsk_…",
    });
  }
  const seed = (fromBase64(secret.slice(privatePrefix.length)) ?? new Uint8Array()).subarray(0, 32);
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" });
  return `v1a,${sign(null, signed, key).toString("base64")}`;
}
