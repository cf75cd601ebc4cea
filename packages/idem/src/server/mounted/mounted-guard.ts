// Admits callers of a dashboard that is mounted in an application. The application's own `authorize` decides. Where it was mounted with
// `dev: true` nobody is asked, and what can be seen of a request must then look like this machine's own. That is no proof (a proxy that
// rewrites Host makes a stranger look so), and therefore nothing is opened by it that was not asked for. The application's session rides
// along with whatever any page asks for, so what changes something must come from a page of the same origin.
import { errors } from "../../model/errors.ts";
import { hostNameOf, isLoopback, isOwnAddress } from "../../protocol/host-name.ts";
import type { Authorize, DashboardCaller, MountedClient } from "../../sdk/open-dashboard.ts";
import { notedAddress } from "../../sdk/request-address.ts";
import { isOwnOrLink, type PageGuard } from "../browser-guard.ts";
import { type Actor, devActor } from "../people/actor.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** Throws DASHBOARD_CLOSED and DASHBOARD_REFUSED. */
export async function admitMounted(
  request: Request,
  client: Pick<MountedClient, "id">,
  authorize: Authorize | undefined,
): Promise<Actor> {
  if (authorize === undefined) {
    checkOwnMachine(request);
    return devActor;
  }
  const actor = actorOf(await authorize(request));
  if (actor === null) throw errors.DASHBOARD_REFUSED({ client: client.id });
  return actor;
}

const nameCharsMax = 100;

/** Whatever is not one of the answers is nobody. */
function actorOf(caller: DashboardCaller | null): Actor | null {
  const { role, name } = typeof caller === "string" ? { role: caller, name: "" } : (caller ?? { role: null, name: "" });
  if (role !== "operator" && role !== "viewer") return null;
  const shown = typeof name === "string" ? name.slice(0, nameCharsMax) : "";
  return { role, name: shown === "" ? `dashboard ${role}` : shown, session: null, onlyEnv: null, isPerson: true };
}

/**
 * A name in Host is anybody's word, and says only that no stranger's DNS leads here. Where the line's other end is known it must be this machine
 * as well, and so must everybody a proxy speaks for.
 */
function checkOwnMachine(request: Request): void {
  const { headers } = request;
  const address = notedAddress(request);
  const host = headers.get("host") ?? new URL(request.url).host;
  const forwarded = headers.get("x-forwarded-for")?.split(",") ?? [];
  const ends = [...(address === null ? [] : [address]), ...forwarded].map((each) => each.trim());
  if (!isLoopback(hostNameOf(host)) || !ends.every(isOwnAddress) || headers.has("forwarded")) {
    const why = "it was mounted for development, with dev: true, and the request comes from another machine";
    throw errors.DASHBOARD_CLOSED({ why });
  }
}

function checkOrigin(method: string, headers: Headers): void {
  if (method === "GET" || method === "HEAD") return;
  const { origin } = headers;
  // Said by the browser itself, whatever proxies make of the host.
  const site = headers["sec-fetch-site"];
  const isOwn =
    site !== undefined
      ? site === "same-origin"
      : origin !== undefined
        ? URL.canParse(origin) && hostsOf(headers).includes(new URL(origin).host)
        : // Browsers say the page with everything that changes something: this is a tool, which shows no cookie.
          headers.cookie === undefined;
  if (isOwn) return;
  const from = origin === undefined ? "a request that does not say its page" : `a page of ${origin.slice(0, 100)}`;
  throw errors.ORIGIN_REFUSED({ why: `${from} may not change anything here` });
}

/** No page of another origin can set the second one: browsers would ask first, and get no answer. */
const hostsOf = (headers: Headers): readonly (string | undefined)[] => [
  headers.host,
  headers["x-forwarded-host"]?.split(",")[0]?.trim(),
];

/** Where everybody of this machine is let in, pages of other sites may lead here and ask for nothing else: reading costs, too. */
export const mountedGuard = (isDev: boolean): PageGuard => ({
  checkOrigin(method, access, headers) {
    if (isDev && !isOwnOrLink(method, access, headers)) {
      throw errors.ORIGIN_REFUSED({ why: "a page of another site may not ask here" });
    }
    checkOrigin(method, headers);
  },
  checkOwnPage: (headers) => checkOrigin("POST", headers),
});
