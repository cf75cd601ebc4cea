import Database from "better-sqlite3";
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { createOutbox } from "idem/toolkit";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists placements (id text primary key)`);
const adapter = sqliteAdapter(db);
await ensureTables(adapter);
const outbox = createOutbox(adapter);
outbox.relayTo(idem);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("place", () => {
      const { placementId } = event.data;
      const made = db.prepare("insert or ignore into placements values (?)").run(placementId);
      if (made.changes === 0) return;
      const message = { name: "crm/placement.stored", data: { placementId } };
      // ✗ HALF
      adapter.transactionSync((tx) => outbox.sendSync(tx, message));
    });
  },
);
