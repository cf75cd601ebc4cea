import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists invoices (id text primary key, state text not null)`);
await pool.query(`create table if not exists payments (id serial primary key, invoice text not null)`);
await pool.query("insert into invoices values ('7', 'draft'), ('8', 'draft') on conflict do nothing");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("approve", async () => {
      const { placementId } = event.data;
      const { rows } = await pool.query("select state from invoices where id = $1", [placementId]);
      if (rows[0]?.state === "approved") return;
      // ✗ DOUBLED
      await pool.query("insert into payments (invoice) values ($1)", [placementId]);
      await pool.query("update invoices set state = 'approved' where id = $1", [placementId]);
    });
  },
);
