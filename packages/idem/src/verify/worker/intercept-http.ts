// Meets requests of a process's code before they leave: `fetch`, `node:http(s)`, the package `undici`. The watcher gives the answer.
import { AsyncLocalStorage } from "node:async_hooks";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import type { BatchInterceptor } from "@mswjs/interceptors";
import type { ModelAnswer, ModelRequest } from "../destination-model.ts";
import { watchParsing } from "./absent-fields.ts";
import { fromHere } from "./caller.ts";
import { WayOutShut } from "./deny-ways-out.ts";
import { hasBody, plainRequest, plainResponse } from "./plain-fetch.ts";
import { nodemailerPackage } from "./watch-mail.ts";
import { smithyPackage, stripePackage, watchPackages } from "./watch-packages.ts";
import { undiciPackage } from "./watch-undici.ts";
import type { Outside } from "./watcher.ts";

/** Throws what a broken connection throws. */
type Ask = (request: ModelRequest) => Promise<ModelAnswer>;

/** Begins as a request and goes on as something nobody watches. */
export function doorOf({ method, url, headers }: Pick<ModelRequest, "method" | "url" | "headers">): string | null {
  const { upgrade } = headers;
  const place = `${url.host}${url.pathname}`;
  if (method === "CONNECT") return tunnelBy(url.host);
  if (upgrade?.toLowerCase() === "websocket") return `a WebSocket to ${place} was opened that is not watched`;
  if (upgrade !== undefined) return `a connection to ${place} became one of ${upgrade}, which is not watched`;
  if (method === "GET" && headers.accept === "text/event-stream")
    return `a stream of events from ${place} was opened that is not watched`;
  return null;
}

const tunnelBy = (host: string): string => `a tunnel by ${host} was opened that is not watched`;

/** Of the arguments of `node:http`'s: no `Request` can be made of such a one. */
function tunnelOf(args: readonly unknown[]): string | null {
  const given = args.filter((each): each is object => typeof each === "object" && each !== null);
  const { method, host, hostname, port } = Object.assign({}, ...given) as Readonly<Record<string, unknown>>;
  if (String(method).toUpperCase() !== "CONNECT") return null;
  return tunnelBy(`${String(hostname ?? host ?? "localhost")}:${String(port ?? 80)}`);
}

export function refuse(outside: Outside, wayOut: string | null): void {
  if (wayOut === null || !outside.isWatched()) return;
  outside.unproven(wayOut);
  throw new WayOutShut(wayOut);
}

/** `fetch` throws this where a connection breaks. */
export const lostConnection = (): Error =>
  Object.assign(new TypeError("fetch failed"), {
    code: "ECONNRESET",
    cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  });

/** Some write only once the connection stands (Stripe's SDK): it always does. */
function connects(socket: Socket): void {
  process.nextTick(() => {
    if (!socket.connecting) return;
    Object.assign(socket, { connecting: false });
    socket.emit("connect");
    socket.emit("secureConnect");
  });
}

/** An answer that is there already, for a request that is asked once more in another way. */
const answered = new AsyncLocalStorage<{ answer: ModelAnswer | null }>();

function takeAnswer(): ModelAnswer | null {
  const held = answered.getStore();
  const answer = held?.answer ?? null;
  if (held !== undefined) held.answer = null;
  return answer;
}

async function fetchPlainly(ask: Ask, otherwise: typeof fetch, args: Parameters<typeof fetch>): Promise<Response> {
  const request = plainRequest(...args);
  if (request === null) return otherwise(...args);
  const answer = await ask(request);
  return plainResponse(request, answer) ?? answered.run({ answer }, () => otherwise(...args));
}

/** Once for a thread, or a process. */
export async function interceptHttp(outside: Outside, ask: Ask): Promise<void> {
  watchPackages([undiciPackage(outside, ask), nodemailerPackage, stripePackage, smithyPackage]);
  watchParsing();
  const interceptor = await loadInterceptors();
  interceptor.on("request", async ({ request, controller }) => {
    try {
      const answer =
        takeAnswer() ??
        (await ask({
          method: request.method.toUpperCase(),
          url: new URL(request.url),
          headers: Object.fromEntries(request.headers),
          body: request.body === null ? "" : await request.text(),
        }));
      const { status, headers, body } = answer;
      const sent = hasBody(request.method, status) ? body : null;
      controller.respondWith(new Response(sent, { status, headers: { ...headers } }));
    } catch (error) {
      controller.errorWith(error as Error);
    }
  });
  interceptor.apply();
  const intercepted = globalThis.fetch;
  globalThis.fetch = (...args) =>
    fromHere(() => {
      const end = outside.begin();
      return fetchPlainly(ask, intercepted, args).finally(end);
    });
  for (const module of [http, https]) {
    for (const name of ["request", "get"] as const) {
      const before = module[name] as (...args: unknown[]) => http.ClientRequest;
      Object.assign(module, {
        [name]: (...args: unknown[]) =>
          fromHere(() => {
            refuse(outside, tunnelOf(args));
            const end = outside.begin();
            const request = before(...args);
            request.once("close", end);
            request.once("socket", connects);
            return request;
          }),
      });
    }
  }
  http.ClientRequest = new Proxy(http.ClientRequest, {
    construct: (target, args, as) => {
      refuse(outside, tunnelOf(args));
      return Reflect.construct(target, args, as) as object;
    },
  });
  syncBuiltinESMExports();
}

/**
 * The package that sees requests leave, of `fetch`, `node:http` and `node:https`, loaded when the thread opens: nothing else in Idem needs it,
 * and only who verifies installs it.
 */
async function loadInterceptors(): Promise<BatchInterceptor> {
  try {
    const [{ BatchInterceptor }, { FetchInterceptor }, { ClientRequestInterceptor }] = await Promise.all([
      import("@mswjs/interceptors"),
      import("@mswjs/interceptors/fetch"),
      import("@mswjs/interceptors/ClientRequest"),
    ]);
    const interceptors = [new FetchInterceptor(), new ClientRequestInterceptor()];
    return new BatchInterceptor({ name: "idem-verify", interceptors });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const needed = "npm install --save-dev @mswjs/interceptors@0.41.9";
    throw new Error(`idem verify needs a library that is not installed here; "${needed}", and try again`);
  }
}
