// Mode A: the key and what the handler writes are one commit. Every answer to the client was committed before; without a commit there is
// none. Nothing but this database belongs into the body: a mail sent from it is not undone with it (the outbox is the way out).

import { parseDuration } from "../../../model/duration.ts";
import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { FetchHandler } from "../../../sdk/request-address.ts";
import type { KeyAsk } from "../../keys/key-store.ts";
import type { Adapter, SqlTx, SyncAdapter } from "../../sql/adapter.ts";
import { sqlOf } from "../../sql/operation.ts";
import { AskTogether } from "../ask-together.ts";
import type { KeyedRequest, RouteOptions } from "../begin.ts";
import { problemResponse } from "../problems.ts";
import { refuseUnknownInside, routeSettings } from "../route-settings.ts";
import {
  answerInTime,
  asBody,
  asBodySync,
  closedInTime,
  closeInTime,
  openInTime,
  ownError,
  problemOf,
  untilKept,
} from "./attempt-transaction.ts";
import { KeyQueue } from "./key-queue.ts";
import { lookKey, type Told } from "./look-key.ts";
import {
  bytesOf,
  type KeyReader,
  limitsOf,
  type ModeOptions,
  modeOptions,
  refuseSeal,
  seen,
  toldResponse,
} from "./mode-route.ts";
import { type Answer, firstResponse } from "./respond.ts";
import { askOf, runWithin, runWithinSync, type Within, type WithinKey } from "./within.ts";

export interface TransactionModeOptions extends ModeOptions {
  /** The transaction is undone after this long. Default "5s". */
  readonly maxTx?: string | number;
  /** A duplicate waits this long for the first one's commit, then gets 409. Default "5s"; holds for the body's own locks, too. */
  readonly maxWait?: string | number;
}

export interface TransactionContext {
  /** From 1; more than one when the database undid an attempt in favour of another transaction. */
  readonly attempt: number;
  /** Aborts when the transaction was open for too long. */
  readonly signal: AbortSignal;
  /** The request's body; a synchronous handler cannot await its request's. */
  readonly bytes: Uint8Array;
  json<T = unknown>(): T;
}

export type TransactionBody<Tx> = (tx: Tx, request: Request, context: TransactionContext) => Answer | Promise<Answer>;
export type SyncTransactionBody<Tx> = (tx: Tx, request: Request, context: TransactionContext) => Answer;

/** An async handler's findings before it writes. */
export interface Prepared<Tx, Written> {
  /** The only part that writes. It runs in the transaction, and on a synchronous driver it must not be async. */
  readonly write: (tx: Tx) => Written;
  readonly response: Answer | ((written: Awaited<Written>) => Answer);
}

/**
 * The key and the rows of a request in one commit.
 *
 * ```ts
 * const placeOrder = sameTransaction(keys, pgAdapter(pool), {}, async (tx, request) => {
 *   const { item } = await request.json();
 *   const { rows } = await tx.query("insert into orders (item) values ($1) returning id", [item]);
 *   return respond(201, { id: rows[0].id });
 * });
 * ```
 *
 * A body that throws is undone and leaves nothing: a retry executes. With `bodies: "sync"` (better-sqlite3) an async body is refused here.
 */
export function sameTransaction<Tx>(
  reader: KeyReader,
  adapter: Adapter<Tx>,
  options: TransactionModeOptions,
  body: TransactionBody<Tx>,
): FetchHandler {
  if (isSync(adapter)) {
    refuseAsync(body, "sameTransaction");
    return sameTransactionSync(reader, adapter, options, body as SyncTransactionBody<Tx>);
  }
  return handlerOf(reader, adapter, options, async (request, toContext) => ({
    run: (tx: Tx, signal: AbortSignal) => body(tx, request, toContext(signal)),
  }));
}

/** As `sameTransaction`, for a driver that answers at once, and a body that never awaits. */
export function sameTransactionSync<Tx>(
  reader: KeyReader,
  adapter: SyncAdapter<Tx>,
  options: TransactionModeOptions,
  body: SyncTransactionBody<Tx>,
): FetchHandler {
  refuseAsync(body, "sameTransactionSync");
  return handlerOf(reader, adapter, options, async (request, toContext) => ({
    run: (tx: Tx, signal: AbortSignal) => body(tx, request, toContext(signal)),
  }));
}

