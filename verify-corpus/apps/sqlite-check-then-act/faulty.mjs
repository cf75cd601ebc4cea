// Two runs look at once, and neither finds what the other is about to write.
import Database from "better-sqlite3";
import { host, inngest } from "../host.mjs";

const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null, amount integer not null)`,
);

host(
  inngest.createFunction({ id: "invoice", triggers: [{ event: "crm/placement.made" }] }, async ({ event, step }) => {
    const known = await step.run("look", () => {
      const row = db.prepare("select id from invoices where placement = ?").get(event.data.placementId);
      return row !== undefined;
    });
    if (known) return;
    await step.run("create-invoice", () => {
      // ✗ DOUBLED
      db.prepare("insert into invoices (placement, amount) values (?, 100)").run(event.data.placementId);
    });
  }),
);
