// The server's ears: Node's HTTP server around the route table. About 5,000 small requests a second pass here, so nothing
// is made per request that its route does not ask for. Its promise, whatever is sent: an answer or a closed line, a
// bounded number of requests, bodies and sockets at once, and no word of the inside in an answer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { errors, IdemError } from "../model/errors.ts";
import { Turns } from "../model/turns.ts";
import type { Timer } from "../platform/platform.ts";
import { statusOf } from "../protocol/problem.ts";
import { admitCaller } from "./admit-caller.ts";
import { type NodeRequest, splitTarget } from "./answer-request.ts";
import { AwaitedBodies } from "./awaited-bodies.ts";
import { BrowserGuard } from "./browser-guard.ts";
import { Entrance, StrangerTurns } from "./entrance.ts";
import { IncomingRequest, type Traffic, unexpected } from "./incoming-request.ts";
import { type ServerLimits, serverLimits } from "./limits.ts";
import { Lines } from "./lines.ts";
import type { Route, SocketRoute } from "./route.ts";
import { Router, routerOf } from "./router.ts";
import type { World } from "./world.ts";

export interface ListenOptions {
  readonly world: World;
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  readonly limits?: Partial<ServerLimits>;
}

/** Under way now, and refused since the start. */
export interface ListenerLoad {
  readonly requestsInFlight: number;
  readonly waitingRequests: number;
  /** Announced and not here yet; their requests are not among those in flight. */
  readonly bodiesAwaited: number;
  /** Connections, whatever is on them. */
  readonly lines: number;
  readonly sockets: number;
  readonly bodyBytesHeld: number;
  readonly refusedBusy: number;
  /** Lines cut because too many others came while nothing was heard on them. */
  readonly cutSilent: number;
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

class NodeListener implements Listener {
  private readonly world: World;
  private readonly limits: ServerLimits;
  private readonly traffic: Traffic;
  private readonly strangers: StrangerTurns;
  private readonly socketRouter: Router<SocketRoute>;
  private readonly server: Server;
  private readonly upgraded = new Set<Duplex>();
  private readonly upgradedByPath = new Map<string, number>();
  private flushing = 0;
  private onQuiet: (() => void) | null = null;
  private look: Timer | null = null;

  constructor(private readonly options: ListenOptions) {
    const { world, routes, sockets } = options;
    this.world = world;
    this.limits = { ...serverLimits, ...options.limits };
    const soon = (run: () => void) => world.platform.soon(run);
    const entrance = world.entrance ?? new Entrance(() => world.platform.monoMs(), this.limits.giveWayMs);
    this.strangers = new StrangerTurns({
      entrance,
      soon,
      perTurn: this.limits.strangersPerTurn,
      perTurnWhileOpening: this.limits.strangersPerTurnWhileOpening,
    });
    this.traffic = {
      world,
      router: routerOf(routes),
      guard: new BrowserGuard(world.settings),
      limits: this.limits,
      lines: new Lines(this.limits),
      bodies: new AwaitedBodies(this.limits),
      reading: new Turns(soon, entrance.givingWay()),
      inFlight: 0,
      strangers: 0,
      vital: 0,
      waiting: 0,
      waitingStrangers: 0,
      waiters: new Map(),
      refusedBusy: 0,
      isStopping: false,
    };
    this.socketRouter = new Router(sockets, () => "GET");
    this.server = createServer({
      maxHeaderSize: this.limits.headerBytes,
      headersTimeout: this.limits.headersMs,
      requestTimeout: this.limits.requestMs,
      keepAliveTimeout: this.limits.keepAliveMs,
      connectionsCheckingInterval: this.limits.lookMs,
    });
    this.server.timeout = this.limits.silentMs;
    this.server.on("connection", (socket) => {
      entrance.lineOpened();
      this.traffic.lines.open(socket);
    });
    this.server.on("request", (incoming, response) => this.take(incoming, response, null));
    this.server.on("checkContinue", (incoming, response) => {
      this.take(incoming, response, () => response.writeContinue());
    });
    this.server.on("upgrade", (incoming, socket, head) => {
      socket.on("error", ignore);
      this.traffic.lines.begin(socket);
      this.strangers.enter(() => {
        this.upgrade(incoming, socket, head);
        if (this.isQuiet) this.onQuiet?.();
      });
    });
    this.server.on("clientError", answerGarbage);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get load(): ListenerLoad {
    const { inFlight, vital, waiting, waitingStrangers, lines, bodies, refusedBusy } = this.traffic;
    return {
      requestsInFlight: inFlight + vital,
      waitingRequests: waiting + waitingStrangers,
      bodiesAwaited: bodies.size,
      lines: lines.size,
      sockets: this.upgraded.size,
      bodyBytesHeld: bodies.bytesHeld,
      refusedBusy,
      cutSilent: lines.cutCount + bodies.cutCount,
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
      this.server.listen({ host, port, backlog: this.limits.backlog }, () => {
        this.server.off("error", refuse);
        // Too many open files, say: those who are connected are served on.
        this.server.on("error", (error) => this.world.logger.error("idem: the server's socket failed", error));
        resolve();
      });
    });
    this.lookForSlow();
  }

