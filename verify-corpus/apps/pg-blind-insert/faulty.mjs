// A row is written, and the process dies before anybody hears of it: the next one writes it again.
import pg from "pg";
import { host, inngest } from "../host.mjs";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  `create table if not exists invoices (id serial primary key, placement text not null, amount integer not null, at timestamptz default now())`,
);

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("create-invoice", async () => {
        // ✗ DOUBLED
        await pool.query("insert into invoices (placement, amount) values ($1, 100)", [event.data.placementId]);
      });
    },
  ),
);
