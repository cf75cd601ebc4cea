import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists customers (id text primary key, visits integer not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("visit", async () => {
      const count = "insert into customers values ($1, 1) on conflict (id) do update set visits = customers.visits + 1";
      // ✗ DOUBLED
      await pool.query(count, [event.data.clientId]);
    });
  },
);
