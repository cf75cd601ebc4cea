// The few things every verifier does, each in one place: secrets are checked at the start, headers are read once, times are plain digits,
// and only the platform's constant-time comparison ever sees bytes that were made with a secret.
import { createHmac, timingSafeEqual } from "node:crypto";
import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import type { Delivery, Verification } from "./provider.ts";

export const verified: Verification = { kind: "verified" };
export const refused = (why: Extract<Verification, { kind: "refused" }>["why"]): Verification => ({
  kind: "refused",
  why,
});

// During a rotation there are two; more than this in one header is somebody trying.
export const signaturesMax = 16;
const headerCharsMax = 8_192;

/** A secret that is missing or was copied with a line's end would verify nothing, or everything: it is found at the start, not at 3 a.m. */
export function readSecrets(call: string, secrets: readonly string[] | undefined): readonly string[] {
  const refuse = (why: string) => errors.TOOLKIT_OPTION_INVALID({ call, option: "secrets", why });
  if (!Array.isArray(secrets) || secrets.length === 0) throw refuse("it must be a list of at least one secret");
  if (secrets.length > signaturesMax) throw refuse(`it has more than ${signaturesMax} secrets`);
  for (const secret of secrets) {
    if (typeof secret !== "string" || secret === "") throw refuse("a secret is empty");
    if (secret.trim() !== secret) throw refuse("a secret begins or ends with white space");
    // A plain space inside is allowed: GitHub's own published example has some.
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(secret)) throw refuse("a secret has a line break, a tab or a control character");
  }
  return [...secrets];
}

export function readTolerance(
  call: string,
  tolerance: string | number | undefined,
  { ms, msMin = 1_000, msMax = 60 * 60 * 1_000 }: { ms: number; msMin?: number; msMax?: number },
): number {
  if (tolerance === undefined) return ms;
  const given = parseDuration(tolerance, `${call}: tolerance`);
  if (given >= msMin && given <= msMax) return given;
  const why = `it must be between ${msMin / 1_000} and ${msMax / 1_000} seconds`;
  throw errors.TOOLKIT_OPTION_INVALID({ call, option: "tolerance", why });
}

/** `repeated` when it came more than once: Node and Fetch both join such headers with a comma and a space, which no signature has. */
export function signatureHeader({ headers }: Delivery, name: string): string | "missing" | "malformed" {
  const value = headers.get(name);
  if (value === null || value === "") return "missing";
  return value.length > headerCharsMax || value.includes(", ") ? "malformed" : value;
}

export const isFault = (header: string): header is "missing" | "malformed" =>
  header === "missing" || header === "malformed";

/** Plain decimal digits, nothing around them: "1700000000junk" is no time. */
export const readStamp = (text: string | null): number | null =>
  text !== null && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : null;

/** Too old and too far ahead are the same: not now. */
export const isTimely = (at: number, now: number, toleranceMs: number): boolean => Math.abs(now - at) <= toleranceMs;

export const hmac = (
  algorithm: "sha1" | "sha256" | "sha512",
  key: string | Uint8Array,
  ...parts: readonly (string | Uint8Array)[]
): Buffer => {
  const made = createHmac(algorithm, key);
  for (const part of parts) made.update(part);
  return made.digest();
};

/** The only place where what was made with a secret is compared. */
export const isSame = (made: Uint8Array, given: Uint8Array): boolean =>
  made.length === given.length && timingSafeEqual(made, given);

/** Compares all with all, also after one has matched: how long it takes says nothing about which. */
export function isAnySame(made: readonly Uint8Array[], given: readonly Uint8Array[]): boolean {
  let matches = 0;
  for (const each of made) for (const other of given) matches += isSame(each, other) ? 1 : 0;
  return matches > 0;
}

/** Null for what is not exactly hex digits in pairs. */
export const fromHex = (text: string): Uint8Array | null =>
  text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, "hex") : null;

/** Null for what Buffer would read with good will: other alphabets, white space, missing padding. */
export function fromBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.length > 0 && bytes.toString("base64") === text ? bytes : null;
}
