// Both in one transaction, undone together.
import Database from "better-sqlite3";
import { host, inngest } from "../host.mjs";

const db = new Database("shop.db");
db.exec(`create table if not exists accounts (id text primary key, balance integer not null);
  create table if not exists entries (placement text primary key, amount integer not null);
  insert or ignore into accounts values ('fees', 1000)`);

const book = db.transaction((placement) => {
  const { changes } = db.prepare("insert or ignore into entries values (?, 100)").run(placement);
  if (changes === 1) db.prepare("update accounts set balance = balance + 100 where id = 'fees'").run();
});

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("book", () => {
        book(event.data.placementId);
      });
    },
  ),
);
