import { DatabaseSync } from "node:sqlite";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new DatabaseSync("shop.db");
db.exec(`create table if not exists accounts (id text primary key, balance integer not null, paid text)`);
db.exec("insert or ignore into accounts values ('shop', 100, '')");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("pay", () => {
      db.exec("begin immediate");
      const { balance } = db.prepare("select balance from accounts where id = 'shop'").get();
      // ✗ DOUBLED
      db.prepare("update accounts set balance = ? where id = 'shop'").run(balance - 10);
      db.exec("commit");
    });
    return event.data.placementId;
  },
);
