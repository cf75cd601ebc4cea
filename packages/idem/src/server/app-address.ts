// Addresses where apps may live. Anybody who can register an app chooses an address this server will send requests to from inside its
// network, so in `start` an address must be public, or its host must have been named by the server's operator: in
// `allowHosts`, or by giving the app's URL at start. That this server listens on loopback is no permission: behind a proxy
// it does so too, beside databases that trust their machine. Addresses of clouds' metadata are refused even by name.
//
// A URL is judged by its text before every request (checkAppUrl), and a name by the addresses it has at the moment of
// connecting (mayConnect, through platform/guarded-lookup.ts). In `dev` everything is the developer's own.
import { errors } from "../model/errors.ts";
import { rangeOf } from "../model/ip-range.ts";
import { guardedLookup } from "../platform/guarded-lookup.ts";
import { shownUrl } from "../protocol/app-url.ts";
import type { ChannelPorts } from "../sdk/send-to-channel.ts";
import type { ServerSettings } from "./world.ts";

export type AddressSettings = Pick<ServerSettings, "mode" | "allowHosts" | "sdkUrls">;

/** Throws APP_URL_REFUSED. */
export function checkAppUrl(text: string, settings: AddressSettings): void {
  const refuse = (why: string) => errors.APP_URL_REFUSED({ url: shownUrl(text), why });
  if (!URL.canParse(text)) throw refuse("it is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refuse("it must begin with http:// or https://");
  if (url.username !== "" || url.password !== "") {
    throw refuse("it holds a user name or a password, which would be shown to everyone who sees the app");
  }
  const why = whyRefused(url, settings);
  if (why !== null) throw refuse(why);
}

/** Why nothing is sent to this host and port from here; null when it may be. */
export function whyRefused(url: URL, settings: AddressSettings): string | null {
  if (settings.mode === "dev") return null;
  const host = hostOf(url.hostname);
  const named = namedHosts(settings).filter((each) => isNamed(host, each));
  const ports = named.map(({ port }) => port);
  const isAllowed = ports.some((port) => port === null || port === portOf(url));
  // A name's addresses come later, when nobody knows the port any more: so a host named with ports has only those.
  if (named.length > 0 && !isAllowed) return `"${host}" is allowed with port ${ports.join(" or ")} only`;
  const range = isLocalName(host) ? "private" : rangeOf(host);
  if (range === "never") return `no app can be at ${host}`;
  if (range === "private" && !isAllowed) {
    return `${host} is an address of this machine or its network; if the app is meant to be there, allow it`;
  }
  return null;
}

/** Whether a name may be connected to at this address. */
export function mayConnect(hostname: string, address: string, settings: AddressSettings): boolean {
  if (settings.mode === "dev") return true;
  const range = rangeOf(address);
  if (range === "public") return true;
  return range === "private" && namedHosts(settings).some((each) => isNamed(hostOf(hostname), each));
}

/** For `lookup` of node:http. */
export const appLookup = (settings: AddressSettings) =>
  guardedLookup((hostname, address) => mayConnect(hostname, address, settings));

interface NamedHost {
  /** `*.internal.example` is every name that ends so. */
  readonly host: string;
  readonly port: string | null;
}

const namedBySettings = new WeakMap<AddressSettings, readonly NamedHost[]>();

/** Read once: it is asked before every call. */
function namedHosts(settings: AddressSettings): readonly NamedHost[] {
  const known = namedBySettings.get(settings);
  if (known !== undefined) return known;
  const urls = settings.sdkUrls.filter((url) => URL.canParse(url)).map((url) => new URL(url));
  const named = [
    ...settings.allowHosts.map(readNamedHost),
    ...urls.map((url) => ({ host: hostOf(url.hostname), port: portOf(url) })),
  ];
  namedBySettings.set(settings, named);
  return named;
}

/** `host`, `host:port`, `[ipv6]`, `[ipv6]:port` or plain `ipv6`. */
function readNamedHost(text: string): NamedHost {
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  return host === undefined ? { host: hostOf(text.trim()), port: null } : { host: hostOf(host), port: port ?? null };
}

const isNamed = (host: string, named: NamedHost): boolean =>
  named.host === host || (named.host.startsWith("*.") && host.endsWith(named.host.slice(1)));

const portsByProtocol: Readonly<Record<string, string>> = { "https:": "443", "smtps:": "465", "smtp:": "587" };
const portOf = (url: URL): string => (url.port !== "" ? url.port : (portsByProtocol[url.protocol] ?? "80"));

// Apps register under any of these, and are kept as localhost (protocol/app-url.ts).
const thisMachine = new Set(["127.0.0.1", "0.0.0.0", "::1", "::"]);

function hostOf(hostname: string): string {
  const host = hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
  return thisMachine.has(host) ? "localhost" : host;
}

const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/**
 * Addresses the radar may send to from a server. Anybody who may set up a channel chooses an address inside this server's network, so the
 * rule is that of apps: in `start` an address is public, or its host was allowed by the operator.
 */
export const channelAddresses = (settings: AddressSettings): Required<Pick<ChannelPorts, "refuses" | "lookup">> => ({
  refuses: (url) => whyRefused(new URL(url), settings),
  lookup: appLookup(settings),
});
