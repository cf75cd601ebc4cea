import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists customers (id text primary key, plan text not null, visits integer not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("visit", () => {
      const add = "insert into customers values (?, 'gold', 1) on conflict (id) do update set visits = visits + 1";
      // ✗ DOUBLED
      db.prepare(add).run(event.data.clientId);
    });
  },
);
