// Small signed notes (JWT, HS256) that this server hands out and takes back in URLs, where no Authorization header can be:
// who may hear which topics, who may read which run's output. Each is for one environment, one use and a limited time.
//
// Nobody but a server with the same keys writes or reads them, so there is one kind: the first part is always the same text, and what a token says
// of how it was signed is not asked.
import { createHmac, timingSafeEqual } from "node:crypto";
import { isJsonObject } from "../model/json.ts";
import type { Platform } from "../platform/platform.ts";
import type { Credentials } from "./credentials.ts";

/** The use of a token; one is never taken for another. */
export type TokenUse = "realtime" | "run-output" | "connect" | "connect-ticket";

export interface ReadToken {
  readonly env: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

// It travels in a URL; Node takes request lines and headers up to 16 KiB together.
export const tokenCharsMax = 8 * 1024;

const envClaim = "env";

const header = base64url(JSON.stringify({ alg: "HS256" }));

export class Tokens {
  /** Where there are no keys (dev) tokens live as long as the process. */
  private readonly ownSecret: Uint8Array;

  constructor(
    private readonly credentials: Pick<Credentials, "signingKeyOf" | "signingKeysOf">,
    private readonly platform: Pick<Platform, "wallMs" | "randomBytes">,
  ) {
    this.ownSecret = platform.randomBytes(32);
  }

  mint(env: string, use: TokenUse, claims: Readonly<Record<string, unknown>>, lifeMs: number): string {
    const iat = this.nowSeconds();
    const exp = iat + Math.ceil(lifeMs / 1_000);
    // Two that are made in the same second for the same use are two: subscribers are counted by token.
    const jti = Buffer.from(this.platform.randomBytes(9)).toString("base64url");
    const said = `${header}.${base64url(JSON.stringify({ ...claims, [envClaim]: env, aud: use, iat, exp, jti }))}`;
    const key = this.credentials.signingKeyOf(env);
    return `${said}.${signatureOf(said, key === null ? this.ownSecret : secretOf(key, env, use))}`;
  }

  /** Null for whatever this server, or one with the same keys, did not hand out for this use, and for what has expired. */
  read(token: string | null, use: TokenUse): ReadToken | null {
    if (token === null || token.length > tokenCharsMax) return null;
    const end = token.lastIndexOf(".");
    const said = token.slice(0, Math.max(0, end));
    if (!said.startsWith(`${header}.`)) return null;
    const claims = claimsOf(said.slice(header.length + 1));
    const env = claims?.[envClaim];
    if (claims === null || typeof env !== "string") return null;
    const keys = this.credentials.signingKeysOf(env);
    const secrets = keys.length === 0 ? [this.ownSecret] : keys.map((key) => secretOf(key, env, use));
    const signature = token.slice(end + 1);
    // By any key of the environment: keys are changed while tokens are out.
    if (!secrets.some((secret) => isSame(signature, signatureOf(said, secret)))) return null;
    const isGood = claims.aud === use && typeof claims.exp === "number" && claims.exp > this.nowSeconds();
    return isGood ? { env, claims } : null;
  }

  private nowSeconds(): number {
    return Math.floor(this.platform.wallMs() / 1_000);
  }
}

/** Not yet believed: they say which environment's keys to try. */
function claimsOf(part: string): Record<string, unknown> | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isJsonObject(claims) ? claims : null;
  } catch {
    return null;
  }
}

function base64url(text: string): string {
  return Buffer.from(text).toString("base64url");
}

const signatureOf = (said: string, secret: Uint8Array): string =>
  createHmac("sha256", secret).update(said).digest("base64url");

const isSame = (a: string, b: string): boolean =>
  Buffer.byteLength(a) === Buffer.byteLength(b) && timingSafeEqual(Buffer.from(a), Buffer.from(b));

// Derived, so that a token never gives away anything about what the signing key itself signs.
const secretOf = (signingKey: string, env: string, use: TokenUse): Uint8Array =>
  createHmac("sha256", signingKey).update(`idem token\n${use}\n${env}`).digest();
