// One small API behind every door, as each framework's users write it, on a port of its own. The query says what it does.
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type HttpBindings, type ServerType, serve as serveHttp } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { cors as honoCors } from "hono/cors";
import { afterAll, onTestFinished } from "vitest";
import { idempotent as onBun } from "../../../bun.ts";
import { idempotentErrors, idempotent as onExpress } from "../../../express.ts";
import { idempotent as onFastify } from "../../../fastify.ts";
import { idempotent as onHono } from "../../../hono.ts";
import { type LambdaEvent, type LambdaResult, idempotent as onLambda } from "../../../lambda.ts";
import { idempotent as onNext } from "../../../next.ts";
import { idempotent as onNode } from "../../../node.ts";
import { listening } from "../../../serve/listening.suite.ts";
import { idempotent as onSvelteKit } from "../../../sveltekit.ts";
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";

export type Deed =
  | "json"
  | "no-content"
  | "empty"
  | "binary"
  | "written"
  | "piped"
  | "file"
  | "large"
  | "cookie"
  | "throw"
  | "throw-before"
  | "break";

/** The executions of the handler, and a place to hold it. */
export interface Shop {
  readonly executed: { readonly deed: string; readonly body: string; readonly attempt: number | undefined }[];
  /** Called in the middle of every execution. */
  during(): Promise<void> | void;
}

export interface Door {
  readonly name: string;
  /** Its framework hands out a request whose lines are joined already. */
  readonly joinsLines?: true;
  /** Answers the address of the route. */
  open(keys: Idempotency, route: RouteOptions, shop: Shop): Promise<string>;
}

export const binary = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
export const largeBytes = 5 * 1024 * 1024;
export const large = Buffer.alloc(largeBytes, "0123456789abcdef");

const filePath = join(tmpdir(), `idem-doors-${process.pid}.txt`);
const path = "/charges";

/** Those that are asked over every database. */
export const databaseDoors: readonly Door[] = [
  {
    name: "node",
    open: async (keys, route, shop) => {
      const listener = onNode(keys, route, async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        const deed = deedOf(request.url!);
        await execute(shop, deed, body, request.idempotency);
        await answerNode(response, deed);
      });
      const server = createServer((request, response) => {
        cors(request.headers.origin, (name, value) => response.setHeader(name, value));
        void listener(request, response);
      });
      return (await listening(server)) + path;
    },
  },
  {
    name: "express",
    open: async (keys, route, shop) => {
      const app = express();
      // Errors are part of what is tested, not of what is printed.
      app.set("env", "test");
      app.use((request, response, next) => {
        cors(request.headers.origin, (name, value) => response.setHeader(name, value));
        next();
      });
      app.post(path, onExpress(keys, route), express.json(), async (request, response) => {
        const deed = deedOf(request.originalUrl);
        await execute(shop, deed, textOf(request.body), request.idempotency);
        switch (deed) {
          case "json":
            return void response.status(201).set("location", "/charges/1").json({ id: shop.executed.length });
          case "file":
            return response.sendFile(filePath);
          case "cookie":
            return void response.cookie("session", "secret").json({ id: 1 });
          case "binary":
            return void response.type("application/octet-stream").send(binary);
          default:
            return answerNode(response, deed);
        }
      });
      app.use(idempotentErrors);
      return (await listening(createServer(app))) + path;
    },
  },
  {
    name: "fastify",
    open: async (keys, route, shop) => {
      const app = fastify({ forceCloseConnections: true });
      app.addHook("onRequest", async (request, reply) => {
        cors(request.headers.origin, (name, value) => reply.header(name, value));
      });
      app.post<{ Body: unknown }>(path, { ...onFastify(keys, route) }, async (request, reply) => {
        const deed = deedOf(request.url);
        await execute(shop, deed, textOf(request.body), request.idempotency);
        switch (deed) {
          case "json":
            return reply.code(201).header("location", "/charges/1").send({ id: shop.executed.length });
          case "no-content":
            return reply.code(204).send();
          case "empty":
            return reply.type("text/plain").send("");
          case "binary":
            return reply.type("application/octet-stream").send(binary);
          case "cookie":
            return reply.header("set-cookie", "session=secret").send({ id: 1 });
          case "piped":
            return reply.type("text/plain").send(Readable.from(["one ", "two ", "three"]));
          case "large":
            return reply.type("application/octet-stream").send(Readable.from(chunksOf(large)));
          case "break":
            return reply.type("text/plain").send(broken());
          default:
            // Past Fastify: what is written to the raw response is captured all the same.
            reply.hijack();
            await answerNode(reply.raw, deed);
        }
      });
      onTestFinished(() => app.close());
      return (await app.listen({ port: 0, host: "127.0.0.1" })) + path;
    },
  },
  {
    name: "hono",
    open: async (keys, route, shop) => {
      const app = new Hono<{ Bindings: HttpBindings }>();
      app.use(honoCors({ origin: (origin) => origin }));
      app.onError((_error, c) => c.text("failed", 500));
      app.post(path, onHono(keys, route), async (c) => {
        const deed = deedOf(c.req.url);
        await execute(shop, deed, await c.req.text(), c.get("idempotency"));
        return answerFetch(deed, shop);
      });
      return listenFetch(app.fetch as never);
    },
  },
  {
    name: "next",
    joinsLines: true,
    open: async (keys, route, shop) => {
      const POST = onNext(keys, route, async (request, { idempotency }) => {
        const deed = deedOf(request.url);
        await execute(shop, deed, await request.text(), idempotency);
        return answerFetch(deed, shop);
      });
      return listenFetch(withCors((request) => POST(request, { params: Promise.resolve({}) })));
    },
  },
];

