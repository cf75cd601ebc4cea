// The database knows the row by what it is about.
import Database from "better-sqlite3";
import { host, inngest } from "../host.mjs";

const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null unique, amount integer not null)`,
);

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("create-invoice", () => {
        const insert = "insert into invoices (placement, amount) values (?, 100) on conflict do nothing";
        db.prepare(insert).run(event.data.placementId);
      });
    },
  ),
);
