// A system that a step writes to: where it takes a key, which keys it can hold, and for how long it remembers them. The
// step's own key is used wherever it fits; where it does not, another one is derived from it, the same every time.

import { createHash } from "node:crypto";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";

/** Where the key goes: a header of the request, or a field of its body or parameters. */
export type KeyPlace =
  | { readonly kind: "header"; readonly name: string }
  | { readonly kind: "field"; readonly name: string };

/** Which characters a key may have: those of base64url, or letters without their case, digits and dashes only. */
export type KeyCharset = "base64url" | "a-z0-9-";

/** The destination's treatment of a known key with another request. */
export type KeyMismatch = "refused" | "first-answer" | "unknown";

/** A step's context, or its key. */
export type KeyOf = { readonly key: string } | string;

export interface Destination {
  readonly name: string;
  readonly place: KeyPlace;
  readonly maxLength: number;
  readonly charset: KeyCharset;
  /** For how long a key is surely remembered; null where nobody published it, Infinity for ever. */
  readonly remembersMs: number | null;
  readonly mismatch: KeyMismatch;
  /** A way to find out whether something arrived, once the destination has forgotten the key. */
  readonly reconcile: string;
  /** The key to send. `account` is whose account of the destination it is for, where a step writes to several. */
  key(step: KeyOf, account?: string): string;
  /** The key as a header; empty where it is a field. */
  headers(step: KeyOf, account?: string): Record<string, string>;
  /** The key as a field; empty where it is a header. */
  fields(step: KeyOf, account?: string): Record<string, string>;
}

/** A system that takes no key: what arrived there can only be looked up. */
export interface KeylessDestination {
  readonly name: string;
  readonly place: null;
  readonly remembersMs: 0;
  readonly reconcile: string;
}

export type AnyDestination = Destination | KeylessDestination;

/** A system the registry does not know. */
export interface CustomDestination {
  /** Part of what is recorded about effects: keep it. */
  readonly name: string;
  /** "Idempotency-Key" by default; not beside `field`. */
  readonly header?: string;
  /** The field of a body that takes the key. */
  readonly field?: string;
  /** 255 by default, at least 36. */
  readonly maxLength?: number;
  /** "base64url" by default. */
  readonly charset?: KeyCharset;
  /** For how long it remembers a key ("24h"); left out, it is trusted for an hour. */
  readonly remembers?: string | number;
  readonly mismatch?: KeyMismatch;
}

export interface DestinationFacts extends Pick<Destination, "name" | "place" | "remembersMs"> {
  readonly maxLength?: number;
  readonly charset?: KeyCharset;
  readonly mismatch?: KeyMismatch;
  readonly reconcile?: string;
}

// The shortest key that is derived: "idem" and 160 bits in base32.
const derivedMin = 36;
const lookedUpByOwnMark = "list what the account has since the first try, and compare a mark of yours in its metadata";

export function describeDestination(facts: DestinationFacts): Destination {
  const {
    maxLength = 255,
    charset = "base64url",
    mismatch = "unknown",
    reconcile = lookedUpByOwnMark,
    name,
    place,
    remembersMs,
  } = facts;
  const key = (step: KeyOf, account?: string): string => keyFor(keyOf(step, name), account, { maxLength, charset });
  const placed = (kind: KeyPlace["kind"]) => (step: KeyOf, account?: string) =>
    place.kind === kind ? { [place.name]: key(step, account) } : {};
  return {
    ...{ name, place, maxLength, charset, remembersMs, mismatch, reconcile, key },
    headers: placed("header"),
    fields: placed("field"),
  };
}

/** The methods are there for who asks without types: they say what to do instead. */
export function describeKeyless(name: string, reconcile: string): KeylessDestination {
  const refuse = (): never => {
    throw errors.DESTINATION_KEYLESS({ destination: name, instead: reconcile });
  };
  return { ...{ name, place: null, remembersMs: 0, reconcile }, ...{ key: refuse, headers: refuse, fields: refuse } };
}

export function customDestination(given: CustomDestination): Destination {
  refuseUnknown<CustomDestination>("destination", given, {
    name: true,
    header: true,
    field: true,
    maxLength: true,
    charset: true,
    remembers: true,
    mismatch: true,
  });
  const { name, header, field, maxLength = 255, remembers, charset = "base64url", mismatch = "unknown" } = given;
  const wrong = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "destination", option, why });
  if (typeof name !== "string" || !isName(name)) {
    throw wrong("name", "it must be 1 to 64 lower-case letters, digits, dots, slashes and dashes");
  }
  if (header !== undefined && field !== undefined) throw wrong("field", "a key has one place: a header or a field");
  const placeName = field ?? header ?? "Idempotency-Key";
  if (typeof placeName !== "string" || !/^[A-Za-z0-9_.-]{1,64}$/.test(placeName)) {
    throw wrong(field === undefined ? "header" : "field", "it must be a name of letters, digits, dashes and dots");
  }
  if (!Number.isInteger(maxLength) || maxLength < derivedMin) {
    throw wrong("maxLength", `it must be a whole number of at least ${derivedMin}: a shorter key could meet another`);
  }
  if (charset !== "base64url" && charset !== "a-z0-9-") throw wrong("charset", 'it must be "base64url" or "a-z0-9-"');
  return describeDestination({
    name,
    place: { kind: field === undefined ? "header" : "field", name: placeName },
    remembersMs: remembers === undefined ? null : parseDuration(remembers, "remembers"),
    ...{ maxLength, charset, mismatch },
  });
}

// No colon: it parts the names of a scope.
const isName = (name: string): boolean => /^[a-z0-9][a-z0-9./-]{0,63}$/.test(name);

function keyOf(step: KeyOf, destination: string): string {
  const key = typeof step === "string" ? step : step?.key;
  if (typeof key === "string" && key !== "") return key;
  throw errors.TOOLKIT_OPTION_INVALID({
    call: `destination("${destination}").key`,
    option: "step",
    why: "it must be what a step's callback receives, or its key",
  });
}

const fits: Readonly<Record<KeyCharset, RegExp>> = { base64url: /^[A-Za-z0-9_-]+$/, "a-z0-9-": /^[a-z0-9-]+$/ };

function keyFor(
  key: string,
  account: string | undefined,
  { maxLength, charset }: { readonly maxLength: number; readonly charset: KeyCharset },
): string {
  if (account === undefined && key.length <= maxLength && fits[charset].test(key)) return key;
  // As a JSON list, so that no part can borrow characters from its neighbour.
  const hash = createHash("sha256")
    .update(JSON.stringify([key, account ?? null]))
    .digest();
  // Lower case and without a dash where there is no room for one: every charset has these.
  return `${maxLength > derivedMin ? "idem-" : "idem"}${base32(hash.subarray(0, 20))}`;
}

const base32Digits = "abcdefghijklmnopqrstuvwxyz234567";

/** 20 bytes are exactly 32 digits. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += base32Digits[(held >>> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return text;
}
