// A shop behind keys, for the tests of the modes: one table of orders in the user's database, and callers who ask with a key.
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { FetchHandler } from "../../../sdk/request-address.ts";
import { sqlKeys } from "../../keys/sql-keys.ts";
import type { Adapter } from "../../sql/adapter.ts";
import type { TestDatabase } from "../../sql/databases.suite.ts";
import { type Idempotency, idempotency } from "../idempotency.ts";

export interface Shop {
  readonly db: TestDatabase;
  readonly keys: Idempotency;
  readonly adapter: Adapter<any>;
  /** Another process of the same shop. */
  another(): { readonly keys: Idempotency; readonly adapter: Adapter<any> };
  orders(): Promise<string[]>;
  /** Rows of idempotency_keys. */
  records(): Promise<any[]>;
}

export async function openShop(db: TestDatabase, platform: Platform = nodePlatform): Promise<Shop> {
  await db.run("create table orders (item text not null)");
  const processOf = (adapter: Adapter<any>) => ({
    adapter,
    keys: idempotency({
      keys: sqlKeys(adapter, { platform }),
      principal: (request) => request.headers.get("x-account") ?? "",
      logger: silent,
      platform,
    }),
  });
  return {
    db,
    ...processOf(db.adapter),
    another: () => processOf(db.another()),
    orders: async () => (await db.rows("select item from orders order by item")).map(({ item }) => item as string),
    records: () => db.rows("select * from idempotency_keys"),
  };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** In whatever way the driver has: at once, or to be awaited. */
export function insertOrder(tx: any, item: string): void | Promise<void> {
  if ("prepare" in tx) return void tx.prepare("insert into orders (item) values (?)").run(item);
  return tx.query("insert into orders (item) values ($1)", [item]).then(() => {});
}

/** After something that is awaited on one driver and at once on the other. */
export const after = <T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

export interface Asking {
  readonly key?: string;
  readonly as?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export const requestOf = ({ key = "k-1", as = "alice", body = { item: "tea" }, signal }: Asking = {}): Request =>
  new Request("https://shop.test/orders", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-account": as,
      ...(key === "" ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

export interface Told {
  readonly status: number;
  readonly body: any;
  readonly replayed: boolean;
  readonly headers: Headers;
}

export async function ask(handler: FetchHandler, asking?: Asking): Promise<Told> {
  const response = await handler(requestOf(asking));
  const text = await response.text();
  return {
    status: response.status,
    body: /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : text,
    replayed: response.headers.get("idempotent-replayed") === "true",
    headers: response.headers,
  };
}

export function deferred<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Asks the server until as many of its sessions wait for somebody's lock. */
export async function untilBlocked(db: TestDatabase, count: number): Promise<void> {
  for (;;) {
    const [row] = await db.rows(
      "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (Number(row.n) >= count) return;
  }
}
