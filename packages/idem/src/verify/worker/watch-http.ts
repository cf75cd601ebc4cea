// HTTP by any client that ends in `fetch` or `node:http(s)`.
import { AsyncLocalStorage } from "node:async_hooks";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import type { BatchInterceptor } from "@mswjs/interceptors";
import { environment } from "../../platform/node-thread.ts";
import {
  DestinationModel,
  isRead,
  keyOf,
  type ModelAnswer,
  type ModelRequest,
  pathOf,
  readBody,
  withKey,
} from "../destination-model.ts";
import { knownHost } from "../known-hosts.ts";
import { recordedOf, secretsOf, withoutSecrets } from "../recordings.ts";
import { AbsentFields, watchAbsent, watchParsing } from "./absent-fields.ts";
import { askReal } from "./ask-real.ts";
import { asMachine, fromHere } from "./caller.ts";
import { WayOutShut } from "./deny-ways-out.ts";
import { hasBody, plainRequest, plainResponse } from "./plain-fetch.ts";
import { realClearTimeout, realSetTimeout } from "./real.ts";
import { nodemailerPackage } from "./watch-mail.ts";
import { smithyPackage, stripePackage, watchPackages } from "./watch-packages.ts";
import { undiciPackage } from "./watch-undici.ts";
import type { Effected, Outside, Watcher } from "./watcher.ts";
import type { Fixture } from "./world-script.ts";

let model: DestinationModel | null = null;
let absent: AbsentFields | null = null;

/** One request of a world's code. Throws what a broken connection throws. */
export async function askOutside(outside: Outside, request: ModelRequest): Promise<ModelAnswer> {
  const fields = absent!;
  const answer = await carryOut(outside, request);
  if (answer.isMadeUp) fields.watch(answer.body, request);
  else fields.trust(answer.body);
  return answer;
}

async function carryOut(outside: Outside, request: ModelRequest): Promise<ModelAnswer> {
  const { method, url } = request;
  const here = model!;
  refuse(outside, doorOf(request));
  await recordReal(outside, request);
  const title = `${method} ${url.host}/${pathOf(request).join("/")}`;
  if (isRead(request)) return outside.read(() => here.ask(request, { fn: null, effect: 0 }), title);
  const body = readBody(request.body, request.headers["content-type"] ?? "");
  const { key } = keyOf(request, body, knownHost(url.hostname));
  const became: Effected<ModelAnswer> = await outside.effect({ watcher: "http", title, key }, (by) => {
    const answer = here.ask(by.key === null ? request : withKey(request, by.key, knownHost(url.hostname)), by);
    return { value: answer, isRepeat: answer.isRepeat, isForgotten: answer.isForgotten };
  });
  switch (became.kind) {
    case "happened":
      return became.value;
    case "lost":
      throw Object.assign(new TypeError("fetch failed"), { code: "ECONNRESET", cause: connectionReset() });
    case "refused":
      return refusal(became.status);
  }
}

/** What begins as a request and goes on as something nobody watches. */
function doorOf({ method, url, headers }: Pick<ModelRequest, "method" | "url" | "headers">): string | null {
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

function refuse(outside: Outside, wayOut: string | null): void {
  if (wayOut === null || !outside.isWatched()) return;
  outside.unproven(wayOut);
  throw new WayOutShut(wayOut);
}

interface Recording {
  readonly hosts: readonly string[];
  /** The user's own fixture says what is answered: nobody is asked. */
  readonly isGiven: (request: ModelRequest) => boolean;
  readonly recorded: Fixture[];
  /** What was answered to exactly this question. */
  readonly answers: Map<string, Fixture>;
}

let recording: Recording | null = null;

const questionOf = ({ method, url, body }: ModelRequest): string => `${method} ${url.href} ${body}`;

/** Asks a host that is allowed to be asked, and keeps what it answers: from then on that is what the model tells. */
async function recordReal(outside: Outside, request: ModelRequest): Promise<void> {
  const { method, url } = request;
  if (recording === null || !recording.hosts.includes(url.host) || recording.isGiven(request)) return;
  const { hosts, recorded, answers } = recording;
  // The world waits: it is told every now and then that something is under way.
  const underWay = AsyncLocalStorage.bind(() => outside.begin()());
  const answered = asMachine(async () => {
    const stir = (): void => {
      underWay();
      timer = realSetTimeout(stir, 200);
    };
    let timer = realSetTimeout(stir, 200);
    try {
      return await askReal(request, hosts);
    } finally {
      realClearTimeout(timer);
    }
  });
  try {
    const kept = recordedOf({ method, url }, await answered);
    recorded.push(kept);
    answers.set(questionOf(request), kept);
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    outside.unproven(`${url.host} was to be recorded and could not be asked: ${why}`);
    throw error;
  }
}

const connectionReset = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

const refusal = (status: 500 | 429 | 409): ModelAnswer => ({
  status,
  headers: { "content-type": "application/json", ...(status === 429 ? { "retry-after": "5" } : {}) },
  body: JSON.stringify({ error: { type: "refused", message: `the destination answered ${status}` } }),
  isRepeat: false,
  isForgotten: false,
  isMadeUp: false,
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

async function fetchPlainly(
  outside: Outside,
  otherwise: typeof fetch,
  args: Parameters<typeof fetch>,
): Promise<Response> {
  const request = plainRequest(...args);
  if (request === null) return otherwise(...args);
  const answer = await askOutside(outside, request);
  return plainResponse(request, answer) ?? answered.run({ answer }, () => otherwise(...args));
}

export const watchHttp: Watcher = {
  name: "http",
  async open(outside) {
    watchPackages([
      undiciPackage(outside, (request) => askOutside(outside, request)),
      nodemailerPackage,
      stripePackage,
      smithyPackage,
    ]);
    watchParsing();
    const interceptor = await loadInterceptors();
    interceptor.on("request", async ({ request, controller }) => {
      try {
        const answer =
          takeAnswer() ??
          (await askOutside(outside, {
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
        return fetchPlainly(outside, intercepted, args).finally(end);
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
  },
  begin(world) {
    const recorded: Fixture[] = [];
    const answers = new Map<string, Fixture>();
    const given = (request: ModelRequest) => world.given(request) ?? answers.get(questionOf(request)) ?? null;
    const mine = new DestinationModel({ ...world, given, hostOf: knownHost });
    model = mine;
    const fields = new AbsentFields(world.events);
    absent = fields;
    watchAbsent(fields);
    const isGiven = (request: ModelRequest) => world.given(request) !== null;
    recording = world.recordFrom.length === 0 ? null : { hosts: world.recordFrom, isGiven, recorded, answers };
    return {
      things: () => mine.things(),
      madeIds: mine.madeIds,
      // The run itself needs the tokens it was answered; whatever comes after it is told what is kept.
      recorded: () => recorded.map((each) => withoutSecrets(each, secretsOf(environment()))),
      absent: () => fields.found(),
    };
  },
};

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
