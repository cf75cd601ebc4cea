// The balance is moved and the entry noted, one without the other: a death in between leaves half of it.
import Database from "better-sqlite3";
import { host, inngest } from "../host.mjs";

const db = new Database("shop.db");
db.exec(`create table if not exists accounts (id text primary key, balance integer not null);
  create table if not exists entries (placement text primary key, amount integer not null);
  insert or ignore into accounts values ('fees', 1000)`);

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("book", () => {
        const { changes } = db.prepare("insert or ignore into entries values (?, 100)").run(event.data.placementId);
        // ✗ HALF
        if (changes === 1) db.prepare("update accounts set balance = balance + 100 where id = 'fees'").run();
      });
    },
  ),
);
