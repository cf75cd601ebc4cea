import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = drizzle(pool);
await pool.query(
  `create table if not exists invoices (id serial primary key, placement text not null unique, amount integer not null, at timestamptz default now())`,
);
const invoices = pgTable("invoices", { placement: text("placement").notNull(), amount: integer("amount").notNull() });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      await db.insert(invoices).values({ placement: event.data.placementId, amount: 100 }).onConflictDoNothing();
    });
  },
);
