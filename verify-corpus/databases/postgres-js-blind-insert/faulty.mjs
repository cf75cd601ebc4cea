import { Idem } from "idem";
import postgres from "postgres";

const idem = new Idem({ id: "corpus" });
const sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} });
await sql.unsafe(
  `create table if not exists invoices (id serial primary key, placement text not null, amount integer not null, at timestamptz default now())`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      // ✗ DOUBLED
      await sql`insert into invoices (placement, amount) values (${event.data.placementId}, 100)`;
    });
  },
);