/** Those that stand on the same way in as one of the above; they are asked over keys in memory. */
export const thinDoors: readonly Door[] = [
  {
    name: "sveltekit",
    joinsLines: true,
    open: async (keys, route, shop) => {
      const POST = onSvelteKit(keys, route, async ({ request }, key) => {
        const deed = deedOf(request.url);
        await execute(shop, deed, await request.text(), key);
        return answerFetch(deed, shop);
      });
      return listenFetch(withCors((request) => POST({ request, getClientAddress: () => "127.0.0.1" })));
    },
  },
  {
    name: "bun",
    joinsLines: true,
    open: async (keys, route, shop) => {
      const POST = onBun(keys, route, async (request, key) => {
        const deed = deedOf(request.url);
        await execute(shop, deed, await request.text(), key);
        return answerFetch(deed, shop);
      });
      return listenFetch(withCors(POST));
    },
  },
  {
    name: "lambda",
    open: async (keys, route, shop) => {
      const handler = onLambda(keys, route, async (event, { idempotency }) => {
        const { deed = "json" } = event.queryStringParameters as { deed?: Deed };
        const body = Buffer.from(event.body!, "base64").toString();
        await execute(shop, deed, body, idempotency);
        const answer = answerFetch(deed, shop);
        const bytes = Buffer.from(await answer.arrayBuffer());
        const headers = Object.fromEntries(answer.headers);
        return { statusCode: answer.status, headers, body: bytes.toString("base64"), isBase64Encoded: true };
      });
      return (await listening(createServer(loadBalancer(handler)))) + path;
    },
  },
];

const withCors =
  (handle: (request: Request) => Promise<Response>) =>
  async (request: Request): Promise<Response> => {
    const response = await handle(request);
    const headers = new Headers(response.headers);
    cors(request.headers.get("origin"), (name, value) => headers.set(name, value));
    return new Response(response.body, { status: response.status, headers });
  };

/** A load balancer of AWS with multi-value headers, in front of one function. */
const loadBalancer =
  (handler: (event: LambdaEvent, context: object) => Promise<LambdaResult>): RequestListener =>
  async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    const multiValueHeaders: Record<string, string[]> = {};
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const name = request.rawHeaders[at]!.toLowerCase();
      multiValueHeaders[name] = [...(multiValueHeaders[name] ?? []), request.rawHeaders[at + 1]!];
    }
    const event = {
      requestContext: { elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/f/1" } },
      httpMethod: request.method!,
      path: pathname,
      queryStringParameters: Object.fromEntries(searchParams),
      multiValueHeaders,
      body: Buffer.concat(chunks).toString("base64"),
      isBase64Encoded: true,
    };
    const result = await handler(event, {}).catch(() => null);
    if (result === null) return void response.writeHead(502).end();
    for (const [name, values] of Object.entries(result.multiValueHeaders!)) response.setHeader(name, values);
    cors(request.headers.origin, (name, value) => response.setHeader(name, value));
    response.writeHead(result.statusCode);
    response.end(Buffer.from(result.body, result.isBase64Encoded ? "base64" : "utf8"));
  };

