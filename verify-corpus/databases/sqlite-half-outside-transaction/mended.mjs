import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists invoices (placement text primary key, amount integer not null);
  create table if not exists lines (id integer primary key, placement text not null, text text not null);
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", () => {
      const create = db.transaction(() => {
        const made = db.prepare("insert or ignore into invoices values (?, 100)").run(event.data.placementId);
        if (made.changes === 0) return;
        db.prepare("insert into lines (placement, text) values (?, 'fee')").run(event.data.placementId);
      });
      create();
    });
  },
);
