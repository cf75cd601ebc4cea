// docs/http-modes.md
// Every region is one block there.

// #region same
import { idempotency, respond, sameTransaction, sqlKeys } from "idem/http";
import { pgAdapter } from "idem/sql";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const keys = idempotency({ keys: sqlKeys(adapter), principal: (request) => accountOf(request) });

const placeOrder = sameTransaction(keys, adapter, {}, async (tx, request) => {
  const { item } = (await request.json()) as { item: string };
  const left = await tx.query("update stock set count = count - 1 where item = $1 returning count", [item]);
  if (left.rows[0].count < 0) return respond(409, { error: "sold out" }, { rollback: true });
  const order = await tx.query("insert into orders (item) values ($1) returning id", [item]);
  return respond(201, { id: order.rows[0].id });
});

// #endregion

// #region sqlite
import Database from "better-sqlite3";
import { preparedTransaction, sameTransactionSync } from "idem/http";
import { sqliteAdapter } from "idem/sql";

const file = sqliteAdapter(new Database("shop.db"));
const fileKeys = idempotency({ keys: sqlKeys(file), principal: (request) => accountOf(request) });

const like = sameTransactionSync(fileKeys, file, {}, (tx, _request, { json }) => {
  tx.prepare("insert into likes (post) values (?)").run(json<{ post: string }>().post);
  return respond(204);
});

const quote = preparedTransaction(fileKeys, file, {}, async (request) => {
  const price = await priceOf(await request.json()); // reads and asks; writes nothing
  return {
    write: (tx) => tx.prepare("insert into quotes (price) values (?)").run(price).lastInsertRowid,
    response: (id) => respond(201, { id: Number(id), price }),
  };
});

// #endregion

// #region phases
import { completer, Final, phased, phases } from "idem/http";

const createRide = phases("create-ride", { adapter, input: readRide })
  .atomic("ride", async (tx, { input }) => {
    const { rows } = await tx.query("insert into rides (passenger, fare) values ($1, $2) returning id", [
      input.passenger,
      input.fare,
    ]);
    return { id: rows[0].id as number };
  })
  .effect("charge", { destination: "stripe" }, async ({ input, key, signal }) => {
    const charged = await stripe.charge({ amount: input.fare, idempotencyKey: key, signal });
    if (charged.declined) throw new Final(402, { error: "card declined" });
    return { id: charged.id };
  })
  .atomic("receipt", async (tx, { ride, charge }) => {
    await tx.query("update rides set charge = $2 where id = $1", [ride.id, charge.id]);
    return respond(201, { ride: ride.id, charge: charge.id });
  });

const postRide = phased(keys, createRide);
const rides = completer(keys, [createRide], { every: "30s" }); // rides.start(), and await rides.stop() on the way out
// #endregion

// #region reconcile
const notifyDriver = phases("notify-driver", { adapter, input: readRide }).effect(
  "message",
  {
    destination: "slack",
    reconcile: async ({ key, since }) => {
      const found = await slack.find({ mark: key, since });
      return found === null ? "absent" : { found };
    },
  },
  ({ input, key }) => slack.post({ to: input.driver, mark: key }),
);

// #endregion

// #region run
import { Idem } from "idem";
import { keyReader, runBacked } from "idem/http";

const idem = new Idem({ id: "shop" });

const importFile = idem.createFunction({ id: "import-file" }, { event: "file/uploaded" }, async ({ event, step }) => {
  const rows = await step.run("read", () => readRows(event.data.url));
  return { imported: rows.length };
});

const postImport = runBacked(keyReader({ principal: (request) => accountOf(request) }), idem, {
  function: importFile,
  input: async (request) => (await request.json()) as { url: string },
  event: ({ url }) => ({ name: "file/uploaded", data: { url } }),
  toResponse: ({ state, output }) =>
    state === "completed" ? Response.json(output) : Response.json({ error: "the import failed" }, { status: 502 }),
  maxWait: "10s",
  location: (runId) => `/imports/${runId}`,
});
// #endregion

// #region both
const checkOut = sameTransaction(keys, adapter, {}, async (tx, request) => {
  const { item } = (await request.json()) as { item: string };
  const { rows } = await tx.query("insert into orders (item) values ($1) returning id", [item]);
  await shop.send({ name: "order/placed", data: { orderId: rows[0].id } }, { tx });
  return respond(201, { id: rows[0].id });
});

// #endregion

// #region client
import { createKey, idempotentFetch } from "idem/http";

async function buy(order: { id: string; idempotencyKey?: string }): Promise<Response> {
  order.idempotencyKey ??= createKey();
  await saveOrder(order); // the key is stored with the intent, before anything is asked
  return idempotentFetch("https://api.example.com/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    key: order.idempotencyKey,
    body: JSON.stringify({ id: order.id }),
  });
}
// #endregion

declare function accountOf(request: Request): string;
declare function priceOf(wish: unknown): Promise<number>;
declare function readRows(url: string): Promise<string[]>;
declare function saveOrder(order: object): Promise<void>;
declare const stripe: {
  charge(charge: {
    amount: number;
    idempotencyKey: string;
    signal: AbortSignal;
  }): Promise<{ id: string; declined: boolean }>;
};
declare const slack: {
  post(message: { to: string; mark: string }): Promise<{ ts: string }>;
  find(by: { mark: string; since: number }): Promise<{ ts: string } | null>;
};
declare const shop: Idem;

async function readRide(request: Request): Promise<{ passenger: string; driver: string; fare: number }> {
  return (await request.json()) as { passenger: string; driver: string; fare: number };
}

export { buy, checkOut, like, notifyDriver, placeOrder, postImport, postRide, quote, rides };
