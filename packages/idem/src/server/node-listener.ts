// The server's ears: Node's HTTP server around the route table. About 5,000 small requests a second pass here, so nothing
// is made per request that its route does not ask for. What it promises whatever is sent: an answer or a closed line, a
// bounded number of requests, bodies and sockets at once, and no word of the inside in an answer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { errors, IdemError } from "../model/errors.ts";
import type { Timer } from "../platform/platform.ts";
import { statusOf } from "../protocol/problem.ts";
import { admitCaller } from "./admit-caller.ts";
import { answerRequest, errorAnswer, findRoute, NodeRequest, splitTarget } from "./answer-request.ts";
import { BrowserGuard } from "./browser-guard.ts";
import { type ServerLimits, serverLimits } from "./limits.ts";
import { BodyBudget, BodyShare, CallerGone } from "./read-body.ts";
import type { Route, RouteAnswer, SocketRoute } from "./route.ts";
import { Router, routerOf } from "./router.ts";
import { isStream, sendPlain, sendStream } from "./send-answer.ts";
import type { World } from "./world.ts";

export interface ListenOptions {
  readonly world: World;
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  readonly limits?: Partial<ServerLimits>;
}

/** What is under way, and what was refused since the start. */
export interface ListenerLoad {
  readonly requestsInFlight: number;
  readonly waitingRequests: number;
  readonly sockets: number;
  readonly bodyBytesHeld: number;
  readonly refusedBusy: number;
}

export interface Listener {
  readonly port: number;
  readonly load: ListenerLoad;
  /** Stops accepting, finishes what is under way, then cuts what is left when the grace is over. */
  close(graceMs: number): Promise<void>;
}

export async function listen(options: ListenOptions): Promise<Listener> {
  const listener = new NodeListener(options);
  await listener.open();
  return listener;
}

interface Reading {
  readonly since: number;
  readonly incoming: IncomingMessage;
}

class NodeListener implements Listener {
  private readonly world: World;
  private readonly limits: ServerLimits;
  private readonly router: Router<Route>;
  private readonly socketRouter: Router<SocketRoute>;
  private readonly guard: BrowserGuard;
  private readonly budget: BodyBudget;
  private readonly server: Server;
  private readonly upgraded = new Set<Duplex>();
  /** Bodies being read, oldest first. */
  private readonly reading = new Set<Reading>();
  private inFlight = 0;
  private waiting = 0;
  private refusedBusy = 0;
  private stopping = false;
  private onQuiet: (() => void) | null = null;
  private look: Timer | null = null;

