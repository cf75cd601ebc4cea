// `fetch` as nearly everybody calls it (an address, a method, headers, a text), answered without the library that sees all other requests leave: of what a world
// takes, its `Request`s, clones and streams are a tenth.
import type { ModelAnswer, ModelRequest } from "../destination-model.ts";
import { RealHeaders, RealResponse } from "./real.ts";

const usual = new Set(["method", "headers", "body"]);
const special = new Set(["CONNECT", "TRACE", "TRACK"]);

/** Null for what is asked in any other way, and for what `fetch` refuses. */
export function plainRequest(input: unknown, init: unknown = {}): ModelRequest | null {
  const isAddress = typeof input === "string" ? URL.canParse(input) : input instanceof URL;
  if (!isAddress || typeof init !== "object" || init === null) return null;
  if (Object.keys(init).some((name) => !usual.has(name))) return null;
  const { method = "GET", headers = {}, body = null } = init as Readonly<Record<string, unknown>>;
  const url = new URL(input as string | URL);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
  if (typeof method !== "string" || !/^[A-Za-z]+$/.test(method) || special.has(method.toUpperCase())) return null;
  const isRead = /^(GET|HEAD)$/i.test(method);
  const sent = textOf(body);
  if (sent === null || (isRead && body !== null)) return null;
  try {
    const all = simpleHeaders(headers) ?? Object.fromEntries(new RealHeaders(headers as Record<string, string>));
    if (sent.type !== null) all["content-type"] ??= sent.type;
    return { method: method.toUpperCase(), url, headers: all, body: sent.text };
  } catch {
    return null;
  }
}

/** Of a record of texts, each name once; null for any other. */
function simpleHeaders(headers: unknown): Record<string, string> | null {
  if (Object.getPrototypeOf(headers) !== Object.prototype) return null;
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers as object) as [string, unknown][]) {
    const key = name.toLowerCase();
    if (key in all || !/^[\w-]+$/.test(name) || typeof value !== "string" || !/^[\x20-\x7e]*$/.test(value)) return null;
    all[key] = value.trim();
  }
  return all;
}

function textOf(body: unknown): { readonly text: string; readonly type: string | null } | null {
  if (body === null) return { text: "", type: null };
  if (body instanceof URLSearchParams)
    return { text: body.toString(), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  // On its way through bytes a text loses the mark at its beginning, and halves of characters.
  if (typeof body !== "string" || body.startsWith("\ufeff") || /\p{Surrogate}/u.test(body)) return null;
  return { text: body, type: "text/plain;charset=UTF-8" };
}

/** Null where `fetch` itself has to go on from it: to another address, or unpacking. */
export function plainResponse({ method, url }: ModelRequest, answer: ModelAnswer): Response | null {
  const { status, headers, body } = answer;
  const isPacked = Object.keys(headers).some((name) => name.toLowerCase() === "content-encoding");
  if (isPacked || status < 200 || status > 599 || (status >= 300 && status <= 399 && status !== 304)) return null;
  const response = new RealResponse(hasBody(method, status) ? body : null, { status, headers: { ...headers } });
  addressed(response, url);
  return response;
}

export const hasBody = (method: string, status: number): boolean =>
  status !== 204 && status !== 205 && status !== 304 && method !== "HEAD";

/** The constructor of `Response` takes no address. */
function addressed(response: Response, url: URL): void {
  const inner = Object.getOwnPropertySymbols(response).find(({ description }) => description === "state");
  const state = inner === undefined ? undefined : (Reflect.get(response, inner) as { urlList?: URL[] } | undefined);
  if (state?.urlList === undefined)
    Object.defineProperty(response, "url", { configurable: true, value: url.href.replace(/#.*$/, "") });
  else state.urlList.push(url);
}
