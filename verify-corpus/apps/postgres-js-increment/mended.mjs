// Moved in the transaction that notes for whom.
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
      await step.run("take", () =>
        sql.begin(async (tx) => {
          const rows =
            await tx`insert into taken values (${event.data.placementId}) on conflict do nothing returning placement`;
          if (rows.length === 1) await tx`update stock set count = count - 1 where sku = 'chair'`;
        }),
      );
    },
  ),
);
