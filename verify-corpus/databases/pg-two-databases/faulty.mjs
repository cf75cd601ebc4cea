import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const ledger = new pg.Pool({ connectionString: process.env.LEDGER_URL });
await pool.query(`create table if not exists invoices (placement text primary key, amount integer not null)`);
await ledger.query(`create table if not exists entries (placement text primary key, amount integer not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("book", async () => {
      const { placementId } = event.data;
      const made = await pool.query("insert into invoices values ($1, 100) on conflict do nothing", [placementId]);
      if (made.rowCount === 0) return;
      // ✗ HALF
      await ledger.query("insert into entries values ($1, 100)", [placementId]);
    });
  },
);
