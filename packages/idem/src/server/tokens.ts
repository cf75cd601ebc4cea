// Small signed notes (JWT, HS256) that this server hands out and takes back in URLs, where no Authorization header can be:
// who may hear which topics, who may read which run's output. Each is for one environment, one use and a limited time.
import { createHmac } from "node:crypto";
import { decodeJwt, jwtVerify, SignJWT } from "jose";
import type { Platform } from "../platform/platform.ts";
import type { Credentials } from "./credentials.ts";

/** What a token is good for; one is never taken for another. */
export type TokenUse = "realtime" | "run-output" | "connect" | "connect-ticket";

export interface ReadToken {
  readonly env: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

// It travels in a URL; Node takes request lines and headers up to 16 KiB together.
export const tokenCharsMax = 8 * 1024;

const envClaim = "env";

export class Tokens {
  /** Where there are no keys (dev) tokens live as long as the process. */
  private readonly ownSecret: Uint8Array;

  constructor(
    private readonly credentials: Pick<Credentials, "signingKeyOf" | "signingKeysOf">,
    private readonly platform: Pick<Platform, "wallMs" | "randomBytes">,
  ) {
    this.ownSecret = platform.randomBytes(32);
  }

  mint(env: string, use: TokenUse, claims: Readonly<Record<string, unknown>>, lifeMs: number): Promise<string> {
    const nowSeconds = Math.floor(this.platform.wallMs() / 1_000);
    const key = this.credentials.signingKeyOf(env);
    return new SignJWT({ ...claims, [envClaim]: env })
      .setProtectedHeader({ alg: "HS256" })
      .setAudience(use)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + Math.ceil(lifeMs / 1_000))
      .sign(key === null ? this.ownSecret : secretOf(key, env, use));
  }

  /** Null for whatever this server, or one with the same keys, did not hand out for this use, and for what has expired. */
  async read(token: string | null, use: TokenUse): Promise<ReadToken | null> {
    if (token === null || token === "" || token.length > tokenCharsMax) return null;
    const env = claimedEnv(token);
    if (env === null) return null;
    const keys = this.credentials.signingKeysOf(env);
    const secrets = keys.length === 0 ? [this.ownSecret] : keys.map((key) => secretOf(key, env, use));
    const options = { algorithms: ["HS256"], audience: use, currentDate: new Date(this.platform.wallMs()) };
    for (const secret of secrets) {
      try {
        const { payload } = await jwtVerify(token, secret, options);
        return { env, claims: payload };
      } catch {
        // Signed with another key of the environment, perhaps: keys are changed while tokens are out.
      }
    }
    return null;
  }
}

/** Not yet believed: only says which environment's keys to try. */
function claimedEnv(token: string): string | null {
  try {
    const env = decodeJwt(token)[envClaim];
    return typeof env === "string" ? env : null;
  } catch {
    return null;
  }
}

// Derived, so that a token never gives away anything about what the signing key itself signs.
const secretOf = (signingKey: string, env: string, use: TokenUse): Uint8Array =>
  createHmac("sha256", signingKey).update(`idem token\n${use}\n${env}`).digest();
