// Stands in for a service of somebody else that a run asks for something.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface StandIn {
  readonly origin: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

/** `answer` says status, headers and body; the nth request is told its n, from 1. */
export async function standIn(
  answer: (asked: Asked, n: number) => { status: number; headers?: Record<string, string>; body: string },
): Promise<StandIn> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    asked.push({ method: method!, path: url!, headers, body });
    const said = answer(asked.at(-1)!, asked.length);
    response.writeHead(said.status, said.headers).end(said.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
