// Guards an app that believes calls without a signature. A call makes side effects happen, so it must come from this machine, or by a name
// that was given for it (a container's). A browser calls on behalf of any page it shows, and a proxy or a tunnel on behalf of anybody: the
// one they say they speak for must be this machine as well.
import { errors } from "../model/errors.ts";
import { hostNameOf, isLoopback, isOwnAddress } from "../protocol/host-name.ts";
import type { AppRequest } from "./app-handler.ts";

type Asked = Pick<AppRequest, "method" | "url" | "header" | "address">;

/** Throws APP_CALL_REFUSED. `named` are names besides this machine's own, in lower case. */
export function checkDevCall({ method, url, header, address }: Asked, named: readonly string[]): void {
  const isOurs = (host: string) => isLoopback(hostNameOf(host)) || named.includes(hostNameOf(host));
  const hosts = [header("host") ?? new URL(url).host, ...listOf(header("x-forwarded-host"))];
  const stranger = hosts.find((host) => !isOurs(host));
  if (stranger !== undefined) throw refused(`it was sent to "${shown(stranger)}", which is no name of this machine`);
  const origin = header("origin");
  if (origin !== undefined && !isOurs(URL.canParse(origin) ? new URL(origin).host : "")) {
    throw refused(`a page of ${shown(origin)} may not call functions here`);
  }
  // Said by the browser, also where it leaves out the origin. A person who follows a link sees what is served, and nothing is done.
  const isLook = method === "GET" && header("sec-fetch-mode") === "navigate";
  if (header("sec-fetch-site") === "cross-site" && !isLook)
    throw refused("a page of another site may not call functions here");
  // A call by a name that was given is welcome: containers have addresses of their own.
  if (hosts.every((host) => named.includes(hostNameOf(host)))) return;
  const ends = [...(address === null ? [] : [address]), ...listOf(header("x-forwarded-for"))];
  const far = ends.find((end) => !isOwnAddress(end));
  if (far !== undefined) throw refused(`it comes from ${shown(far)}, which is another machine`);
  if (header("forwarded") !== undefined) throw refused("a proxy sent it on");
}

const listOf = (header: string | undefined): string[] =>
  header === undefined ? [] : header.split(",").map((each) => each.trim());

const shown = (text: string): string => text.slice(0, 100);

const refused = (why: string) => errors.APP_CALL_REFUSED({ why });
