import Database from "better-sqlite3";
import { Idem } from "idem";
import { sqliteAdapter } from "idem/sql";
import { transitionSync } from "idem/toolkit";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists invoices (id text primary key, state text not null);
  create table if not exists payments (id integer primary key, invoice text not null);
  insert or ignore into invoices values ('7', 'draft'), ('8', 'draft');
`);
const adapter = sqliteAdapter(db);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("approve", () => {
      const { placementId: id } = event.data;
      adapter.transactionSync((tx) => {
        const { moved } = transitionSync(adapter, tx, { table: "invoices", id, from: "draft", to: "approved" });
        if (moved) tx.prepare("insert into payments (invoice) values (?)").run(id);
      });
    });
  },
);
