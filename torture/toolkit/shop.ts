// One shop with a route for each way to be behind an Idempotency-Key. What happens is written where it outlives the process: orders are rows
// of the shop's database, and a charge is a line with its destination key in a file, for a charge is out of every database's reach.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { Idem } from "idem";
import {
  type Completed,
  completer,
  idempotency,
  keyReader,
  phased,
  phases,
  respond,
  runBacked,
  sameTransaction,
  sqlKeys,
} from "idem/http";
import { type Adapter, type Dialect, pgAdapter, sqliteAdapter, tablesSql } from "idem/sql";
import { builtEngine } from "../engine.ts";
import type { Points } from "./points.ts";
import { watchedAdapter, watchedKeys, watchedPool } from "./watched-store.ts";

export const modes = ["resume", "rerun", "park", "same-transaction", "phases", "run"] as const;
export type Mode = (typeof modes)[number];

export interface ShopPlace {
  readonly dialect: Dialect;
  /** A file, or an address for a pool. */
  readonly where: string;
  /** Of the engine's store, for the mode that needs one. */
  readonly engine: string;
  /** Where charges and deaths are written down. */
  readonly folder: string;
}

export interface Shop {
  handle(request: Request): Promise<Response>;
  /** One look of a completer. */
  complete(): Promise<Completed>;
  close(): Promise<void>;
}

export const chargesOf = (folder: string): string => join(folder, "charges.txt");
export const deathsOf = (folder: string): string => join(folder, "deaths.txt");

/** The toolkit's tables and the shop's own. */
export const shopTables = (dialect: Dialect): string => `
  ${tablesSql(dialect)};
  create table orders (id text not null);
  create table receipts (order_id text not null, charge text not null);`;

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const principal = () => "alice";

export async function openShop(place: ShopPlace, points: Points): Promise<Shop> {
  const { adapter, close } = open(place, points);
  const keys = idempotency({ keys: watchedKeys(sqlKeys(adapter), points), principal, logger: silent });

  const charge = (order: string, key: string): { readonly charge: string } => {
    points.reach("effect:before", order);
    appendFileSync(chargesOf(place.folder), `${order} ${key}\n`);
    points.reach("effect:after", order);
    return { charge: `ch_${order}` };
  };
  const plain = (onCrash: "resume" | "rerun" | "park") =>
    keys.handler({ onCrash }, async (request, { destinationKey }) => {
      const { order } = (await request.json()) as { order: string };
      return Response.json(charge(order, destinationKey("stripe")), { status: 201 });
    });

  const placeOrder = sameTransaction(keys, adapter, {}, (tx, _, { json }) => {
    const { order } = json<{ order: string }>();
    points.reach("effect:before", order);
    return after(write(tx, "insert into orders (id) values ($1)", order), () => {
      points.reach("effect:after", order);
      return respond(201, { order });
    });
  });

  const ride = phases("place-order", { adapter, input: async (request) => (await request.json()) as { order: string } })
    .atomic("order", (tx, { input }) =>
      after(write(tx, "insert into orders (id) values ($1)", input.order), () => ({ id: input.order })),
    )
    .effect("charge", { destination: "stripe" }, ({ input, key }) => charge(input.order, key))
    .atomic("receipt", (tx, { input, charge: made }) =>
      after(write(tx, "insert into receipts (order_id, charge) values ($1, $2)", input.order, made.charge), () =>
        respond(201, made),
      ),
    );
  const complete = completer(keys, [ride], { logger: silent });

  const engine = lazily(() => openEngine(place, points, charge));
  const routes: Record<Mode, (request: Request) => Promise<Response>> = {
    resume: plain("resume"),
    rerun: plain("rerun"),
    park: plain("park"),
    "same-transaction": placeOrder,
    phases: phased(keys, ride),
    run: async (request) => (await engine.get()).handler(request),
  };
  return {
    handle: (request) => routes[new URL(request.url).pathname.slice(1) as Mode](request),
    complete: () => complete.tick(),
    async close() {
      await engine.ifOpen?.then(({ idem }) => idem.stop());
      await close();
    },
  };
}

function open({ dialect, where }: ShopPlace, points: Points): { adapter: Adapter<any>; close: () => Promise<void> } {
  if (dialect === "postgres") {
    const pool = watchedPool(where, points);
    return { adapter: watchedAdapter(pgAdapter(pool), points), close: () => pool.end() };
  }
  const db = new Database(where);
  db.pragma("journal_mode = WAL");
  db.pragma("busy_timeout = 5000");
  return { adapter: watchedAdapter(sqliteAdapter(db), points), close: async () => void db.close() };
}

async function openEngine(
  { engine }: ShopPlace,
  points: Points,
  charge: (order: string, key: string) => { readonly charge: string },
) {
  const load = (file: string) => import(pathToFileURL(join(builtEngine, file)).href);
  const [{ nodePlatform }, { limits }] = await Promise.all([
    load("platform/node-platform.js"),
    load("engine/limits.js"),
  ]);
  // Whoever comes after a death looks for what it left; a test has no five seconds for it.
  Object.assign(limits, { sweepMs: 100, pollMs: 100 });
  const idem = new Idem({
    id: "shop",
    store: engine,
    logger: silent,
    platform: { ...nodePlatform, point: (name: string) => points.reach(`engine:${name}`) },
  });
  const fn = idem.createFunction({ id: "place-order" }, { event: "order/placed" }, ({ event, step }) =>
    step.run("charge", ({ key }) => charge(event.data.order, key)),
  );
  await idem.start();
  const reader = keyReader({ principal, logger: silent });
  const handler = runBacked<{ order: string }>(reader, idem, {
    function: fn,
    event: (input) => ({ name: "order/placed", data: input }),
    toResponse: ({ state, output }) => Response.json(output ?? null, { status: state === "completed" ? 201 : 500 }),
    maxWait: "30s",
  });
  return { idem, handler };
}

/** In whatever way the driver has: at once, or to be awaited. */
function write(tx: any, text: string, ...params: string[]): unknown {
  if ("prepare" in tx) return tx.prepare(text.replace(/\$\d/g, "?")).run(...params);
  return tx.query(text, params);
}

const after = <R>(written: unknown, next: () => R): R =>
  (written instanceof Promise ? written.then(next) : next()) as R;

function lazily<T>(make: () => Promise<T>): { get(): Promise<T>; ifOpen: Promise<T> | null } {
  const self = {
    ifOpen: null as Promise<T> | null,
    get: () => {
      self.ifOpen ??= make();
      return self.ifOpen;
    },
  };
  return self;
}
