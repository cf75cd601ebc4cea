import { DatabaseSync } from "node:sqlite";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new DatabaseSync("shop.db");
db.exec(`create table if not exists accounts (id text primary key, balance integer not null, paid text)`);
db.exec("insert or ignore into accounts values ('shop', 100, '')");
db.exec("create table if not exists payments (placement text primary key)");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("pay", () => {
      const { placementId } = event.data;
      db.exec("begin immediate");
      try {
        const made = db.prepare("insert or ignore into payments values (?)").run(placementId);
        if (made.changes > 0) db.prepare("update accounts set balance = balance - 10 where id = 'shop'").run();
        db.exec("commit");
      } catch (error) {
        if (db.isTransaction) db.exec("rollback");
        throw error;
      }
    });
  },
);
