import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists charges (placement text primary key);
  create table if not exists accounts (client text primary key, balance integer not null);
  insert or ignore into accounts values ('c3', 500);
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("charge", () => {
      const charge = db.transaction(() => {
        const noted = db.prepare("insert or ignore into charges values (?)").run(event.data.placementId);
        if (noted.changes === 0) return;
        const { balance } = db.prepare("select balance from accounts where client = ?").get(event.data.clientId);
        db.prepare("update accounts set balance = ? where client = ?").run(balance - 10, event.data.clientId);
      });
      charge();
    });
  },
);
