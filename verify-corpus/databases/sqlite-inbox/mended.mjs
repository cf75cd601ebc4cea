import Database from "better-sqlite3";
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { inbox } from "idem/toolkit";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists stock (item text primary key, left_over integer not null)`);
db.exec("insert or ignore into stock values ('chair', 10)");
const adapter = sqliteAdapter(db);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("move-stock", async () => {
      await inbox.process(adapter, { source: "crm", id: event.data.placementId }, (tx) => {
        tx.prepare("update stock set left_over = left_over - 3 where item = 'chair'").run();
      });
    });
  },
);
