import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null, amount integer not null)`,
);
db.exec("create table if not exists sent (placement text primary key)");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", () => {
      const { placementId } = event.data;
      const found = db.prepare("select 1 from sent where placement = ?").get(placementId);
      if (found !== undefined) return;
      // ✗ DOUBLED
      db.prepare("insert into invoices (placement, amount) values (?, 100)").run(placementId);
      db.prepare("insert or ignore into sent values (?)").run(placementId);
    });
  },
);
