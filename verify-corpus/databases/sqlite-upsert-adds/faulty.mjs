import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists totals (client text primary key, count integer not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("count", () => {
      // ✗ DOUBLED
      db.prepare("insert into totals values (?, 1) on conflict do update set count = count + 1").run(
        event.data.clientId,
      );
    });
  },
);
