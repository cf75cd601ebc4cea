import Database from "better-sqlite3";
import { Idem } from "idem";
import { sqliteAdapter } from "idem/sql";
import { findOrCreateSync } from "idem/toolkit";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null unique, amount integer not null)`,
);
db.exec("create table if not exists sent (placement text primary key)");
const adapter = sqliteAdapter(db);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", () => {
      const { placementId } = event.data;
      adapter.transactionSync((tx) => {
        const unique = { placement: placementId };
        findOrCreateSync(adapter, tx, { table: "invoices", unique, create: () => ({ amount: 100 }) });
      });
      db.prepare("insert or ignore into sent values (?)").run(placementId);
    });
  },
);