export const deedOf = (url: string): Deed =>
  (new URL(url, "http://localhost").searchParams.get("deed") ?? "json") as Deed;

export const textOf = (body: unknown): string => (body === undefined ? "" : JSON.stringify(body));

export function cors(origin: string | null | undefined, set: (name: string, value: string) => void): void {
  if (typeof origin === "string") set("access-control-allow-origin", origin);
}

export async function execute(shop: Shop, deed: Deed, body: string, context: KeyContext | undefined): Promise<void> {
  if (deed === "throw-before") {
    await context!.beforeEffects(() => {
      throw new Error("no connection");
    });
  }
  shop.executed.push({ deed, body, attempt: context?.attempt });
  await shop.during();
  if (deed === "throw") throw new Error("the receipt could not be printed");
}

export async function answerNode(response: ServerResponse, deed: Deed): Promise<void> {
  switch (deed) {
    case "no-content":
      response.writeHead(204).end();
      return;
    case "empty":
      response.writeHead(200, "OK", { "content-type": "text/plain" }).end();
      return;
    case "binary":
      response.setHeader("content-type", "application/octet-stream");
      response.end(binary);
      return;
    case "cookie":
      response.writeHead(200, ["content-type", "application/json", "set-cookie", "session=secret"]);
      response.end('{"id":1}');
      return;
    case "written":
      response.setHeader("content-type", "text/plain");
      response.write("one ");
      await new Promise((resolve) => response.write("two ", resolve));
      response.write("746872656565", "hex");
      response.end();
      return;
    case "file":
    case "piped":
      response.setHeader("content-type", "text/plain");
      return pipeline(Readable.from(["one ", "two ", "three"]), response);
    case "large":
      response.setHeader("content-type", "application/octet-stream");
      return pipeline(Readable.from(chunksOf(large)), response);
    case "break":
      return pipeline(broken(), response).catch(() => {});
    default:
      response.writeHead(201, { "content-type": "application/json", location: "/charges/1" });
      response.end('{"id":1}');
  }
}

function answerFetch(deed: Deed, shop: Shop): Response {
  const text = { "content-type": "text/plain" };
  switch (deed) {
    case "no-content":
      return new Response(null, { status: 204 });
    case "empty":
      return new Response("", { headers: text });
    case "binary":
      return new Response(binary, { headers: { "content-type": "application/octet-stream" } });
    case "cookie":
      return Response.json({ id: 1 }, { headers: { "set-cookie": "session=secret" } });
    case "written":
    case "file":
    case "piped":
      return new Response(
        Readable.toWeb(Readable.from(["one ", "two ", "three"].map((part) => Buffer.from(part)))) as never,
        {
          headers: text,
        },
      );
    case "large":
      return new Response(Readable.toWeb(Readable.from(chunksOf(large))) as never);
    case "break":
      return new Response(Readable.toWeb(broken()) as never, { headers: text });
    default:
      return Response.json({ id: shop.executed.length }, { status: 201, headers: { location: "/charges/1" } });
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

const broken = (): Readable =>
  Readable.from(
    (function* () {
      yield Buffer.from("one ");
      throw new Error("the source broke off");
    })(),
  );

/** To be called once by a file that uses the doors. */
export function prepareFile(): void {
  writeFileSync(filePath, "one two three");
  afterAll(() => rmSync(filePath, { force: true }));
}

export function listenFetch(fetch: (request: Request) => Response | Promise<Response>): Promise<string> {
  return new Promise((resolve) => {
    const server: ServerType = serveHttp({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}${path}`),
    );
    onTestFinished(() => {
      (server as { closeAllConnections?: () => void }).closeAllConnections?.();
      server.close();
    });
  });
}
