// Asking a server's /api. What a route takes and answers is what it says itself (server/api/api-table.ts), known here by its types alone.
import type { HttpResponse } from "../platform/platform.ts";
import { pathWith } from "../protocol/api-path.ts";
import type { Answer, Asked, RouteName } from "../server/api/api-table.ts";
import type { RemoteServer, ServerRequest } from "./remote-server.ts";

/** The subject of its errors, and whether it may be tried again. */
export type AskedOf = Pick<ServerRequest, "what" | "once">;

interface AskedLoosely {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export const requestTo = <E extends RouteName>(route: E, asked: Asked<E>, about: AskedOf): ServerRequest => {
  const [method, path] = route.split(" ") as [ServerRequest["method"], string];
  const { params, query = {}, body }: AskedLoosely = asked;
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  const sent = method === "GET" ? {} : { body: JSON.stringify(body ?? {}) };
  return { method, path: pathWith(path, params) + (search === "" ? "" : `?${search}`), ...sent, ...about };
};

/** Server and client are one package, of the same version or beside each other: the answer is not read a second time. */
export const answerTo = <E extends RouteName>(server: RemoteServer, _: E, response: HttpResponse, what: string) =>
  server.readJson(response, what) as Answer<E>;

/** Null for what is not there. */
export async function askServer<E extends RouteName>(
  server: RemoteServer,
  route: E,
  asked: Asked<E> & AskedOf,
): Promise<Answer<E> | null> {
  const { what, once = false } = asked;
  const response = await server.ask(requestTo(route, asked, { what, once }));
  return response.status === 404 ? null : answerTo(server, route, response, what);
}
