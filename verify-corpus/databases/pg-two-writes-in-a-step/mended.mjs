import { Idem } from "idem";
import { ensureTables, pgAdapter } from "idem/sql";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`
  create table if not exists invoices (placement text primary key);
  create table if not exists lines (id bigint generated always as identity primary key, placement text not null, text text not null);
`);
const adapter = pgAdapter(pool);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("create-invoice", adapter, async (tx) => {
      await tx.query("insert into invoices values ($1) on conflict do nothing", [event.data.placementId]);
      await tx.query("insert into lines (placement, text) values ($1, 'fee')", [event.data.placementId]);
    });
  },
);
