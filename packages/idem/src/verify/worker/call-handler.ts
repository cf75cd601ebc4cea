// A handler of the user's, called as a server would call it: with a Request, with Node's request and response, or with nothing.
import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import type { HandlerPlace, SentCall } from "../calls/call-script.ts";

export type Handler =
  | { readonly kind: "fetch"; readonly call: (request: Request) => unknown }
  | { readonly kind: "node"; readonly call: RequestListener }
  | { readonly kind: "plain"; readonly call: () => unknown };

export interface Answered {
  /** 0 for a value that is no response; null where it threw. */
  readonly status: number | null;
  readonly isParked: boolean;
  /** A value that says "not yet": somebody else is at it. */
  readonly isUnsettled: boolean;
  readonly retryAfterMs: number;
  readonly error: string | null;
}

type Known = Readonly<Record<string, unknown>>;

/** The module's export of this name; throws in words for the author of the test. */
export function handlerIn(exported: object, name: string, style: HandlerPlace["style"]): Handler {
  const all = exported as Known;
  // Of a CommonJS file, the default is all of it.
  const found = all[name] ?? (all.default as Known | undefined)?.[name];
  if (found === undefined) throw new Error(`the module exports no "${name}"`);
  const { fetch, handle } = found as { fetch?: unknown; handle?: unknown };
  if (typeof found !== "function") {
    if (typeof fetch === "function")
      return { kind: "fetch", call: (request) => (fetch as (asked: Request) => unknown).call(found, request) };
    throw new Error(`"${name}" is no handler: neither a function nor an object with fetch`);
  }
  const call = found as (...args: unknown[]) => unknown;
  if (style === "plain") return { kind: "plain", call: () => call() };
  // An Express application is a function with routes of its own.
  const isNode = style === "node" || (style === null && typeof handle === "function");
  return isNode ? { kind: "node", call: call as RequestListener } : { kind: "fetch", call: (request) => call(request) };
}

export async function callHandler(handler: Handler, sent: SentCall, headers: [string, string][]): Promise<Answered> {
  try {
    if (handler.kind === "plain") return answeredBy(await handler.call());
    if (handler.kind === "node") return answeredBy(await callNode(handler.call, sent, headers));
    const { method, url, body } = sent;
    return answeredBy(await handler.call(new Request(url, { method, headers, body })));
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { status: null, isParked: false, isUnsettled: false, retryAfterMs: 0, error: `it threw ${why}` };
  }
}

async function answeredBy(value: unknown): Promise<Answered> {
  if (!(value instanceof Response)) {
    const { kind } = (value ?? {}) as { kind?: unknown };
    const isUnsettled = kind === "in-flight" || kind === "lost";
    return { status: 0, isParked: kind === "parked", isUnsettled, retryAfterMs: 0, error: null };
  }
  const told = problemIn(await value.text());
  const isParked = value.status >= 400 && (told.retryable === false ? told.isUnknown : told.isParked);
  const retryAfterMs = Number(value.headers.get("retry-after") ?? "0") * 1_000 || 0;
  return { status: value.status, isParked, isUnsettled: false, retryAfterMs, error: null };
}

/** Reads a problem of the toolkit. */
function problemIn(text: string): { retryable: unknown; isUnknown: boolean; isParked: boolean } {
  try {
    const { type = "", code = "", retryable } = JSON.parse(text) as Known;
    return {
      retryable,
      isUnknown: String(type).endsWith("outcome-unknown"),
      isParked: /PARKED/.test(String(code)) || /parked$/i.test(String(type)),
    };
  } catch {
    return { retryable: undefined, isUnknown: false, isParked: false };
  }
}

/** Node's own objects over a connection that leads nowhere. */
function callNode(
  listener: RequestListener,
  { method, url, body }: SentCall,
  headers: readonly (readonly [string, string])[],
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const written: Buffer[] = [];
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer, _, done) {
        written.push(chunk);
        done();
      },
    });
    Object.assign(socket, { remoteAddress: "127.0.0.1", encrypted: true, setTimeout() {}, setKeepAlive() {} });
    const request = new IncomingMessage(socket as never);
    const { pathname, search, host } = new URL(url);
    request.method = method;
    request.url = `${pathname}${search}`;
    const all = [["host", host] as const, ...headers];
    if (body !== null) all.push(["content-length", String(Buffer.byteLength(body))]);
    for (const [name, value] of all) {
      request.rawHeaders.push(name, value);
      request.headers[name.toLowerCase()] = value;
    }
    request.complete = true;
    if (body !== null) request.push(body);
    request.push(null);
    const response = new ServerResponse(request);
    response.useChunkedEncodingByDefault = false;
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.on("finish", () => {
      const text = Buffer.concat(written).toString();
      const pairs = Object.entries(response.getHeaders()).map(([n, v]): [string, string] => [n, String(v)]);
      const shown = text.slice(text.indexOf("\r\n\r\n") + 4);
      const isBare = response.statusCode === 204 || response.statusCode === 304;
      resolve(new Response(isBare ? null : shown, { status: response.statusCode, headers: pairs }));
    });
    const next = (error?: unknown): void =>
      reject(error ?? new Error("nobody answered: the last handler called next()"));
    // An application answers by itself what nobody handles, where a server calls it.
    const isApplication = typeof (listener as { handle?: unknown }).handle === "function";
    const made = (listener as (...args: unknown[]) => unknown)(request, response, ...(isApplication ? [] : [next]));
    if (made instanceof Promise) made.catch(reject);
  });
}
