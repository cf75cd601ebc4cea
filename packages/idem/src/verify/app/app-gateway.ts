// Stands between a world's server and its app. Calls to the app, and what the app says to its server, pass here, where a world may lose them and end the app
// around them.
import http, { type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Passing {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Passed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Null breaks the connection. */
export type Pass = (request: Passing) => Promise<Passed | null>;

/** Of one connection only: they are about the next one, not this message. */
const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "host", "expect"]);

export class Gateway {
  private constructor(private readonly server: Server) {}

  static async open(pass: Pass): Promise<Gateway> {
    const server = http.createServer((request, response) => {
      void take(request, response, pass).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    server.unref();
    return new Gateway(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

async function take(request: IncomingMessage, response: ServerResponse, pass: Pass): Promise<void> {
  const body = await bytesOf(request);
  const { method = "GET", url = "/" } = request;
  const passed = await pass({ method, path: url, headers: headersOf(request), body });
  if (passed === null) {
    request.socket.destroy();
    return;
  }
  response.writeHead(passed.status, { ...passed.headers, "content-length": passed.body.length });
  response.end(passed.body);
}

/** Sends it on; rejects where no answer comes. */
export function sendOn(
  origin: string,
  { method, path, headers, body }: Passing,
  signal?: AbortSignal,
): Promise<Passed> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const options = {
      host: hostname,
      port,
      method,
      path,
      agent: false,
      headers: { ...headers, "content-length": body.length },
      ...(signal === undefined ? {} : { signal }),
    };
    const request = http.request(options, (response) => {
      bytesOf(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: bytes }),
        reject,
      );
    });
    request.once("error", reject);
    request.end(body);
  });
}

// More than any call or report of an SDK has.
const bytesMax = 64 * 1024 * 1024;

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of message) {
    length += (piece as Buffer).length;
    if (length > bytesMax) throw new Error(`a body of more than ${bytesMax} bytes`);
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.has(name) ? [] : [[name, String(value)]],
    ),
  );
}
