// Idempotency-Key around a request handler of SvelteKit (`+server.ts`). Errors of `error(…)` and `redirect(…)` are answers there, kept as such.
import type { KeyContext, RouteOptions } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { fetchDoor } from "./fetch-door.ts";

/** The part of a `RequestEvent` that is used. */
export interface SvelteKitEvent {
  readonly request: Request;
  /** Throws where the adapter does not know. */
  getClientAddress(): string;
}

export type KeyedSvelteKitHandler<E> = (event: E, key: KeyContext) => Response | Promise<Response>;

export function svelteKitDoor<E extends SvelteKitEvent>(
  keys: Idempotency,
  route: RouteOptions,
  handle: KeyedSvelteKitHandler<E>,
): (event: E) => Promise<Response> {
  const visit = fetchDoor(keys, route, answerOf);
  return (event) => visit({ request: event.request, native: event, handle: (key) => handle(event, key) });
}

interface Thrown {
  readonly status: number;
  readonly location?: unknown;
  readonly body?: unknown;
}

/** By their shape: the classes are SvelteKit's, which is not loaded here. Neither is an `Error`. */
function answerOf(error: unknown): Response | null {
  if (typeof error !== "object" || error === null || error instanceof Error) return null;
  const { status, location, body } = error as Thrown;
  if (!Number.isInteger(status) || status < 300 || status > 599) return null;
  if (typeof location === "string") return new Response(null, { status, headers: { location } });
  return typeof body === "object" && body !== null && "message" in body ? Response.json(body, { status }) : null;
}
