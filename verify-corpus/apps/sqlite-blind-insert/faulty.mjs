// A row is written, and the process dies before anybody hears of it: the next one writes it again.
import Database from "better-sqlite3";
import { host, inngest } from "../host.mjs";

const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null, amount integer not null)`,
);

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("create-invoice", () => {
        // ✗ DOUBLED
        db.prepare("insert into invoices (placement, amount) values (?, 100)").run(event.data.placementId);
      });
    },
  ),
);
