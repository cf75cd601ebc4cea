import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
const ledger = new Database("ledger.db");
ledger.exec("create table if not exists entries (placement text primary key, amount integer)");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null unique, amount integer not null)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("book", () => {
      const made = db
        .prepare("insert or ignore into invoices (placement, amount) values (?, 100)")
        .run(event.data.placementId);
      if (made.changes === 0) return;
      // ✗ HALF
      ledger.prepare("insert into entries values (?, 100)").run(event.data.placementId);
    });
  },
);