/**
 * In two steps: an async handler that only reads, then a write that is one commit with the key. For SQLite, whose transactions cannot
 * await, and to keep transactions short elsewhere. Duplicates that arrive together may each prepare; one of them writes.
 *
 * ```ts
 * const placeOrder = preparedTransaction(keys, sqliteAdapter(db), {}, async (request) => {
 *   const order = await priced(await request.json());
 *   return { write: (tx) => insertOrder(tx, order), response: (id) => respond(201, { id }) };
 * });
 * ```
 */
export function preparedTransaction<Tx, Written>(
  reader: KeyReader,
  adapter: Adapter<Tx>,
  options: TransactionModeOptions,
  prepare: (request: Request, context: TransactionContext) => Promise<Prepared<Tx, Written>>,
): FetchHandler {
  return handlerOf(reader, adapter, options, async (request, toContext) => {
    const { write, response } = await prepare(request, toContext(new AbortController().signal));
    if (adapter.bodies === "sync") refuseAsync(write, "preparedTransaction");
    const answer = (written: Awaited<Written>): Answer =>
      typeof response === "function" ? response(written) : response;
    if (adapter.bodies === "sync") return { run: (tx: Tx) => answer(refuseThenable(write(tx)) as Awaited<Written>) };
    return { run: async (tx: Tx) => answer(await write(tx)) };
  });
}

/**
 * For callers who own the transaction: the key in it, then `body`, then the answer onto the key. Whatever is not `executed` ran nothing,
 * and the transaction may be ended either way.
 *
 * ```ts
 * const done = await within(adapter.wrap(tx), keyed, async () => respond(201, await createOrder(tx)));
 * ```
 */
export function within(
  tx: SqlTx,
  key: WithinKey,
  body: () => Answer | Promise<Answer>,
  options: Pick<ModeOptions, "window" | "replayHeaders" | "responseBytesMax"> & { readonly platform?: Platform } = {},
): Promise<Within> {
  const known = { window: true, replayHeaders: true, responseBytesMax: true, platform: true } as const;
  refuseUnknown<typeof options>("within", options, known);
  const limits = limitsOf(routeSettings({ ...options, onCrash: "rerun" }));
  return runWithin(tx, askOf(key, limits.windowMs, options.platform ?? nodePlatform), limits, body);
}

/** The part of an attempt inside its transaction. */
interface Work<Tx> {
  run(tx: Tx, signal: AbortSignal): Answer | Promise<Answer>;
}

type Prepare<Tx> = (request: Request, toContext: (signal: AbortSignal) => TransactionContext) => Promise<Work<Tx>>;

const defaultMax = "5s";

