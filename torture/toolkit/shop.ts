// One shop with a route for each way to be behind an Idempotency-Key. Its doings are written where they outlive the process: orders are rows
// of the shop's database, and a charge is a line with its destination key in a file, for a charge is out of every database's reach.
import { appendFileSync } from "node:fs";
import {
  completer,
  engineKeys,
  type Idempotency,
  idempotency,
  type KeyStore,
  keyReader,
  phased,
  phases,
  respond,
  runBacked,
  sameTransaction,
  sqlKeys,
} from "idem/http";
import type { Points } from "./points.ts";
import { chargesOf, engineOf, lazily, openDatabase, type ShopPlace, silent } from "./stores.ts";
import { watchedKeys } from "./watched-store.ts";

export const modes = ["resume", "rerun", "park", "park-in-engine", "same-transaction", "phases", "run"] as const;
export type Mode = (typeof modes)[number];

export interface Shop {
  /** `/complete` is one look of a completer. */
  handle(request: Request): Promise<Response>;
  close(): Promise<void>;
}

const principal = () => "alice";

export async function openShop(place: ShopPlace, points: Points): Promise<Shop> {
  const { adapter, close } = await openDatabase(place, points);
  const keysIn = (store: KeyStore) => idempotency({ keys: watchedKeys(store, points), principal, logger: silent });
  const keys = keysIn(sqlKeys(adapter));

  const charge = (order: string, key: string): { readonly charge: string } => {
    points.reach("effect:before", order);
    appendFileSync(chargesOf(place.folder), `${order} ${key}\n`);
    points.reach("effect:after", order);
    return { charge: `ch_${order}` };
  };
  const plain = (onCrash: "resume" | "rerun" | "park", of: Idempotency = keys) =>
    of.handler({ onCrash }, async (request, { destinationKey }) => {
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
  const inEngine = lazily(async () => plain("park", keysIn(engineKeys((await engine.get()).idem))));
  const routes: Record<Mode, (request: Request) => Promise<Response>> = {
    resume: plain("resume"),
    rerun: plain("rerun"),
    park: plain("park"),
    "park-in-engine": async (request) => (await inEngine.get())(request),
    "same-transaction": placeOrder,
    phases: phased(keys, ride),
    run: async (request) => (await engine.get()).handler(request),
  };
  return {
    handle: async (request) => {
      const path = new URL(request.url).pathname.slice(1);
      return path === "complete" ? Response.json(await complete.tick()) : routes[path as Mode](request);
    },
    async close() {
      await engine.ifOpen?.then(({ idem }) => idem.stop());
      await close();
    },
  };
}

async function openEngine(
  place: ShopPlace,
  points: Points,
  charge: (order: string, key: string) => { readonly charge: string },
) {
  const idem = await engineOf(place, points);
  const fn = idem.createFunction({ id: "place-order" }, { event: "order/placed" }, ({ event, step }) =>
    step.run("charge", ({ key }) => charge(event.data.order, key)),
  );
  await idem.start();
  const handler = runBacked<{ order: string }>(keyReader({ principal, logger: silent }), idem, {
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
