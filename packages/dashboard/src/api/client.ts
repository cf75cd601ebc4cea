// The one way to ask the server: under the mount path, for the environment the address names, with the token that protects a
// signed-in person's session. A refusal arrives as an ApiError in the words of the server's problem document.
import { pathWith } from "../../../idem/src/protocol/api-path.ts";
import type { Answer, Asked, PathParams, Query, ReadPath, RouteName } from "../../../idem/src/server/api/api-table.ts";
import { addressOf } from "../base-path.ts";

export type { Answer, Body, Query } from "../../../idem/src/server/api/api-table.ts";

/** `detail` says what happened, `next` what to do, `code` is what docs/errors.md lists. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly next: string | null,
  ) {
    super(detail);
    this.name = "ApiError";
  }
}

interface Sent {
  readonly method?: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** JSON text. */
  readonly text?: string;
  readonly signal?: AbortSignal | undefined;
}

/** The environment rides along in the address unless it is the default one. */
export const envNow = (): string => new URLSearchParams(location.search).get("env") ?? "default";

/** The token a signed-in person's requests show when they change something; set from /api/session. */
let csrf: string | null = null;
export function setCsrf(token: string | null): void {
  csrf = token;
}

const signedOut = new Set<() => void>();
/** Called when the server no longer knows who asks; returns how to stop listening. */
export function onSignedOut(listener: () => void): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}

/** An address that a browser opens by itself: a download, a stream. */
export function urlOf(path: string, query: Readonly<Record<string, unknown>> = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== "") given.set(name, `${value}`);
  const env = envNow();
  if (env !== "default") given.set("env", env);
  const search = given.toString();
  return addressOf(path) + (search === "" ? "" : `?${search}`);
}

// Longer than any honest answer; the store itself gives up after 5 s.
const patienceMs = 20_000;

async function send(path: string, sent: Sent): Promise<Response> {
  const { method = "GET", query, text = null, signal } = sent;
  const headers: Record<string, string> = { accept: "application/json, application/problem+json" };
  if (text !== null) headers["content-type"] = "application/json";
  const shown = csrf;
  if (method !== "GET" && shown !== null) headers["x-idem-csrf"] = shown;
  const patience = AbortSignal.timeout(patienceMs);
  let answer: Response;
  try {
    answer = await fetch(urlOf(path, query), {
      method,
      headers,
      credentials: "same-origin",
      body: text,
      signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const why = patience.aborted ? `it did not answer within ${patienceMs / 1000} s` : "it could not be reached";
    throw new ApiError(
      0,
      "UNREACHABLE",
      `The server gave no answer: ${why}`,
      "See whether it runs; runs go on without this page",
    );
  }
  if (answer.ok) return answer;
  const refused = await refusalOf(answer);
  // The session is another one since this page asked for it: signed in anew in another tab. Nothing was done yet.
  if (refused.code === "CSRF_REFUSED" && (await learnCsrf()) && csrf !== shown) return send(path, sent);
  if (refused.status === 401) for (const each of signedOut) each();
  throw refused;
}

async function learnCsrf(): Promise<boolean> {
  const answer = await fetch(addressOf("api/session"), { credentials: "same-origin" });
  if (!answer.ok) return false;
  csrf = ((await answer.json()) as Answer<"GET /api/session">).csrf;
  return csrf !== null;
}

async function refusalOf(answer: Response): Promise<ApiError> {
  try {
    const problem = (await answer.json()) as { code?: string; detail?: string; next?: string; error?: string };
    const detail = problem.detail ?? problem.error ?? answer.statusText;
    return new ApiError(answer.status, problem.code ?? `HTTP_${answer.status}`, detail, problem.next ?? null);
  } catch {
    // A proxy in between speaks HTML; its status is all it has to say.
    return new ApiError(
      answer.status,
      `HTTP_${answer.status}`,
      `Something before the server answered ${answer.status}`,
      null,
    );
  }
}

interface AskedLoosely {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Asks a route of the server's table; what may be asked and what comes is what the route says. */
export async function ask<E extends RouteName>(
  route: E,
  asked: Asked<E> & { readonly signal?: AbortSignal | undefined },
): Promise<Answer<E>> {
  const [method, path] = route.split(" ") as [string, string];
  const { params, query, body, signal }: AskedLoosely = asked;
  const text = method === "GET" ? {} : { text: JSON.stringify(body ?? {}) };
  return (await (await send(pathWith(path, params), { method, query, signal, ...text })).json()) as Answer<E>;
}

/** The address of something that is read by itself. */
export const pathOf = <P extends ReadPath>(path: P, params: PathParams<P>): string => pathWith(path, params);

/** The address a browser saves a list from. */
export const downloadOf = <P extends ReadPath>(path: P, params: PathParams<P>, query: Query<`GET ${P}`>): string =>
  urlOf(pathWith(path, params), query);

/** Stored text as it is: numbers in it are never read and written again. */
export const getText = async (path: string, signal?: AbortSignal): Promise<string> =>
  (await send(path, { signal })).text();

/** The first characters of something large; the rest is not waited for. */
export async function getBeginning(path: string, bytes: number, signal?: AbortSignal): Promise<string> {
  const answer = await send(path, { signal });
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  while (read < bytes) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, bytes - read), { stream: true });
    read += value.byteLength;
  }
  await reader.cancel();
  return text;
}

/** Sends JSON text as it was typed. The server reads it as JavaScript does: a whole number above 2^53 is rounded there, so send it as a string. */
export const sendEvents = async (text: string): Promise<Answer<"POST /api/events">> =>
  (await send("/api/events", { method: "POST", text })).json() as Promise<Answer<"POST /api/events">>;
