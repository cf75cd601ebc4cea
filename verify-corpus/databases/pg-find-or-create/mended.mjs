import { Idem } from "idem";
import { ensureTables, pgAdapter } from "idem/sql";
import { findOrCreate } from "idem/toolkit";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  `create table if not exists invoices (id serial primary key, placement text not null unique, amount integer not null, at timestamptz default now())`,
);
const adapter = pgAdapter(pool);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const unique = { placement: event.data.placementId };
      await adapter.transaction(async (tx) => {
        await findOrCreate(adapter.wrap(tx), { table: "invoices", unique, create: () => ({ amount: 100 }) });
      });
    });
  },
);
