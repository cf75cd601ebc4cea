import { DatabaseSync } from "node:sqlite";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new DatabaseSync("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null unique, amount integer not null)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", () => {
      db.prepare("insert or ignore into invoices (placement, amount) values (?, 100)").run(event.data.placementId);
    });
  },
);
