import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists invoices (id text primary key, state text not null);
  create table if not exists payments (id integer primary key, invoice text not null);
  insert or ignore into invoices values ('7', 'draft'), ('8', 'draft');
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("approve", () => {
      const { placementId } = event.data;
      const { state } = db.prepare("select state from invoices where id = ?").get(placementId);
      if (state === "approved") return;
      // ✗ DOUBLED
      db.prepare("insert into payments (invoice) values (?)").run(placementId);
      db.prepare("update invoices set state = 'approved' where id = ?").run(placementId);
    });
  },
);
