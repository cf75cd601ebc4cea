// The cookie a signed-in browser keeps. No script can read it, and no other site's page can have it sent along.

const plainName = "idem_session";
/** Browsers take it only over https, from this very host, for all of it: no page of a sibling domain can put one in its place. */
const secureName = `__Host-${plainName}`;

/** A server of its own has all of its origin. */
export const cookiePath = "/";

const patternOf = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([A-Za-z0-9_-]{43})\\s*(?:;|$)`);
const plainPattern = patternOf(plainName);
const securePattern = patternOf(secureName);

/**
 * The token, or null; whatever does not look like one was never given out. The one for https counts, where there are both; where cookies are for https
 * only, the other one is nobody's.
 */
export function sessionTokenOf(header: string | undefined, isSecureOnly: boolean): string | null {
  const secure = securePattern.exec(header ?? "")?.[1] ?? null;
  return secure ?? (isSecureOnly ? null : (plainPattern.exec(header ?? "")?.[1] ?? null));
}

export interface CookieOptions {
  /** Where the server is mounted: "/" for one of its own. */
  readonly path: string;
  readonly isSecure: boolean;
  readonly lifeSeconds: number;
}

export const sessionCookie = (token: string, { path, isSecure, lifeSeconds }: CookieOptions): string =>
  `${isSecure ? secureName : plainName}=${token}; HttpOnly; SameSite=Strict; Path=${path}; Max-Age=${lifeSeconds}${isSecure ? "; Secure" : ""}`;

export const forgottenCookie = (options: Omit<CookieOptions, "lifeSeconds">): string =>
  sessionCookie("", { ...options, lifeSeconds: 0 });

type Headers = Readonly<Record<string, string | undefined>>;

/** TLS ends at a proxy, so a browser's own word or the proxy's says it; a liar only marks the cookie it is given. */
export const cameByHttps = (headers: Headers): boolean =>
  headers.origin?.startsWith("https://") === true || /^\s*https\s*(,|$)/i.test(headers["x-forwarded-proto"] ?? "");
