// The code of docs/transactions.md. Every region is one block there.

// #region open
import { Idem } from "idem";
import pg from "pg";

const url = process.env.DATABASE_URL!; // one database, with your tables and Idem's schema in it
const idem = new Idem({ id: "shop", store: url });
const pool = new pg.Pool({ connectionString: url });
// #endregion

// #region send
async function placeOrder(item: string, count: number): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const placed = await client.query("insert into orders (item, count) values ($1, $2) returning id", [item, count]);
    const orderId: string = placed.rows[0].id;
    await idem.send({ name: "order/placed", data: { orderId, item, count } }, { tx: client });
    await client.query("commit");
    return orderId;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

// #endregion

// #region drivers
import { kyselyAdapter } from "idem/sql";
import { Kysely, PostgresDialect } from "kysely";

const db = new Kysely<{ orders: { item: string; count: number } }>({ dialect: new PostgresDialect({ pool }) });
const adapter = kyselyAdapter(db, { dialect: "postgres" }); // also postgresJsAdapter(sql), drizzleAdapter(db, { dialect: "postgres", sql })

async function placeThroughKysely(item: string, count: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.insertInto("orders").values({ item, count }).execute();
    await idem.send({ name: "order/placed", data: { item, count } }, { tx: adapter.wrap(trx) });
  });
}
// #endregion

// #region step
idem.createFunction({ id: "reserve" }, { event: "order/placed" }, async ({ event, step }) => {
  const left = await step.transaction("take-from-stock", async (tx) => {
    const stock = await tx.query("update stock set left_over = left_over - $2 where item = $1 returning left_over", [
      event.data.item,
      event.data.count,
    ]);
    return stock.rows[0].left_over as number;
  });
  return { left };
});
// #endregion

// #region both
idem.createFunction({ id: "reorder" }, { event: "stock/low" }, async ({ event, step }) =>
  step.transaction("order-more", async (tx, { key }) => {
    await tx.query("insert into purchases (item, reference) values ($1, $2)", [event.data.item, key]);
    await idem.send({ name: "purchase/made", data: { item: event.data.item } }, { tx });
  }),
);

// #endregion

// #region own
import { pgAdapter } from "idem/sql";

const warehousePool = new pg.Pool({ connectionString: process.env.WAREHOUSE_URL }); // `npx idem sql` made its tables
const warehouse = pgAdapter(warehousePool);

idem.createFunction({ id: "pick" }, { event: "order/packed" }, async ({ event, step }) =>
  step.transaction("move-out", warehouse, async (tx) => {
    const moved = await tx.query("insert into movements (item, count) values ($1, $2) returning id", [
      event.data.item,
      -event.data.count,
    ]);
    return { movement: moved.rows[0].id as number };
  }),
);

// #endregion

export { idem, placeOrder, placeThroughKysely, pool, warehousePool };
