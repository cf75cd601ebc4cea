import { Idem } from "idem";
import postgres from "postgres";

const idem = new Idem({ id: "corpus" });
const sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} });
await sql.unsafe(
  `create table if not exists invoices (id uuid primary key default gen_random_uuid(), placement text not null unique)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const { placementId } = event.data;
      await sql`insert into invoices (placement) values (${placementId}) on conflict (placement) do nothing`;
    });
  },
);
