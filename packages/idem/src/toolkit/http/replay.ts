// A recorded response, replayed: the same status and the same bytes, never through the app's serialiser or its error handler.
import type { StoredResponse } from "../keys/key-store.ts";
import { problemResponse } from "./problems.ts";
import { headersToReplay } from "./replay-headers.ts";

export interface ReplayFacts {
  readonly completedAt: number;
  /** Until when the outcome is remembered. */
  readonly endsAt: number;
}

export function replayResponse(stored: StoredResponse, { completedAt, endsAt }: ReplayFacts): Response {
  // Not a status a response can have: the row is broken, and what it stood for has happened.
  if (!Number.isInteger(stored.status) || stored.status < 200 || stored.status > 599) {
    return problemResponse("response-gone", { extra: { completed_at: new Date(completedAt).toISOString() } });
  }
  const headers = new Headers(headersToReplay(stored.headers));
  headers.set("idempotent-replayed", "true");
  headers.set("idempotency-status", "replayed");
  headers.set("idempotency-original-date", new Date(completedAt).toUTCString());
  headers.set("idempotency-expires", new Date(endsAt).toUTCString());
  const body = isBodiless(stored.status) || stored.body === null ? null : new Uint8Array(stored.body);
  return new Response(body, { status: stored.status, headers });
}

/** Statuses whose responses have no body (Fetch, "null body status"). */
export const isBodiless = (status: number): boolean => status === 204 || status === 205 || status === 304;
