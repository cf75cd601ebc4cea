// For tests: the real listener around routes of a test, and callers who send what no client would.
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { onTestFinished } from "vitest";
import type { Engine } from "../engine/engine.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { openCredentials } from "./credentials.ts";
import type { ServerLimits } from "./limits.ts";
import { type Listener, listen } from "./node-listener.ts";
import { People } from "./people/people.ts";
import { json, type Route, type SocketRoute } from "./route.ts";
import type { ServerSettings, World } from "./world.ts";

export interface Opened {
  readonly origin: string;
  readonly port: number;
  readonly listener: Listener;
  readonly logged: unknown[][];
}

export const route = (given: Partial<Route> & Pick<Route, "path">): Route => ({
  method: "POST",
  access: "open",
  bodyBytesMax: 1_000,
  errors: "wire",
  handle: (request) => json({ got: request.json() }),
  ...given,
});

export async function open(
  routes: readonly Route[],
  options: {
    readonly settings?: Partial<ServerSettings>;
    readonly limits?: Partial<ServerLimits>;
    readonly sockets?: readonly SocketRoute[];
  } = {},
): Promise<Opened> {
  const settings = {
    mode: "dev",
    host: "127.0.0.1",
    port: 0,
    eventKeys: [],
    signingKeys: [],
    allowHosts: [],
    ...options.settings,
  };
  const store = new MemoryStore(nodePlatform);
  const logged: unknown[][] = [];
  const log = (...words: unknown[]) => void logged.push(words);
  const world = {
    settings,
    platform: nodePlatform,
    logger: { debug: log, info: log, warn: log, error: log },
    credentials: openCredentials(settings as ServerSettings),
    people: new People({ settings, platform: nodePlatform, engine: async () => ({ store }) as unknown as Engine }),
  } as unknown as World;
  const listener = await listen({ world, routes, sockets: options.sockets ?? [], limits: options.limits ?? {} });
  onTestFinished(() => listener.close(0));
  return { origin: `http://127.0.0.1:${listener.port}`, port: listener.port, listener, logged };
}

/** fetch refuses to send some of what must be refused. */
export async function ask(
  { port }: Opened,
  options: { method?: string; path?: string; headers?: Record<string, string | string[]>; body?: Buffer | string },
): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }> {
  const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/echo", agent: false, ...options });
  request.end(options.body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

/** Everything a line says until it is closed. */
export async function raw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

export const asJson = { "content-type": "application/json" };
