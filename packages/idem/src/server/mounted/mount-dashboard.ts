// The dashboard beside an embedded engine: the server's pages and routes behind one Fetch handler, over the client's own engine and store.
// Order: who asks, then what for; a stranger learns nothing of what there is.
import type { Readable } from "node:stream";
import { errors, IdemError } from "../../model/errors.ts";
import type { Encoding } from "../../protocol/content-coding.ts";
import { statusOf } from "../../protocol/problem.ts";
import type { Authorize, DashboardHandler, MountedClient } from "../../sdk/open-dashboard.ts";
import { namedEnv } from "../admit-caller.ts";
import { type Admitted, isChange } from "../admit-person.ts";
import { answerRequest, errorAnswer, findRoute } from "../answer-request.ts";
import { BodyBudget, BodyShare } from "../body-budget.ts";
import { unknownPage } from "../dashboard/serve-dashboard.ts";
import { unexpected } from "../incoming-request.ts";
import { serverLimits } from "../limits.ts";
import type { Actor } from "../people/actor.ts";
import { dataHeaders } from "../people/safe-headers.ts";
import { CallerGone, readBody } from "../read-body.ts";
import type { Route, RouteAnswer } from "../route.ts";
import { routerOf } from "../router.ts";
import { SilentPeers } from "../silent-peers.ts";
import { FetchRequest, responseOf } from "./fetch-request.ts";
import { admitMounted, mountedGuard } from "./mounted-guard.ts";
import { isHealthPath, mountedRoutes } from "./mounted-routes.ts";
import { type MountedWorld, openMountedWorld } from "./mounted-world.ts";

export interface MountOptions {
  /** Begins and ends with a slash. */
  readonly base: string;
  /** Undefined where development was asked for. */
  readonly authorize: Authorize | undefined;
}

export function mountDashboard(client: MountedClient, { base, authorize }: MountOptions): DashboardHandler {
  const router = routerOf(mountedRoutes(base, client));
  const budget = new BodyBudget(serverLimits.bodyBytesHeld);
  const guard = mountedGuard(authorize === undefined);
  // A body that is on its way takes no place among the requests under way: it costs its sender nothing until it is sent.
  const { bodies, bodyMs } = serverLimits;
  const awaited = new SilentPeers<AwaitedStream>({ max: bodies, perAddressMax: bodies, cut: (body) => body.cut() });
  let mounted: MountedWorld | null = null;
  let underWay = 0;
  const open = (): MountedWorld => {
    mounted ??= openMountedWorld(client, authorize === undefined ? "dev" : "start");
    return mounted;
  };
  client.onStop(async () => {
    const closing = mounted;
    mounted = null;
    await closing?.close();
  });

  function admit(route: Route, asked: FetchRequest, actor: Actor): Admitted {
    if (actor.role === "viewer" && isChange(asked.method) && route.viewerMay !== true) {
      throw errors.FORBIDDEN_ROLE({ role: "viewer" });
    }
    // A page that names none means the only one there is.
    return { env: namedEnv("operator", asked) ?? client.env, actor };
  }

  async function answer(asked: FetchRequest, actor: Actor, at: string): Promise<Response> {
    const found = findRoute(router, asked.method, asked.path);
    const { route } = found;
    if ("allowed" in found) {
      return responseOf(asked, { status: 204, headers: { allow: found.allowed }, body: null }, dataHeaders);
    }
    asked.params = found.params;
    const { world, reachedAt } = open();
    reachedAt(at);
    const share = new BodyShare(budget);
    const source = asked.source();
    try {
      const admitting = async () => admit(route, asked, actor);
      const takeBody = (encoding: Encoding | null, max: number) => awaitBody(source, encoding, max, share);
      const options = { world, guard, takeBody, invite: () => {}, admit: admitting };
      return responseOf(asked, await answerRequest(route, asked, source, options), dataHeaders);
    } finally {
      share.giveBack();
      // Also where it was refused half-way: nobody reads the rest, and its sender learns so.
      source.destroy();
    }
  }

  async function awaitBody(
    source: Readable,
    encoding: Encoding | null,
    max: number,
    share: BodyShare,
  ): Promise<Buffer> {
    let isCut = false;
    const body = {
      cut: () => {
        isCut = true;
        source.destroy();
      },
    };
    const timer = client.platform.timer(bodyMs, body.cut);
    awaited.add(body, "");
    underWay--;
    try {
      return await readBody(source, encoding, max, share);
    } catch (error) {
      if (!isCut) throw error;
      throw errors.REQUEST_INVALID({
        why: `its body did not arrive within ${bodyMs / 1_000} s, or before many others`,
      });
    } finally {
      timer.cancel();
      awaited.delete(body);
      underWay++;
    }
  }

  return async (request) => {
    const url = new URL(request.url);
    const asked = new FetchRequest(request, url, pathUnder(base, url.pathname) ?? "");
    try {
      const isProbe = authorize !== undefined && isHealthPath(asked.path);
      const underWayMax = serverLimits.requestsInFlight + (isProbe ? probesMax : 0);
      if (underWay >= underWayMax) throw errors.SERVER_BUSY({ why: "too many are under way" });
      underWay++;
      try {
        const actor = isProbe ? probe : await admitMounted(request, client, authorize);
        if (asked.path === "") throw errors.REQUEST_INVALID({ why: elsewhere(base) });
        return await answer(asked, actor, url.origin + base.slice(0, -1));
      } finally {
        underWay--;
      }
    } catch (error) {
      asked.leave();
      // Nobody is left to read it.
      if (error instanceof CallerGone) return new Response(null, { status: 499 });
      const known = error instanceof IdemError ? error : unexpected(error, request, { path: `under ${base}` }, client);
      return responseOf(asked, refusalOf(request, known, asked.path, base), dataHeaders);
    }
  };
}

// Beyond the places of all others: an application must not be restarted because a viewer reads many pages.
const probesMax = 100;

interface AwaitedStream {
  cut(): void;
}

/** Asks for nothing but the health. */
const probe: Actor = { role: "viewer", name: "a probe", session: null, onlyEnv: null, isPerson: false };

const elsewhere = (base: string): string =>
  `it is not under ${base}; say where the dashboard is mounted with dashboard({ base })`;

/** Null for what is not under it. */
function pathUnder(base: string, path: string): string | null {
  if (path.startsWith(base)) return path.slice(base.length - 1);
  return path === base.slice(0, -1) ? "/" : null;
}

/** A person who opens a page reads a sentence; everything else reads a problem. */
function refusalOf(request: Request, error: IdemError, path: string, base: string): RouteAnswer {
  const accept = request.headers.get("accept") ?? undefined;
  const page = unknownPage({ method: request.method, path, accept }, error, base);
  if (page !== null) return page;
  const isPage = accept?.includes("text/html") === true;
  if (!isPage) return errorAnswer(error, "problem", false);
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return { status: statusOf(error.code), headers, body: `${error.message}\n` };
}
