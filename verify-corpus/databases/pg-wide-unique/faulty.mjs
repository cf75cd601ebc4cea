import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  `create table if not exists invoices (id serial primary key, client text not null unique, placement text not null)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const values = [event.data.clientId, event.data.placementId];
      // ✗ LOST
      await pool.query("insert into invoices (client, placement) values ($1, $2) on conflict do nothing", values);
    });
  },
);
