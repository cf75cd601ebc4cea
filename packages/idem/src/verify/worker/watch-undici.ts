// The package `undici`: everything it sends, by whichever of its dispatchers, passes `dispatch`.
import type { ModelAnswer, ModelRequest } from "../destination-model.ts";
import { fromHere } from "./caller.ts";
import type { WatchedPackage } from "./watch-packages.ts";
import type { Outside } from "./watcher.ts";

interface Dispatched {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
  /** The protocol that the connection is to go on with. */
  readonly upgrade?: unknown;
}

/** Receives the parts of an answer: in the way of undici 7, or of versions before. */
interface Handler {
  onRequestStart?(controller: object, context: unknown): void;
  onResponseStart?(controller: object, status: number, headers: object, message: string): void;
  onResponseData?(controller: object, chunk: Buffer): void;
  onResponseEnd?(controller: object, trailers: object): void;
  onResponseError?(controller: object, error: unknown): void;
  onConnect?(abort: (reason?: unknown) => void, context: unknown): void;
  onHeaders?(status: number, headers: Buffer[], resume: () => void, message: string): void;
  onData?(chunk: Buffer): void;
  onComplete?(trailers: Buffer[]): void;
  onError?(error: unknown): void;
  onResponseStarted?(): void;
}

type Ask = (request: ModelRequest) => Promise<ModelAnswer>;

function headersOf(headers: unknown): Record<string, string> {
  const found: Record<string, string> = {};
  const put = (name: unknown, value: unknown) => {
    if (value !== undefined && value !== null) found[String(name).toLowerCase()] = String(value);
  };
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    for (let i = 0; i < headers.length; i += 2) put(headers[i], headers[i + 1]);
  } else if (typeof headers === "object" && headers !== null) {
    const all = Symbol.iterator in headers ? (headers as Iterable<[unknown, unknown]>) : Object.entries(headers);
    for (const [name, value] of all) put(name, value);
  }
  return found;
}

async function textOf(body: unknown): Promise<string> {
  if (body === null || body === undefined) return "";
  if (typeof body === "string") return body;
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (typeof body === "object" && (Symbol.asyncIterator in body || Symbol.iterator in body) && !("getAll" in body)) {
    const pieces: Buffer[] = [];
    for await (const piece of body as AsyncIterable<string | Uint8Array>) pieces.push(Buffer.from(piece as string));
    return Buffer.concat(pieces).toString();
  }
  return new Response(body as FormData).text();
}

async function carry(ask: Ask, asked: Dispatched, origin: string, handler: Handler): Promise<void> {
  let stopped: { readonly reason: unknown } | null = null;
  const abort = (reason?: unknown): void => {
    stopped = { reason: reason ?? new Error("aborted") };
  };
  const controller = { abort, pause() {}, resume() {}, aborted: false, paused: false, reason: null };
  const isNew = typeof handler.onRequestStart === "function";
  try {
    if (isNew) handler.onRequestStart!(controller, {});
    else handler.onConnect?.(abort, {});
    // The path of a tunnel is another host.
    const url = asked.method === "CONNECT" ? new URL(origin) : new URL(asked.path, origin);
    for (const [name, value] of Object.entries(asked.query ?? {})) url.searchParams.set(name, String(value));
    const body = await textOf(asked.body);
    const upgrade = typeof asked.upgrade === "string" ? { upgrade: asked.upgrade } : {};
    const headers = { ...headersOf(asked.headers), ...upgrade };
    const answer = await ask({ method: asked.method.toUpperCase(), url, headers, body });
    if (stopped !== null) throw (stopped as { readonly reason: unknown }).reason;
    const bytes = Buffer.from(answer.body);
    const hasBody = asked.method !== "HEAD" && answer.status !== 204 && answer.status !== 304;
    if (isNew) {
      handler.onResponseStart?.(controller, answer.status, { ...answer.headers }, "");
      if (hasBody) handler.onResponseData?.(controller, bytes);
      handler.onResponseEnd?.(controller, {});
    } else {
      const raw = Object.entries(answer.headers).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]);
      handler.onResponseStarted?.();
      handler.onHeaders?.(answer.status, raw, () => {}, "");
      if (hasBody) handler.onData?.(bytes);
      handler.onComplete?.([]);
    }
  } catch (error) {
    if (isNew) handler.onResponseError?.(controller, error);
    else handler.onError?.(error);
  }
}

export const undiciPackage = (outside: Outside, ask: Ask): WatchedPackage => ({
  file: /[\\/]undici[\\/]index\.js$/,
  take: (undici: { readonly Agent?: { readonly prototype: object } }) => {
    watchBase(undici.Agent?.prototype ?? null, outside, ask);
    // Node's own one may have been there first, and is then everybody's default.
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (symbol.description?.startsWith("undici.globalDispatcher") !== true) continue;
      const agent = Reflect.get(globalThis, symbol) as object | undefined;
      watchBase(agent === undefined ? null : (Object.getPrototypeOf(agent) as object), outside, ask);
    }
  },
});

const watched = new WeakSet<object>();

/** Agent, Client, Pool and the others have this base in common. */
function watchBase(agent: object | null, outside: Outside, ask: Ask): void {
  const base = Object.getPrototypeOf(agent ?? {}) as { dispatch?: (...args: [Dispatched, Handler]) => boolean };
  const { dispatch } = base;
  if (typeof dispatch !== "function" || watched.has(base)) return;
  watched.add(base);
  base.dispatch = function (this: object, asked: Dispatched, handler: Handler) {
    const origin = asked.origin ?? urlIn(this);
    if (!outside.isWatched() || origin === null) return dispatch.call(this, asked, handler);
    return fromHere(() => {
      const end = outside.begin();
      void carry(ask, asked, String(origin), handler).finally(end);
      return true;
    });
  };
}

/** A Client or Pool is for one origin, and keeps it under a symbol of its own. */
function urlIn(dispatcher: object): unknown {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === "url");
  return symbol === undefined ? null : (Reflect.get(dispatcher, symbol) as unknown);
}