function handlerOf<Tx>(
  reader: KeyReader,
  adapter: Adapter<Tx>,
  options: TransactionModeOptions,
  prepare: Prepare<Tx>,
): FetchHandler {
  refuseSeal(reader, "sameTransaction");
  refuseUnknown<TransactionModeOptions>("sameTransaction", options, { ...modeOptions, maxTx: true, maxWait: true });
  refuseUnknownInside(options);
  const { platform } = reader;
  const route: RouteOptions = { ...options, maxWait: options.maxWait ?? defaultMax, onCrash: "rerun" };
  const settings = routeSettings(route);
  const limits = limitsOf(settings);
  const lockMs = settings.waitMsMax;
  const maxMs = parseDuration(options.maxTx ?? defaultMax, "maxTx");
  const sql = sqlOf(adapter.dialect);

  const queue = new KeyQueue(platform);
  // That there is no record is true for everybody; who makes one is decided by the index.
  const together = new AskTogether<Told | null>(platform, () => true);

  /** By itself, without a transaction: a replay is one round trip, and on SQLite never asks for the one writer. */
  const look = (ask: KeyAsk): Promise<Told | null> =>
    answerInTime(platform, () =>
      together.ask(`${ask.id} ${ask.fingerprints[0].value}`, () => adapter.perform(lookKey(sql, ask))),
    );

  async function keyed(key: KeyedRequest, ask: KeyAsk, attempt: number): Promise<Response> {
    const work = await asBody(() => prepare(key.request.clone() as Request, contextOf(attempt, key.bytes)));
    const done = await openInTime(adapter, platform, lockMs, (tx): Within | Promise<Within> =>
      isSync(adapter)
        ? runWithinSync(adapter, tx, ask, limits, () =>
            asBodySync(() => closedInTime(maxMs, platform, (signal) => refuseThenable(work.run(tx, signal)) as Answer)),
          )
        : runWithin(adapter.wrap(tx), ask, limits, () =>
            asBody(() => closeInTime(maxMs, platform, async (signal) => work.run(tx, signal))),
          ),
    );
    return done.kind === "executed"
      ? firstResponse(done.answer, platform.wallMs() + limits.windowMs)
      : toldResponse(done);
  }

  async function inTurn(key: KeyedRequest, attempt: number): Promise<Response> {
    const ask = askOf(key, limits.windowMs, platform);
    const untilMs = platform.monoMs() + lockMs;
    for (;;) {
      const told = await look(ask);
      if (told !== null) return toldResponse(told);
      const turn = await queue.run(key.id, untilMs - platform.monoMs(), () => keyed(key, ask, attempt));
      if (turn.kind === "ran") return turn.value;
      if (turn.kind === "refused") return problemResponse("in-flight");
    }
  }

  /** Without a key: one transaction all the same. */
  async function plain(request: Request, attempt: number): Promise<Response> {
    const bytes = await bytesOf(request, settings.requestBytesMax);
    if (bytes === null) return problemResponse("body-too-large");
    const work = await asBody(() => prepare(request.clone() as Request, contextOf(attempt, bytes)));
    try {
      const answer = await openInTime(adapter, platform, lockMs, (tx): Answer | Promise<Answer> =>
        isSync(adapter)
          ? kept(asBodySync(() => refuseThenable(work.run(tx, new AbortController().signal)) as Answer))
          : asBody(() => closeInTime(maxMs, platform, async (signal) => work.run(tx, signal))).then(kept),
      );
      return plainResponse(answer);
    } catch (error) {
      if (error instanceof Undone) return plainResponse(error.answer);
      throw error;
    }
  }

  return async (request) => {
    const read = await reader.read(request, route);
    if (read.kind === "answer") return read.response;
    try {
      if (read.kind === "plain") return await untilKept((attempt) => plain(read.request, attempt), platform);
      return seen(await untilKept((attempt) => inTurn(read.keyed, attempt), platform), request, route);
    } catch (error) {
      const problem = read.kind === "plain" ? null : problemOf(error);
      if (problem !== null) return seen(problem, request, route);
      throw ownError(error);
    }
  };
}

const contextOf =
  (attempt: number, bytes: Uint8Array) =>
  (signal: AbortSignal): TransactionContext => ({
    attempt,
    signal,
    bytes,
    json: <T>() => JSON.parse(Buffer.from(bytes).toString("utf8")) as T,
  });

/** Carries an answer out of a transaction that is to be undone. */
class Undone extends Error {
  constructor(readonly answer: Answer) {
    super("undone");
  }
}

function kept(answer: Answer): Answer {
  if (answer.isRolledBack) throw new Undone(answer);
  return answer;
}

function plainResponse(answer: Answer): Response {
  const response = firstResponse(answer, 0);
  for (const name of ["idempotency-status", "idempotency-expires"]) response.headers.delete(name);
  return response;
}

const isSync = <Tx>(adapter: Adapter<Tx>): adapter is SyncAdapter<Tx> => adapter.bodies === "sync";

/** Before anything is written: what such a function does after its first await, it would do outside of the transaction. */
function refuseAsync(body: unknown, call: string): void {
  if (Object.prototype.toString.call(body) === "[object AsyncFunction]") throw errors.TRANSACTION_ASYNC({ call });
}

function refuseThenable<T>(value: T): T {
  if (typeof (value as { then?: unknown } | null)?.then !== "function") return value;
  // It goes on by itself, and nobody hears of its end.
  (value as unknown as Promise<unknown>).then(null, () => {});
  throw errors.TRANSACTION_ASYNC({ call: "sameTransaction" });
}