  constructor(private readonly options: ListenOptions) {
    const { world, routes, sockets } = options;
    this.world = world;
    this.limits = { ...serverLimits, ...options.limits };
    this.router = routerOf(routes);
    this.socketRouter = new Router(sockets, () => "GET");
    this.guard = new BrowserGuard(world.settings);
    this.budget = new BodyBudget(this.limits.bodyBytesHeld);
    this.server = createServer({
      maxHeaderSize: this.limits.headerBytes,
      headersTimeout: this.limits.headersMs,
      requestTimeout: this.limits.requestMs,
      keepAliveTimeout: this.limits.keepAliveMs,
      connectionsCheckingInterval: this.limits.lookMs,
    });
    this.server.maxConnections = this.limits.connections;
    this.server.timeout = this.limits.silentMs;
    this.server.on("request", (request, response) => void this.take(request, response, null));
    this.server.on("checkContinue", (request, response) => {
      void this.take(request, response, () => response.writeContinue());
    });
    this.server.on("upgrade", (request, socket, head) => this.upgrade(request, socket, head));
    this.server.on("clientError", answerGarbage);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get load(): ListenerLoad {
    return {
      requestsInFlight: this.inFlight,
      waitingRequests: this.waiting,
      sockets: this.upgraded.size,
      bodyBytesHeld: this.budget.held,
      refusedBusy: this.refusedBusy,
    };
  }

  async open(): Promise<void> {
    const { host, port } = this.world.settings;
    await new Promise<void>((resolve, reject) => {
      const refuse = (error: NodeJS.ErrnoException) =>
        reject(
          error.code === "EADDRINUSE"
            ? errors.PORT_TAKEN({ host, port }, { cause: error })
            : errors.LISTEN_FAILED({ host, port, why: error.message }, { cause: error }),
        );
      this.server.once("error", refuse);
      this.server.listen({ host, port, backlog: 1024 }, () => {
        this.server.off("error", refuse);
        // Too many open files, say: those who are connected are served on.
        this.server.on("error", (error) => this.world.logger.error("idem: the server's socket failed", error));
        resolve();
      });
    });
    this.lookForSlow();
  }

  // ------------------------------------------------------------------------------------------------ requests

  private async take(incoming: IncomingMessage, response: ServerResponse, invite: (() => void) | null): Promise<void> {
    // Without a listener an error on a line that was cut would end the process.
    response.on("error", ignore);
    const share = new BodyShare(this.budget);
    let route: Route | null = null;
    let request: NodeRequest | null = null;
    let extra: Record<string, string> | null = null;
    let isWaiting = false;
    let reading: Reading | null = null;
    let invited = false;
    this.inFlight++;
    try {
      const method = incoming.method!;
      const { path, search } = splitTarget(incoming.url!);
      if (this.stopping) throw errors.SERVER_BUSY({ why: "it is stopping" });
      if (this.inFlight > this.limits.requestsInFlight) throw errors.SERVER_BUSY({ why: "too many are under way" });
      this.guard.checkHost(incoming.headers as NodeRequest["headers"]);
      const found = findRoute(this.router, method, path);
      route = found.route;
      extra = this.pageHeaders(route, incoming);
      if ("allowed" in found) {
        sendPlain(response, { status: 204, body: null }, null, {
          ...extra,
          allow: found.allowed,
          ...preflight(incoming, found.allowed, extra !== null),
        });
        return;
      }
      if (route.waits === true) {
        if (this.waiting >= this.limits.waitingRequests) throw errors.SERVER_BUSY({ why: "too many wait" });
        isWaiting = true;
        this.inFlight--;
        this.waiting++;
        incoming.socket.setTimeout(this.limits.silentWaitingMs);
      }
      if (route.streams !== true) {
        reading = { since: this.world.platform.monoMs(), incoming };
        this.reading.add(reading);
        incoming.once("end", () => this.reading.delete(reading!));
      }
      request = new NodeRequest(incoming, method, path, search, found.params);
      const answer = await answerRequest(route, request, incoming, {
        world: this.world,
        guard: this.guard,
        share,
        invite: () => {
          invited = true;
          invite?.();
        },
      });
      if (isStream(answer.body)) {
        if (!isWaiting) {
          isWaiting = true;
          this.inFlight--;
          this.waiting++;
          incoming.socket.setTimeout(this.limits.silentWaitingMs);
        }
        await sendStream(response, answer, answer.body, extra);
      } else {
        this.send(incoming, response, answer, answer.body, extra, invite === null || invited);
      }
    } catch (error) {
      this.fail(error, incoming, response, route, extra, invite === null || invited);
    } finally {
      if (reading !== null) this.reading.delete(reading);
      request?.answered();
      share.giveBack();
      if (isWaiting) this.waiting--;
      else this.inFlight--;
      if (this.stopping && this.inFlight === 0 && this.waiting === 0) this.onQuiet?.();
    }
  }

  private send(
    incoming: IncomingMessage,
    response: ServerResponse,
    answer: RouteAnswer,
    body: Exclude<RouteAnswer["body"], AsyncIterable<string | Uint8Array>>,
    extra: Readonly<Record<string, string>> | null,
    wasInvited: boolean,
  ): void {
    if (response.destroyed || response.headersSent) return;
    // A caller that still waits to be invited sends nothing now; what it sends next would be taken for its body.
    if (this.stopping || !wasInvited) response.setHeader("connection", "close");
    sendPlain(response, answer, body, extra);
    if (!incoming.complete) this.linger(incoming);
  }

  /** Throws away what still comes, so that the answer is read, but not for long. */
  private linger(incoming: IncomingMessage): void {
    incoming.resume();
    const cut = this.world.platform.timer(this.limits.lingerMs, () => incoming.socket.destroy(), { background: true });
    const stop = () => cut.cancel();
    incoming.once("end", stop);
    incoming.once("close", stop);
  }

  private fail(
    error: unknown,
    incoming: IncomingMessage,
    response: ServerResponse,
    route: Route | null,
    extra: Readonly<Record<string, string>> | null,
    wasInvited: boolean,
  ): void {
    if (error instanceof CallerGone || response.destroyed) return;
    const known = error instanceof IdemError ? error : this.unexpected(error, incoming, route);
    if (response.headersSent) {
      // A stream failed half-way: ending it properly would tell its reader that it has everything.
      response.destroy();
      return;
    }
    if (statusOf(known.code) === 503) this.refusedBusy++;
    const shape = route?.errors ?? (/^\/(api|docs)\b/.test(incoming.url!) ? "problem" : "wire");
    const answer = errorAnswer(known, shape, route?.access === "event-key");
    this.send(incoming, response, answer, answer.body as { json: unknown }, extra, wasInvited);
  }

  /** The caller learns an id, the log learns the rest. Paths are not logged: they carry event keys. */
  private unexpected(error: unknown, incoming: IncomingMessage, route: Route | null): IdemError {
    const id = Buffer.from(this.world.platform.randomBytes(6)).toString("hex");
    this.world.logger.error(`idem: request ${id} (${incoming.method} ${route?.path ?? "unknown route"}) failed`, error);
    return errors.SERVER_FAILED({ id });
  }

  private pageHeaders(route: Route, incoming: IncomingMessage): Record<string, string> | null {
    const origin = this.guard.readableBy(route.access, incoming.headers as NodeRequest["headers"]);
    return origin === null ? null : { "access-control-allow-origin": origin, vary: "origin" };
  }

  /** Whoever sends a body drop by drop is cut off. One timer for all: a timer per request costs more than the request. */
  private lookForSlow(): void {
    const { platform } = this.world;
    this.look = platform.timer(
      this.limits.lookMs,
      () => {
        const since = platform.monoMs() - this.limits.bodyMs;
        for (const reading of this.reading) {
          if (reading.since > since) break;
          this.reading.delete(reading);
          if (!reading.incoming.complete) reading.incoming.socket.destroy();
        }
        if (!this.stopping) this.lookForSlow();
      },
      { background: true },
    );
  }

  // ------------------------------------------------------------------------------------------------ sockets

  private upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", ignore);
    const headers = incoming.headers as NodeRequest["headers"];
    try {
      if (this.stopping) throw errors.SERVER_BUSY({ why: "it is stopping" });
      if (this.upgraded.size >= this.limits.sockets) throw errors.SERVER_BUSY({ why: "too many are connected" });
      if (headers.upgrade?.toLowerCase() !== "websocket") {
        throw errors.REQUEST_INVALID({ why: "it asks for another protocol than websocket" });
      }
      this.guard.checkHost(headers);
      const { path, search } = splitTarget(incoming.url!);
      const match = this.socketRouter.match(path);
      const route = match?.routes.get("GET");
      if (route === undefined) throw errors.ROUTE_UNKNOWN({ method: "WebSocket", path: path.slice(0, 200) });
      this.guard.checkSocket(headers);
      const caller = { params: {}, headers, query: new URLSearchParams(search) };
      const env = admitCaller(route.access, caller, this.world.credentials);
      this.upgraded.add(socket);
      socket.once("close", () => this.upgraded.delete(socket));
      route.upgrade(incoming, socket, head, env, this.world);
    } catch (error) {
      const known = error instanceof IdemError ? error : this.unexpected(error, incoming, null);
      refuseSocket(socket, known);
    }
  }

