import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`
  create table if not exists accounts (client text primary key, balance integer not null);
  insert into accounts values ('c3', 500) on conflict do nothing;
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("charge", async () => {
      // ✗ DOUBLED
      await pool.query("update accounts set balance = balance - 10 where client = $1", [event.data.clientId]);
    });
  },
);
