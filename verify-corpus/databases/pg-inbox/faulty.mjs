import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists stock (item text primary key, left_over integer not null)`);
await pool.query("insert into stock values ('chair', 10) on conflict do nothing");
await pool.query(`create table if not exists seen (id text primary key)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("move-stock", async () => {
      const { placementId } = event.data;
      const { rows } = await pool.query("select 1 from seen where id = $1", [placementId]);
      if (rows.length > 0) return;
      // ✗ DOUBLED
      await pool.query("update stock set left_over = left_over - 3 where item = 'chair'");
      await pool.query("insert into seen values ($1) on conflict do nothing", [placementId]);
    });
  },
);
