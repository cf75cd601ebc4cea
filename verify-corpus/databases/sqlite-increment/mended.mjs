import Database from "better-sqlite3";
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists accounts (client text primary key, balance integer not null);
  insert or ignore into accounts values ('c3', 500);
`);
const adapter = sqliteAdapter(db);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("charge", adapter, (tx) => {
      tx.prepare("update accounts set balance = balance - 10 where client = ?").run(event.data.clientId);
    });
  },
);