  // ------------------------------------------------------------------------------------------------ stopping

  async close(graceMs: number): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    const { platform } = this.world;
    this.look?.cancel();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    const goodbyes = this.options.sockets.map((route) => route.close?.(this.world));
    const quiet = new Promise<void>((resolve) => {
      this.onQuiet = resolve;
      if (this.inFlight === 0 && this.waiting === 0) resolve();
    });
    let grace: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      grace = platform.timer(graceMs, resolve);
    });
    await Promise.race([Promise.allSettled([quiet, ...goodbyes]), late]);
    (grace as Timer | null)?.cancel();
    for (const socket of this.upgraded) socket.destroy();
    // What was answered is on its way out; a line that is still open is idle or too slow.
    await new Promise<void>((resolve) => platform.soon(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

const ignore = (): void => {};

/** What a browser asks before it lets a page send something that is not a plain form. */
function preflight(incoming: IncomingMessage, allowed: string, isReadable: boolean): Record<string, string> {
  if (!isReadable) return {};
  const wanted = String(incoming.headers["access-control-request-headers"] ?? "");
  return {
    "access-control-allow-methods": allowed,
    ...(/^[\w, -]{1,500}$/.test(wanted) ? { "access-control-allow-headers": wanted } : {}),
    "access-control-max-age": "600",
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

function writeRefusal(socket: Duplex, status: number, document: unknown): void {
  const body = JSON.stringify(document);
  const lines = [
    `HTTP/1.1 ${status} ${reasons[status] ?? "Refused"}`,
    "connection: close",
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(status === 503 ? ["retry-after: 1"] : []),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function refuseSocket(socket: Duplex, error: IdemError): void {
  const status = statusOf(error.code);
  writeRefusal(socket, status, { error: error.message, status, code: error.code });
}

/** What is no HTTP, too slow or has too large headers never became a request. */
function answerGarbage(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, why] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [431, "its headers are too large"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "it took too long to arrive"]
        : [400, "it is not HTTP/1.1"];
  const { message, code } = errors.REQUEST_INVALID({ why: why as string });
  writeRefusal(socket, status as number, { error: message, status, code });
}
