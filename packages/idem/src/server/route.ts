// A route: a method, a path, who may call it, how large a body it takes, and what it does. The router, the OpenAPI
// document and the fuzz test read the same table (server/routes.ts).
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ZodType } from "zod";
import type { Actor } from "./people/actor.ts";
import type { World } from "./world.ts";

/**
 * `event-key`: the key in the path. `signing-key`: a bearer token. `operator`: people and tools. `sign-in`: to become one
 * of them, guarded against other sites' pages in the same way. In dev all are open.
 */
export type Access = "open" | "event-key" | "signing-key" | "operator" | "sign-in";

export interface RouteRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Bounded and decompressed; empty for routes that stream. */
  readonly body: Buffer;
  /** Given to routes that stream: the body as it arrives, bounded and decompressed on the way; throws once it is too large. */
  readonly stream?: AsyncIterable<Uint8Array>;
  /** The environment the caller's credential belongs to; in dev `x-inngest-env`, else "default". */
  readonly env: string;
  /** The caller, where people and tools ask. */
  readonly actor: Actor;
  /** The address at the other end of the line; a proxy's where there is one. */
  readonly address: string;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  /** The body as JSON, depth bounded; throws BODY_INVALID. */
  json(): unknown;
}

export interface RouteAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain value is sent as JSON; bytes, text and streams as they are, with the content type given in headers. */
  readonly body: { readonly json: unknown } | string | Uint8Array | AsyncIterable<string | Uint8Array> | null;
}

/** An /api route's description for /api/openapi.json; the same schemas read the input. */
export interface RouteAbout {
  readonly summary: string;
  readonly tag: string;
  readonly query?: ZodType;
  readonly body?: ZodType;
  readonly answer: ZodType;
}

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Segments with a colon are parameters: "/v1/runs/:runId". */
  readonly path: string;
  readonly access: Access;
  /** Null for routes that take no body. */
  readonly bodyBytesMax: number | null;
  /** The body is handed over as it arrives instead of being read beforehand: what is published live must not wait for its end. */
  readonly streams?: boolean;
  /** Answers only when something happens (a long poll): it waits apart from those who want an answer now. */
  readonly waits?: boolean;
  /** Answered however many others are under way, and counted apart: how those who look after the server learn of it. */
  readonly isVital?: true;
  /** Content types taken, besides none at all; JSON by default; `["*"]` for any. */
  readonly contentTypes?: readonly string[];
  /** `wire` errors are `{ error, status, code }`, as SDKs read them; `problem` errors are RFC 9457. */
  readonly errors: "wire" | "problem";
  /** A viewer may call it although it changes something: their own session. */
  readonly viewerMay?: true;
  readonly about?: RouteAbout;
  handle(request: RouteRequest, world: World): Promise<RouteAnswer> | RouteAnswer;
}

/** A path on which a connection is upgraded to a WebSocket. */
export interface SocketRoute {
  readonly path: string;
  readonly access: Access;
  /** An error it throws is answered, and the line is closed. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, env: string, world: World): void | Promise<void>;
  /** The server stops: says goodbye to its sockets. Those still open after the grace are cut. */
  close?(world: World): Promise<void>;
}

export const json = (value: unknown, status = 200): RouteAnswer => ({ status, body: { json: value } });
