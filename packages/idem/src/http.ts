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

export type { Reconciled } from "./execute/attempt-effect.ts";
export type { FetchHandler } from "./sdk/request-address.ts";
export type { Held } from "./toolkit/claim/decide-claim.ts";
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
export { type Idempotency, type IdempotencyKeyOptions, idempotency } from "./toolkit/http/idempotency.ts";
export { createKey, type IdempotentInit, idempotentFetch } from "./toolkit/http/idempotent-fetch.ts";
export type { BodySeal } from "./toolkit/http/key-outcome.ts";
export { type Completed, type Completer, type CompleterOptions, completer } from "./toolkit/http/modes/completer.ts";
export { type KeyReaderOptions, keyReader } from "./toolkit/http/modes/key-reader.ts";
export type { KeyReader, ModeOptions } from "./toolkit/http/modes/mode-route.ts";
export { type KeyReaderWithStore, type PhasedOptions, phased } from "./toolkit/http/modes/phased.ts";
export {
  type AnyPhases,
  type PhaseContext,
  type PhaseEffectContext,
  type Phases,
  phases,
  type Repeat,
} from "./toolkit/http/modes/phases.ts";
export type { InputOf } from "./toolkit/http/modes/read-input.ts";
export { type Answer, Final, type RespondOptions, respond } from "./toolkit/http/modes/respond.ts";
export { type RunBackedOptions, runBacked } from "./toolkit/http/modes/run-backed.ts";
export {
  type Prepared,
  preparedTransaction,
  type SyncTransactionBody,
  sameTransaction,
  sameTransactionSync,
  type TransactionBody,
  type TransactionContext,
  type TransactionModeOptions,
  within,
} from "./toolkit/http/modes/same-transaction.ts";
export type { Within, WithinKey } from "./toolkit/http/modes/within.ts";
export { type ProblemFacts, type ProblemKind, problemResponse } from "./toolkit/http/problems.ts";
export { ANONYMOUS_SHARED, type ScopeOf } from "./toolkit/http/read-request.ts";
export { engineKeys } from "./toolkit/keys/engine-keys.ts";
export type {
  Fingerprint,
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
