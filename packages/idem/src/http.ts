/**
 * Idempotency-Key for an HTTP API, over Fetch: a retry gets the first answer, and the handler runs once. A profile of the IETF draft -07.
 *
 * ```ts
 * const keys = idempotency({ keys: sqlKeys(pgAdapter(pool)), principal: (request) => accountOf(request) });
 * export const POST = keys.handler({ onCrash: "park" }, async (request, { destinationKey }) => {
 *   return Response.json(await pay(await request.json(), destinationKey("stripe")), { status: 201 });
 * });
 * ```
 */
export type {
  Begun,
  Captured,
  ExternalBodies,
  FingerprintOptions,
  Finished,
  KeyContext,
  KeyEvent,
  KeyedRequest,
  ReadRequest,
  RebuildOptions,
  RouteOptions,
  Ticket,
  Verdict,
} from "./toolkit/http/begin.ts";
export type { FetchHandle } from "./toolkit/http/fetch-handler.ts";
export { type Idempotency, type IdempotencyOptions, idempotency } from "./toolkit/http/idempotency.ts";
export type { BodySeal } from "./toolkit/http/key-outcome.ts";
export { type ProblemFacts, type ProblemKind, problemResponse } from "./toolkit/http/problems.ts";
export { ANONYMOUS_SHARED, type ScopeOf } from "./toolkit/http/read-request.ts";
export type {
  Fingerprint,
  Held,
  KeyAbout,
  KeyAnswer,
  KeyAsk,
  KeyHolder,
  KeyOutcome,
  KeyRecord,
  KeyStore,
  KeyWork,
  OnCrash,
  Point,
  Resolution,
  Resolved,
  StoredResponse,
} from "./toolkit/keys/key-store.ts";
export { memoryKeys } from "./toolkit/keys/memory-keys.ts";
export { type SqlKeysOptions, sqlKeys } from "./toolkit/keys/sql-keys.ts";
