// Guards against web pages. A browser sends requests to loopback on behalf of any page it shows, and dev
// asks for no key, so the page's own address decides:
// - a foreign name in Host means that somebody's DNS points here (rebinding): refused, for such a page could read answers;
// - a request by another site's page, as the browser says, is refused in dev, but for links to a page of ours;
// - a foreign Origin may not change anything in dev, and never what is open to operators, whose password browsers remember.
import { errors } from "../model/errors.ts";
import { hostNameOf, isAddress, isLoopback } from "../protocol/host-name.ts";
import type { Access } from "./route.ts";
import type { ServerSettings } from "./world.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** Not asked for by a page of another site, or by a link that leads to a page of ours. */
export function isOwnOrLink(method: string, access: Access, headers: Headers): boolean {
  if (headers["sec-fetch-site"] !== "cross-site") return true;
  const isLink = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return isLink && method === "GET" && access === "open";
}

/** Asked of a page before anything is done for it. */
export type PageGuard = Pick<BrowserGuard, "checkOrigin" | "checkOwnPage">;

export class BrowserGuard {
  /** Host headers seen before and found to be ours; callers use one or two. */
  private readonly ours = new Set<string>();

  constructor(private readonly settings: Pick<ServerSettings, "mode" | "host" | "allowHosts">) {}

  checkHost(headers: Headers): void {
    const { host } = headers;
    if (this.settings.mode !== "dev" || host === undefined || this.ours.has(host)) return;
    const name = hostNameOf(host);
    if (!this.isOurs(name)) {
      throw errors.ORIGIN_REFUSED({
        why: `"${name.slice(0, 100)}" is no name of this machine; --allow-host names others`,
      });
    }
    if (this.ours.size < 100) this.ours.add(host);
  }

  /**
   * An exact list. Names without a dot and those under `.internal` are answered by the resolver of whatever network the machine is in, so a page can
   * have them point here as well. An address is no name, and is ours where the server listens beyond loopback.
   */
  private isOurs(name: string): boolean {
    const { host, allowHosts } = this.settings;
    if (isLoopback(name) || name === host.toLowerCase()) return true;
    if (allowHosts.some((each) => each.toLowerCase() === name)) return true;
    return !isLoopback(host) && isAddress(name);
  }

  /** Before anything is done for a page of another site. */
  checkOrigin(method: string, access: Access, headers: Headers): void {
    this.checkSite(method, access, headers);
    if (headers.origin === undefined || method === "GET" || method === "HEAD") return;
    if (this.settings.mode === "start" && access !== "operator" && access !== "sign-in") return;
    if (!this.isTrusted(headers)) {
      throw errors.ORIGIN_REFUSED({ why: `a page of ${headers.origin.slice(0, 100)} may not change anything here` });
    }
  }

  /**
   * In dev, where everybody is let in: what a page of another site has its browser fetch, as an image or a script, is not even looked up.
   * Browsers say so themselves (Sec-Fetch-Site). A link that leads to a page of ours, which is an empty shell, is none of these.
   */
  private checkSite(method: string, access: Access, headers: Headers): void {
    if (this.settings.mode !== "dev" || isOwnOrLink(method, access, headers)) return;
    if (headers.origin !== undefined && this.isTrusted(headers)) return;
    throw errors.ORIGIN_REFUSED({ why: "a page of another site asks for it" });
  }

  /** For what a cookie opens: browsers say the page with everything that changes something, so no word of it is refused, too. */
  checkOwnPage(headers: Headers): void {
    if (headers.origin === undefined) throw errors.ORIGIN_REFUSED({ why: "it does not say which page it comes from" });
    if (!this.isTrusted(headers)) {
      throw errors.ORIGIN_REFUSED({ why: `a page of ${headers.origin.slice(0, 100)} may not change anything here` });
    }
  }

  /** A WebSocket is never asked for by a page without the page's address, and no rule of browsers keeps its answers back. */
  checkSocket(headers: Headers): void {
    if (headers.origin === undefined || this.settings.mode === "start" || this.isTrusted(headers)) return;
    throw errors.ORIGIN_REFUSED({ why: `a page of ${headers.origin.slice(0, 100)} may not connect` });
  }

  /** The origin to be named in `Access-Control-Allow-Origin`; null when the page may not read the answer. */
  readableBy(access: Access, headers: Headers): string | null {
    if (headers.origin === undefined) return null;
    // A key in the path or a token in the query is all a page needs there, and no cookie is taken.
    if (this.settings.mode === "start") return access === "event-key" || access === "open" ? "*" : null;
    return this.isTrusted(headers) ? headers.origin : null;
  }

  /** This server's own pages, and in dev those of other programs of this machine: a frontend on its own port sends events. */
  private isTrusted({ origin, host }: Headers): boolean {
    let url: URL;
    try {
      url = new URL(origin!);
    } catch {
      return false;
    }
    if (url.host === host) return true;
    return this.settings.mode === "dev" && isLoopback(hostNameOf(url.host));
  }
}
