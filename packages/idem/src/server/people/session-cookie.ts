// The cookie a signed-in browser keeps. No script can read it, and no other site's page can have it sent along.

export const sessionCookieName = "idem_session";

/** A server of its own has all of its origin. */
export const cookiePath = "/";

const pattern = new RegExp(`(?:^|;)\\s*${sessionCookieName}=([A-Za-z0-9_-]{43})\\s*(?:;|$)`);

/** The token, or null; whatever does not look like one was never given out. */
export const sessionTokenOf = (header: string | undefined): string | null => pattern.exec(header ?? "")?.[1] ?? null;

export interface CookieOptions {
  /** Where the server is mounted: "/" for one of its own. */
  readonly path: string;
  readonly isSecure: boolean;
  readonly lifeSeconds: number;
}

export const sessionCookie = (token: string, { path, isSecure, lifeSeconds }: CookieOptions): string =>
  `${sessionCookieName}=${token}; HttpOnly; SameSite=Strict; Path=${path}; Max-Age=${lifeSeconds}${isSecure ? "; Secure" : ""}`;

export const forgottenCookie = (options: Omit<CookieOptions, "lifeSeconds">): string =>
  sessionCookie("", { ...options, lifeSeconds: 0 });

type Headers = Readonly<Record<string, string | undefined>>;

/** TLS ends at a proxy, so a browser's own word or the proxy's says it; a liar only marks the cookie it is given. */
export const cameByHttps = (headers: Headers): boolean =>
  headers.origin?.startsWith("https://") === true || /^\s*https\s*(,|$)/i.test(headers["x-forwarded-proto"] ?? "");
