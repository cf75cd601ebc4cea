// The keys that open each environment. All comparisons take the same time whatever they find.
import { timingSafeEqual } from "node:crypto";
import { errors } from "../model/errors.ts";
import { refuseWeak } from "../model/secret.ts";
import { bearerTokenOf, isSigningKey, withoutKeyPrefix } from "../protocol/signing-key.ts";
import type { ServerSettings } from "./world.ts";

export interface Credentials {
  /** Whether callers must show any key at all. */
  readonly required: boolean;
  /** Those that some key opens. */
  readonly environments: ReadonlySet<string>;
  /** The environment this event key belongs to; null for a key nobody gave out. */
  envOfEventKey(key: string): string | null;
  /** The environment of `Authorization: Bearer …`, a signing key or its hash, with or without prefix; null when unknown. */
  envOfBearer(authorization: string | undefined): string | null;
  /** The key that signs requests to apps of this environment; null in dev. */
  signingKeyOf(env: string): string | null;
  /** All signing keys of the environment, the signing one first: answers signed by any of them are taken. */
  signingKeysOf(env: string): readonly string[];
}

type KeySettings = Pick<ServerSettings, "mode" | "eventKeys" | "signingKeys">;

// A header of keys is a hash; nobody's key is longer, and hashing a megabyte for a stranger is work.
const credentialCharsMax = 1_024;

export function openCredentials(settings: KeySettings): Credentials {
  const eventKeys = settings.eventKeys.map(readKey);
  const signingKeys = settings.signingKeys.map(readKey);
  const eventEnvs = eventKeys.map(({ env, key }) => ({ env, key: Buffer.from(key) }));
  // Hashes are made once: every checkpoint of every step shows a bearer.
  const bearerEnvs = signingKeys.flatMap(({ env, key }) =>
    [key, bearerTokenOf(key)].map((token) => ({ env, key: Buffer.from(bearerText(token)) })),
  );
  return {
    required: settings.mode === "start",
    environments: new Set([...eventKeys, ...signingKeys].map(({ env }) => env)),
    envOfEventKey: (key) => (key === "" ? null : envBehind(eventEnvs, key)),
    envOfBearer: (authorization) => {
      const token = /^bearer +(\S+)$/i.exec(authorization?.slice(0, credentialCharsMax) ?? "")?.[1];
      return token === undefined ? null : envBehind(bearerEnvs, bearerText(token));
    },
    signingKeyOf: (env) => signingKeys.find((each) => each.env === env)?.key ?? null,
    signingKeysOf: (env) => signingKeys.filter((each) => each.env === env).map(({ key }) => key),
  };
}

/** The password of `Authorization: Basic …`, whatever the user is called; null for another kind of header. */
export function basicPasswordOf(authorization: string | undefined): string | null {
  const encoded = /^basic +(\S+)$/i.exec(authorization?.slice(0, credentialCharsMax) ?? "")?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  return pair.slice(pair.indexOf(":") + 1);
}

interface EnvKey {
  readonly env: string;
  readonly key: Buffer;
}

/** Every key is compared, so that how long it takes does not say which one is near. */
function envBehind(keys: readonly EnvKey[], text: string): string | null {
  if (text.length > credentialCharsMax) return null;
  const given = Buffer.from(text);
  let found: string | null = null;
  for (const { env, key } of keys) if (isSame(given, key) && found === null) found = env;
  return found;
}

/** Takes as long for a wrong key as for a right one; that two lengths differ is no secret. */
const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** `key` is for the default environment, `env=key` for that one. A key may end in `=`, as base64 does. */
export function readKey(text: string): { readonly env: string; readonly key: string } {
  const [, env, key] = /^([A-Za-z0-9][A-Za-z0-9._/-]{0,127})=([^=].*)$/s.exec(text) ?? [];
  return env === undefined || key === undefined ? { env: "default", key: text } : { env, key };
}

/** Throws what `idem start` must say before it listens. */
export function checkKeys(settings: KeySettings): void {
  if (settings.mode !== "start") return;
  const missing = [
    ...(settings.eventKeys.length === 0 ? ["an event key"] : []),
    ...(settings.signingKeys.length === 0 ? ["a signing key"] : []),
  ];
  if (missing.length > 0) throw errors.KEYS_MISSING({ missing: missing.join(" and ") });
  for (const { key } of settings.eventKeys.map(readKey)) {
    if (key === "" || /[\s/?#]/.test(key)) {
      throw errors.KEY_INVALID({
        which: "event key",
        why: "it is empty, or has characters that cannot stand in a URL",
      });
    }
  }
  for (const { key } of settings.signingKeys.map(readKey)) {
    if (!isSigningKey(key)) {
      throw errors.KEY_INVALID({
        which: "signing key",
        why: "after an optional prefix such as signkey-prod- it must be an even number of hexadecimal digits",
      });
    }
  }
  // Also on loopback: behind a proxy a server listens there, too.
  for (const { env, key } of settings.eventKeys.map(readKey)) refuseWeak("event-key", key, `event key of ${env}`);
  for (const { env, key } of settings.signingKeys.map(readKey)) {
    refuseWeak("signing-key", withoutKeyPrefix(key), `signing key of ${env}`);
  }
}

/** Hex, whose letters may be of either case, without the prefix that says its kind. */
const bearerText = (token: string): string => withoutKeyPrefix(token).toLowerCase();
