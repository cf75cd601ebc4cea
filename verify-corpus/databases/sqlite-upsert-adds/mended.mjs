import Database from "better-sqlite3";
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists totals (client text primary key, count integer not null)`);
const adapter = sqliteAdapter(db);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("count", adapter, (tx) => {
      tx.prepare("insert into totals values (?, 1) on conflict do update set count = count + 1").run(
        event.data.clientId,
      );
    });
  },
);
