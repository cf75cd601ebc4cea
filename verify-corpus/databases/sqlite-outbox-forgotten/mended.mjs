import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`
  create table if not exists placements (id text primary key, state text not null);
  create table if not exists messages (id text primary key);
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("place", async () => {
      db.transaction(() => {
        const done = db.prepare("insert or ignore into placements values (?, 'made')").run(event.data.placementId);
        if (done.changes > 0) db.prepare("insert into messages values (?)").run(event.data.placementId);
      })();
    });
    await step.run("relay", async () => {
      for (const { id } of db.prepare("select id from messages").all()) {
        await idem.send({ name: "crm/placement.stored", id, data: { placementId: id } });
        db.prepare("delete from messages where id = ?").run(id);
      }
    });
  },
);
