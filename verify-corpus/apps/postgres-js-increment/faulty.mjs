// A number is moved once too often.
import postgres from "postgres";
import { host, inngest } from "../host.mjs";

const sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} });
await sql`create table if not exists stock (sku text primary key, count integer not null)`;
await sql`create table if not exists taken (placement text primary key)`;
await sql`insert into stock values ('chair', 10) on conflict do nothing`;

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("take", async () => {
        // ✗ DOUBLED
        await sql`update stock set count = count - 1 where sku = 'chair' and ${event.data.placementId}::text is not null`;
      });
    },
  ),
);
