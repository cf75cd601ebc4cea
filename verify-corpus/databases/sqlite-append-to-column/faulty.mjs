import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists placements (id text primary key, log text not null);
  insert or ignore into placements values ('7', ''), ('8', '');
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("note", () => {
      // ✗ DOUBLED
      db.prepare("update placements set log = log || 'made;' where id = ?").run(event.data.placementId);
    });
  },
);
