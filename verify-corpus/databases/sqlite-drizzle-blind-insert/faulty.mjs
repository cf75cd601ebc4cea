import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
const shop = drizzle(db);
const invoices = sqliteTable("invoices", {
  placement: text("placement").notNull(),
  amount: integer("amount").notNull(),
});
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null, amount integer not null)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    // ✗ DOUBLED
    await step.run("create-invoice", async () => {
      await shop.insert(invoices).values({ placement: event.data.placementId, amount: 100 });
    });
  },
);
