// A wire between two processes, held by the test: everything passes through it, is written down, and can be disturbed.
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** The same as text. */
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Where they are not what the text says: workers that connect speak in protobuf. */
  readonly bytes?: Buffer;
}

/** Before the exchange: an answer instead of the real one, or "cut" for a connection that breaks. After it: another answer. */
export interface Disturbance {
  before?(exchange: Exchange): Reply | "cut" | null;
  after?(exchange: Exchange, reply: Reply): Reply | "cut" | null;
}

export class Wire {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });
  private readonly server = createServer((incoming, outgoing) => void this.carry(incoming, outgoing));
  private readonly listeners = new Set<(exchange: Exchange, reply: Reply) => void>();
  private readonly sockets = new Set<Socket>();
  private disturbances: Disturbance[] = [];
  /** Where a path leads; null while nobody is there. */
  route: (path: string) => string | null = () => null;
  /** What the other side is asked for instead. */
  rewrite: (path: string) => string = (path) => path;

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async open(): Promise<this> {
    this.server.keepAliveTimeout = 60_000;
    this.server.on("upgrade", (incoming, socket: Socket, head) => this.carrySocket(incoming, socket, head));
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async close(): Promise<void> {
    this.agent.destroy();
    for (const socket of this.sockets) socket.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Called for whatever was answered by the other side. */
  watch(listener: (exchange: Exchange, reply: Reply) => void): void {
    this.listeners.add(listener);
  }

  /** Until the returned function is called. */
  disturb(disturbance: Disturbance): () => void {
    this.disturbances.push(disturbance);
    return () => {
      this.disturbances = this.disturbances.filter((each) => each !== disturbance);
    };
  }

  private async carry(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const url = new URL(incoming.url!, "http://wire");
      const bytes = await bytesOf(incoming);
      const exchange: Exchange = {
        method: incoming.method!,
        path: url.pathname,
        query: url.searchParams,
        headers: flat(incoming.headers),
        bytes,
        body: bytes.toString("utf8"),
      };
      const reply = await this.replyTo(exchange, incoming.url!);
      if (reply === "cut") return void outgoing.destroy();
      outgoing.writeHead(reply.status, reply.headers).end(reply.bytes ?? reply.body);
    } catch {
      // Either side broke off; the other is to see it as that.
      outgoing.destroy();
    }
  }

  /** Byte by byte, in both directions. */
  private carrySocket({ url, rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
    const target = this.route(url!);
    if (target === null) return void socket.destroy();
    const far = connect(Number(new URL(target).port), "127.0.0.1", () => {
      const lines = rawHeaders.flatMap((each, i) => (i % 2 === 0 ? [`${each}: ${rawHeaders[i + 1]}`] : []));
      far.write(`GET ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      far.write(head);
      far.pipe(socket).pipe(far);
    });
    for (const [each, other] of [
      [far, socket],
      [socket, far],
    ] as const) {
      this.sockets.add(each);
      each.on("error", () => {});
      each.once("close", () => {
        this.sockets.delete(each);
        other.destroy();
      });
    }
  }

  private async replyTo(exchange: Exchange, path: string): Promise<Reply | "cut"> {
    for (const { before } of this.disturbances) {
      const instead = before?.(exchange) ?? null;
      if (instead !== null) return instead;
    }
    const target = this.route(exchange.path);
    if (target === null) return "cut";
    let reply = await this.ask(exchange, new URL(this.rewrite(path), target));
    for (const listener of this.listeners) listener(exchange, reply);
    for (const { after } of this.disturbances) {
      const instead = after?.(exchange, reply) ?? null;
      if (instead === "cut") return "cut";
      reply = instead ?? reply;
    }
    return reply;
  }

  private ask({ method, headers, bytes: sent }: Exchange, url: URL): Promise<Reply> {
    const { "transfer-encoding": _, connection: __, ...kept } = headers;
    return new Promise((resolve, reject) => {
      // The host stays the wire's own: apps register under the address they were asked at.
      const asked = request(url, { method, headers: kept, agent: this.agent }, (answer) => {
        bytesOf(answer).then((bytes) => {
          const { "transfer-encoding": _, connection: __, ...answered } = flat(answer.headers);
          const length = String(bytes.length);
          resolve({
            status: answer.statusCode!,
            headers: { ...answered, "content-length": length },
            body: bytes.toString("utf8"),
            bytes,
          });
        }, reject);
      });
      asked.once("error", reject);
      asked.end(sent);
    });
  }
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const flat = (headers: IncomingMessage["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
