import Database from "better-sqlite3";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { Idem } from "idem";
import { drizzleAdapter, ensureTables } from "idem/sql";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
const shop = drizzle(db);
const accounts = sqliteTable("accounts", { id: text("id").primaryKey(), balance: integer("balance").notNull() });
db.exec(`create table if not exists accounts (id text primary key, balance integer not null)`);
db.exec("insert or ignore into accounts values ('shop', 100)");
const adapter = drizzleAdapter(shop, { dialect: "sqlite" });
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("pay", adapter, (tx) => {
      tx.update(accounts).set({ balance: sql`balance - 10` }).run();
    });
    return event.data.placementId;
  },
);
