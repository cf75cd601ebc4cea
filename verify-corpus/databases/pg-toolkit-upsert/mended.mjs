import { Idem } from "idem";
import { ensureTables, pgAdapter } from "idem/sql";
import { upsert } from "idem/toolkit";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists customers (id text primary key, plan text not null)`);
const adapter = pgAdapter(pool);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("store", adapter, async (tx) => {
      const unique = { id: event.data.clientId };
      await upsert(adapter.wrap(tx), { table: "customers", unique, set: { plan: "gold" } });
    });
  },
);
