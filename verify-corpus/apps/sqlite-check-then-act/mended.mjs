// Looking and writing are one statement, and the table has one row for a placement.
import Database from "better-sqlite3";
import { host, inngest } from "../host.mjs";

const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null unique, amount integer not null)`,
);

host(
  inngest.createFunction({ id: "invoice", triggers: [{ event: "crm/placement.made" }] }, async ({ event, step }) => {
    await step.run("create-invoice", () => {
      db.prepare("insert or ignore into invoices (placement, amount) values (?, 100)").run(event.data.placementId);
    });
  }),
);
