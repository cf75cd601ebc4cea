import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists stock (item text primary key, left_over integer not null)`);
db.exec("insert or ignore into stock values ('chair', 10)");
db.exec(`create table if not exists seen (id text primary key)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("move-stock", () => {
      const { placementId } = event.data;
      if (db.prepare("select 1 from seen where id = ?").get(placementId) !== undefined) return;
      // ✗ DOUBLED
      db.prepare("update stock set left_over = left_over - 3 where item = 'chair'").run();
      db.prepare("insert into seen values (?)").run(placementId);
    });
  },
);
