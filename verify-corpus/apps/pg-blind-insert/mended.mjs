// The database knows the row by what it is about.
import pg from "pg";
import { host, inngest } from "../host.mjs";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  `create table if not exists invoices (id serial primary key, placement text not null unique, amount integer not null, at timestamptz default now())`,
);

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("create-invoice", async () => {
        const insert = "insert into invoices (placement, amount) values ($1, 100) on conflict do nothing";
        await pool.query(insert, [event.data.placementId]);
      });
    },
  ),
);
