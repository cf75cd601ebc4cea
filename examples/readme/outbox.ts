// docs/outbox.md
// #region open
import { Idem } from "idem";
import { pgAdapter } from "idem/sql";
import { createOutbox } from "idem/toolkit";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const outbox = createOutbox(adapter);
// #endregion

// #region send
async function placeOrder(id: string, item: string): Promise<void> {
  await adapter.transaction(async (tx) => {
    await tx.query("insert into orders (id, item) values ($1, $2)", [id, item]);
    await outbox.send(tx, { name: "order/placed", data: { id, item } }, { dedupKey: id });
  });
}
// #endregion

// #region relay
const idem = new Idem({ id: "shop", server: "https://idem.internal" });
const relay = outbox.relayTo(idem);
process.once("SIGTERM", () => relay.stop());
// #endregion

// #region dispatch
const dispatching = outbox.dispatch(
  {
    "order/placed": async (message, { attempt, signal }) => {
      const headers = { "idempotency-key": message.id, "content-type": "application/json" };
      const body = JSON.stringify(message.data);
      const answer = await fetch("https://warehouse.example/orders", { method: "POST", headers, body, signal });
      if (!answer.ok) throw new Error(`attempt ${attempt}: HTTP ${answer.status}`);
    },
  },
  { concurrency: 8, lease: "30s", attempts: 10 },
);
// #endregion

// #region order
const ordered = createOutbox(adapter, { onDead: "block" });

async function moveStock(item: string, by: number): Promise<void> {
  await adapter.transaction(async (tx) => {
    await tx.query("update stock set left_over = left_over + $2 where item = $1", [item, by]);
    await ordered.send(tx, { name: "stock/moved", data: { item, by } }, { orderKey: item });
  });
}
// #endregion

// #region dead
for (const message of await outbox.dead()) {
  console.log(message.id, message.topic, message.reason);
  await outbox.retry(message.id); // or outbox.drop(message.id)
}

// #endregion

// #region sqlite
import Database from "better-sqlite3";
import { sqliteAdapter } from "idem/sql";

const file = sqliteAdapter(new Database("shop.db"));
const inFile = createOutbox(file);
file.transactionSync((tx) => {
  tx.prepare("insert into orders (id) values (?)").run("o7");
  inFile.sendSync(tx, { name: "order/placed", data: { id: "o7" } });
});

// #endregion

export { dispatching, moveStock, placeOrder };
