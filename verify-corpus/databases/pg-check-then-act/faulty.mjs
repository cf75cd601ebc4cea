import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  `create table if not exists invoices (id serial primary key, placement text not null, amount integer not null, at timestamptz default now())`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const { placementId } = event.data;
      const { rows } = await pool.query("select id from invoices where placement = $1", [placementId]);
      if (rows.length > 0) return;
      // ✗ DOUBLED
      await pool.query("insert into invoices (placement, amount) values ($1, 100)", [placementId]);
    });
  },
);