  // ------------------------------------------------------------------------------------------------ requests

  private take(incoming: IncomingMessage, response: ServerResponse, invite: (() => void) | null): void {
    const { lines } = this.traffic;
    lines.begin(incoming.socket);
    if (lines.hasShown(incoming.socket)) void this.serve(incoming, response, invite);
    else this.strangers.enter(() => void this.serve(incoming, response, invite));
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse, invite: (() => void) | null): Promise<void> {
    const { socket } = incoming;
    // A caller who left while waiting costs nothing more.
    if (!socket.destroyed) await new IncomingRequest(incoming, response, this.traffic, invite).serve();
    if (socket.writableLength > 0 && !response.closed) await this.flushed(response);
    this.traffic.lines.end(socket);
    if (this.isQuiet) this.onQuiet?.();
  }

  /** A large answer goes out at its reader's pace, after its request is done. */
  private async flushed(response: ServerResponse): Promise<void> {
    this.flushing++;
    await new Promise<void>((resolve) => response.once("close", resolve));
    this.flushing--;
  }

  private get isQuiet(): boolean {
    const { inFlight, vital, waiting, waitingStrangers, bodies } = this.traffic;
    return (
      inFlight + vital === 0 &&
      waiting + waitingStrangers === 0 &&
      bodies.size === 0 &&
      this.flushing === 0 &&
      this.strangers.size === 0
    );
  }

  /** A sender of a body drop by drop is cut off. One timer for all: a timer per request costs more than the request. */
  private lookForSlow(): void {
    const { platform } = this.world;
    this.look = platform.timer(
      this.limits.lookMs,
      () => {
        this.traffic.bodies.cutSlow(platform.monoMs());
        if (!this.traffic.isStopping) this.lookForSlow();
      },
      { background: true },
    );
  }

  // ------------------------------------------------------------------------------------------------ sockets

  private upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (socket.destroyed) return;
    const headers = incoming.headers as NodeRequest["headers"];
    const refuse = (error: unknown): void =>
      refuseSocket(socket, error instanceof IdemError ? error : unexpected(error, incoming, null, this.world));
    try {
      if (this.traffic.isStopping) throw errors.SERVER_BUSY({ why: "it is stopping" });
      if (headers.upgrade?.toLowerCase() !== "websocket") {
        throw errors.REQUEST_INVALID({ why: "it asks for another protocol than websocket" });
      }
      this.traffic.guard.checkHost(headers);
      const { path, search } = splitTarget(incoming.url!);
      const match = this.socketRouter.match(path);
      const route = match?.routes.get("GET");
      if (route === undefined) throw errors.ROUTE_UNKNOWN({ method: "WebSocket", path: path.slice(0, 200) });
      this.traffic.guard.checkSocket(headers);
      const caller = { params: {}, headers, query: new URLSearchParams(search) };
      const env = admitCaller(route.access, caller, this.world.credentials);
      this.countSocket(route, socket);
      route.upgrade(incoming, socket, head, env, this.world)?.catch(refuse);
    } catch (error) {
      refuse(error);
    }
  }

  private countSocket({ path }: SocketRoute, socket: Duplex): void {
    const ofPath = this.upgradedByPath.get(path) ?? 0;
    if (ofPath >= this.limits.sockets) throw errors.SERVER_BUSY({ why: "too many are connected" });
    this.upgradedByPath.set(path, ofPath + 1);
    this.upgraded.add(socket);
    socket.once("close", () => {
      this.upgraded.delete(socket);
      this.upgradedByPath.set(path, this.upgradedByPath.get(path)! - 1);
    });
  }

  // ------------------------------------------------------------------------------------------------ stopping

  async close(graceMs: number): Promise<void> {
    if (this.traffic.isStopping) return;
    this.traffic.isStopping = true;
    const { platform } = this.world;
    this.look?.cancel();
    // Node's own close cuts answers that are still on their way out; the one beneath it only stops accepting.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.server, () => resolve()));
    const goodbyes = this.options.sockets.map((route) => route.close?.(this.world));
    const quiet = new Promise<void>((resolve) => {
      this.onQuiet = resolve;
      if (this.isQuiet) resolve();
    });
    let grace: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      grace = platform.timer(graceMs, resolve);
    });
    await Promise.race([Promise.allSettled([quiet, ...goodbyes]), late]);
    (grace as Timer | null)?.cancel();
    for (const socket of this.upgraded) socket.destroy();
    this.server.closeAllConnections();
    await closed;
    // Stops looking for slow connections; there is nothing else left for it to do.
    this.server.close();
  }
}

const ignore = (): void => {};

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

/** Bytes that are no HTTP, too slow or have too large headers never became a request. */
function answerGarbage(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Closed by the caller, in the middle of a header as well: nobody is left to answer.
  if (error.code === "ECONNRESET" || error.code === "HPE_INVALID_EOF_STATE" || !socket.writable) {
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
