import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists placements (id text primary key, state text not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("place", async () => {
      const done = db.prepare("insert or ignore into placements values (?, 'made')").run(event.data.placementId);
      if (done.changes === 0) return;
      // ✗ HALF
      await idem.send({ name: "crm/placement.stored", id: event.data.placementId, data: event.data });
    });
  },
);
