// Secrets at rest: AES-256-GCM under a key from the environment. A sealed text names its key, so that keys can be changed while both are known,
// and is bound to the row it stands in: put into another row it does not open.
//
//   IDEM_SECRET_KEY=<newest>[,<older>…]   each 64 hexadecimal digits, as `idem secret make secret-key` prints them
//
// The first key seals, all of them open. A key's id is made of the key itself: nobody has to name it, and nobody can name it wrong.
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { errors, IdemError } from "./errors.ts";

interface SecretKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The one that seals first; never empty. */
export type Keyring = readonly SecretKey[];

/** Settings of these kinds hold secrets that are needed as they are: nothing can be verified or sent with a hash. */
export const sealedKinds: ReadonlySet<string> = new Set(["webhook-source", "radar-channel"]);

/** Where a secret stands. */
export interface SealedPlace {
  readonly env: string;
  readonly kind: string;
  readonly name: string;
}

const prefix = "idem-sealed:1:";
const nonceBytes = 12;
const tagBytes = 16;
const idChars = 8;

/** Null where none is set. Throws SECRET_KEY_INVALID, which repeats nothing of it. */
export function readKeyring(text: string | undefined): Keyring | null {
  const keys = (text ?? "").split(",").map((each) => each.trim());
  if (keys.every((each) => each === "")) return null;
  return keys.map((each, i) => {
    if (/^[0-9a-f]{64}$/i.test(each)) return secretKey(Buffer.from(each, "hex"));
    throw errors.SECRET_KEY_INVALID({ why: `key ${i + 1} of ${keys.length} is not 64 hexadecimal digits` });
  });
}

const secretKey = (bytes: Buffer): SecretKey => ({
  id: createHash("sha256").update("idem secret key\n").update(bytes).digest("hex").slice(0, idChars),
  bytes,
});

export function sealText(
  [key]: Keyring,
  place: SealedPlace,
  text: string,
  randomBytes: (count: number) => Uint8Array,
): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key!.bytes, nonce).setAAD(boundTo(place));
  const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  // JSON, as every setting is.
  return JSON.stringify(`${prefix}${key!.id}:${sealed.toString("base64url")}`);
}

/** The id of the key a text was sealed with; null for a text in clear. */
export function sealedWith(text: string): string | null {
  if (!text.startsWith(`"${prefix}`)) return null;
  return text.slice(prefix.length + 1, prefix.length + 1 + idChars);
}

/** A text in clear is given back. Throws SECRET_KEY_MISSING, or SECRET_UNREADABLE for what the key does not open. */
export function openText(keyring: Keyring | null, place: SealedPlace, text: string): string {
  const id = sealedWith(text);
  if (id === null) return text;
  const what = `${place.kind} "${place.name}" of environment "${place.env}"`;
  const key = keyring?.find((each) => each.id === id);
  if (key === undefined) throw errors.SECRET_KEY_MISSING({ id, what });
  try {
    const sealed = Buffer.from((JSON.parse(text) as string).slice(prefix.length + idChars + 1), "base64url");
    const opener = createDecipheriv("aes-256-gcm", key.bytes, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(boundTo(place))
      .setAuthTag(sealed.subarray(-tagBytes));
    return opener.update(sealed.subarray(nonceBytes, -tagBytes), undefined, "utf8") + opener.final("utf8");
  } catch (error) {
    throw errors.SECRET_UNREADABLE({ id, what }, { cause: error });
  }
}

const boundTo = ({ env, kind, name }: SealedPlace): Buffer => Buffer.from(JSON.stringify([env, kind, name]));

/** The result of code that needs a secret, or null where this process has no key to it or it is spoilt. `shut` gets the reason. */
export function ifOpens<T>(look: () => T, shut: (why: IdemError) => void = () => {}): T | null {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof IdemError) || (error.code !== "SECRET_KEY_MISSING" && error.code !== "SECRET_UNREADABLE"))
      throw error;
    shut(error);
    return null;
  }
}
