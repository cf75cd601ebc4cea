import Database from "better-sqlite3";
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { upsertSync } from "idem/toolkit";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists customers (id text primary key, plan text not null)`);
const adapter = sqliteAdapter(db);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("visit", adapter, (tx) => {
      upsertSync(adapter, tx, { table: "customers", unique: { id: event.data.clientId }, set: { plan: "gold" } });
    });
  },
);
