// Secrets people choose or have made: what each kind must at least be, and how a good one is written. Keys are compared by machines as often
// as somebody asks, so one that can be guessed is no key; a good one costs a command (`idem secret make`).

import { errors } from "./errors.ts";

export const secretKinds = ["event-key", "signing-key", "password", "secret-key"] as const;

export type SecretKind = (typeof secretKinds)[number];

/** Where each is read from, and what for. */
export const secretUses: Readonly<Record<SecretKind, { readonly variable: string; readonly use: string }>> = {
  "event-key": { variable: "IDEM_EVENT_KEY", use: "what senders of events show" },
  "signing-key": { variable: "IDEM_SIGNING_KEY", use: "what apps and the server sign with" },
  password: { variable: "IDEM_PASSWORD", use: "what operators sign in with" },
  "secret-key": { variable: "IDEM_SECRET_KEY", use: "what secrets in the store are encrypted with" },
};

/** Random bytes each is made of. */
export const secretBytes: Readonly<Record<SecretKind, number>> = {
  "event-key": 16,
  "signing-key": 32,
  password: 20,
  "secret-key": 32,
};

export function writtenSecret(kind: SecretKind, bytes: Uint8Array): string {
  switch (kind) {
    case "event-key":
    case "secret-key":
      return hexOf(bytes);
    case "signing-key":
      return `signkey-prod-${hexOf(bytes)}`;
    case "password":
      return wordsOf(bytes);
  }
}

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Without 0, 1, i, l, o and u: it is read from one screen and typed into another.
const letters = "23456789abcdefghjkmnpqrstvwxyz";

/** Of 20 bytes: eight groups of four letters, 157 bits. */
function wordsOf(bytes: Uint8Array): string {
  let bits = [...bytes].reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  for (let i = 0; i < 32; i++) {
    text += letters[Number(bits % BigInt(letters.length))];
    bits /= BigInt(letters.length);
  }
  return text.match(/.{4}/g)!.join("-");
}

/** Kinds somebody may have chosen by hand. */
export type GuardedKind = Exclude<SecretKind, "secret-key">;

// Guesses at a password are bounded to some 144,000 a day (server/people/try-limit.ts), those at keys by nothing but the line: a signing key has 128 bits, an
// event key, which may stand in a browser, 16 characters.
const signingKeyDigitsMin = 32;
const eventKeyCharsMin = 16;
const passwordCharsMin = 12;

const leastChars: Readonly<Record<GuardedKind, number>> = {
  "signing-key": signingKeyDigitsMin,
  "event-key": eventKeyCharsMin,
  password: passwordCharsMin,
};

const distinctMin = 6;

/** Why it must not guard anything; null when nothing obvious speaks against it. Never repeats it. A signing key is given without its prefix. */
export function whyWeak(kind: GuardedKind, text: string): string | null {
  const least = leastChars[kind];
  const unit = kind === "signing-key" ? "hexadecimal digits" : "characters";
  if (text.length < least) return `it has ${text.length} ${unit}; ${least} are the least`;
  const plain = text.toLowerCase();
  const distinct = new Set(plain).size;
  if (distinct < distinctMin) return `only ${distinct} of its ${unit} are different`;
  if (isRepeated(plain)) return "it repeats one piece";
  if (isRow(plain)) return "it is a row of neighbours, such as 1234 or abcd";
  if (kind !== "signing-key" && isWellKnown(plain)) return "it is made of words everybody tries first";
  return null;
}

/** Throws SECRET_WEAK. */
export function refuseWeak(kind: GuardedKind, text: string, which: string): void {
  const why = whyWeak(kind, text);
  if (why !== null) throw errors.SECRET_WEAK({ which, kind, why });
}

function isRepeated(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) {
    if (text.slice(period) === text.slice(0, text.length - period)) return true;
  }
  return false;
}

/** Three of four characters follow their neighbour: `123456789012`, `aabbccddeeff`. */
function isRow(text: string): boolean {
  let neighbours = 0;
  for (let i = 1; i < text.length; i++) {
    if (Math.abs(text.charCodeAt(i) - text.charCodeAt(i - 1)) <= 1) neighbours++;
  }
  return neighbours * 4 >= (text.length - 1) * 3;
}

// Words of examples, and of the beginnings of lists of leaked passwords; longer ones first, for they are taken out one by one.
const tried =
  /administrator|qwertyuiop|production|password|passwort|changeme|asdfghjkl|inngest|letmein|welcome|operator|iloveyou|football|sunshine|princess|superman|zxcvbnm|qwertz|qwerty|azerty|asdfgh|zxcvbn|default|example|signing|signkey|staging|dragon|monkey|master|shadow|secret|viewer|change|please|admin|event|login|hello|idem|test|root|user|pass|this|prod|key|dev|the|my|me|to/g;

/** Without them, digits and signs, next to nothing is left. */
function isWellKnown(text: string): boolean {
  const left = text.replace(tried, "");
  return left !== text && left.replace(/[\d\s\p{P}\p{S}]/gu, "").length < 4;
}
