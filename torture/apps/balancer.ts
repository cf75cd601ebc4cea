// A load balancer as people have one before their nodes: each request goes to the next node, no matter who asks. One that refuses the
// connection is passed over; a request sent to a node that then dies is answered with 502, and never sent again.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export class Balancer {
  private next = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly ports: () => readonly number[],
  ) {}

  /** `ports`: of the nodes that there are, up or down. */
  static async open(ports: () => readonly number[]): Promise<Balancer> {
    const server = createServer();
    const balancer = new Balancer(server, ports);
    server.on("request", (incoming, response) => void balancer.pass(incoming, response));
    server.on("upgrade", (incoming, socket, head) => void balancer.upgrade(incoming, socket as Socket, head));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return balancer;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts WebSockets, as a router that lost its tables does; says how many. */
  cut(choose: <T>(list: readonly T[]) => readonly T[]): number {
    const chosen = choose([...this.sockets]);
    for (const socket of chosen) socket.destroy();
    return chosen.length;
  }

  async close(): Promise<void> {
    this.cut((sockets) => sockets);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  /** A line to the next node that takes one. */
  private async reach(): Promise<Socket | null> {
    const ports = this.ports();
    const first = this.next++;
    for (let tries = 0; tries < ports.length; tries++) {
      const socket = connect(ports[(first + tries) % ports.length]!, "127.0.0.1");
      socket.setNoDelay(true);
      try {
        await once(socket, "connect");
        return socket;
      } catch {
        socket.destroy();
      }
    }
    return null;
  }

  private async pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: Buffer[] = [];
    const isStreamed = incoming.headers["content-length"] === undefined && incoming.method !== "GET";
    const line = await this.reach();
    if (line === null) return refuse(response);
    const outgoing = request({
      createConnection: () => line,
      method: incoming.method!,
      path: incoming.url!,
      headers: { ...incoming.headers, connection: "close" },
    });
    outgoing.on("error", () => refuse(response));
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
      answer.on("aborted", () => response.destroy());
    });
    response.on("close", () => line.destroy());
    if (isStreamed) incoming.pipe(outgoing);
    else {
      incoming.on("data", (chunk) => body.push(chunk));
      incoming.on("end", () => outgoing.end(Buffer.concat(body)));
    }
  }

  private async upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on("error", () => {});
    const line = await this.reach();
    if (line === null) return void socket.end("HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n");
    line.on("error", () => {});
    const headers = incoming.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [`${name}: ${all[i + 1]}`] : []));
    line.write(`GET ${incoming.url} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    line.write(head);
    line.pipe(socket);
    socket.pipe(line);
    this.sockets.add(socket);
    socket.on("close", () => {
      this.sockets.delete(socket);
      line.destroy();
    });
    line.on("close", () => socket.destroy());
  }
}

function refuse(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(502).end("nobody answered");
}
