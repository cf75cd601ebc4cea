import { Idem } from "idem";
import postgres from "postgres";

const idem = new Idem({ id: "corpus" });
const sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} });
await sql.unsafe(
  `create table if not exists invoices (id uuid primary key default gen_random_uuid(), placement text not null)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      // ✗ DOUBLED
      await sql`insert into invoices (placement) values (${event.data.placementId}) on conflict do nothing`;
    });
  },
);
