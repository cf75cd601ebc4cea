import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = drizzle(pool);
await pool.query(`
  create table if not exists accounts (client text primary key, balance integer not null);
  insert into accounts values ('c3', 500) on conflict do nothing;
`);
const accounts = pgTable("accounts", { client: text("client").primaryKey(), balance: integer("balance").notNull() });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    // ✗ DOUBLED
    await step.run("charge", async () => {
      const less = { balance: sql`${accounts.balance} - 10` };
      await db.update(accounts).set(less).where(eq(accounts.client, event.data.clientId));
    });
  },
);
