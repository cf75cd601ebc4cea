// The API that is measured: POST /charges, an answer of 500 bytes, and who asks for it. In process: a Request goes in, a Response comes out and
// is read to its end, and no socket is between. Whatever is not the answer that a request must get ends the bench.
import type { BenchDatabase } from "./database.ts";
import {
  type FetchHandler,
  type IdempotencyKeyOptions,
  idempotency,
  respond,
  sameTransaction,
  sqlKeys,
} from "./idem.ts";

export interface Charges {
  /** Times a handler was entered. */
  executions(): number;
  /** Answers by themselves, without anything around them. */
  readonly bare: FetchHandler;
  readonly keyed: FetchHandler;
  /** Two of the keyed one, whose handler takes its time: duplicates get 409, or wait. */
  readonly slow: FetchHandler;
  readonly slowAndWaiting: FetchHandler;
  /** Writes an order in a transaction of its own, without a key. */
  readonly order: FetchHandler;
  /** The same with its key in the same transaction. */
  readonly keyedOrder: FetchHandler;
}

export const request = (key: string): Request =>
  new Request("http://shop.test/charges", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key, "x-account": "acct_1" },
    body: payload,
  });

export const payload = JSON.stringify({ item: "tea", total: 1_000, currency: "eur", note: "as always" });

export type Told = "executed" | "replayed";

/** Asks and reads the answer; throws when it was not told so. `null` for a handler without a key. */
export async function ask(handler: FetchHandler, key: string, told: Told | null): Promise<void> {
  const response = await handler(request(key));
  const body = await response.arrayBuffer();
  const status = response.headers.get("idempotency-status");
  if (response.status !== 201 || status !== told || body.byteLength !== answerBytes) {
    throw new Error(`${told ?? "the handler"} was expected, and ${response.status} ${status} came back`);
  }
}

const answerBytes = 500;
const empty = JSON.stringify({ id: "ch_1", total: 1_000, receipt: "" }).length;
const receipt = "r".repeat(answerBytes - empty);
export const answerTo = ({ total }: { readonly total: number }) => ({ id: "ch_1", total, receipt });

/** As a call to a provider might take; long enough for every duplicate to arrive meanwhile. */
const slowMs = 10;

/** Not told: a client of the bench asks for the same key 100 times, and that is no news. */
const silent = { debug() {}, info() {}, warn() {}, error: console.error };

export function openCharges(
  { adapter, dialect }: BenchDatabase,
  options: Pick<IdempotencyKeyOptions, "replayCache"> = {},
): Charges {
  const keys = idempotency({
    keys: sqlKeys(adapter),
    principal: (request) => request.headers.get("x-account") ?? "",
    logger: silent,
    ...options,
  });
  let executions = 0;
  const charge = async (request: Request): Promise<Response> => {
    executions++;
    return Response.json(answerTo((await request.json()) as { total: number }), { status: 201 });
  };
  const slowly = async (request: Request): Promise<Response> => {
    await new Promise((resolve) => setTimeout(resolve, slowMs));
    return charge(request);
  };
  const insert = (tx: any, { item, total }: { item: string; total: number }): unknown =>
    dialect === "sqlite"
      ? tx.prepare("insert into orders (item, total) values (?, ?)").run(item, total)
      : tx.query("insert into orders (item, total) values ($1, $2)", [item, total]);
  return {
    executions: () => executions,
    bare: charge,
    keyed: keys.handler({ onCrash: "park" }, charge),
    slow: keys.handler({ onCrash: "park" }, slowly),
    slowAndWaiting: keys.handler({ onCrash: "park", onDuplicate: "wait" }, slowly),
    async order(request) {
      const order = (await request.json()) as { item: string; total: number };
      // Without an await where there is none: a body of better-sqlite3 must not be async.
      await adapter.transaction((tx) => insert(tx, order) as Promise<unknown>);
      executions++;
      return Response.json(answerTo(order), { status: 201 });
    },
    keyedOrder: sameTransaction(keys, adapter, {}, (tx, _request, context) => {
      const order = context.json<{ item: string; total: number }>();
      executions++;
      const written = insert(tx, order);
      const answer = () => respond(201, answerTo(order));
      return written instanceof Promise ? written.then(answer) : answer();
    }),
  };
}
