import { Idem } from "idem";
import { ensureTables, postgresJsAdapter } from "idem/sql";
import postgres from "postgres";

const idem = new Idem({ id: "corpus" });
const sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} });
await sql.unsafe(`
  create table if not exists accounts (client text primary key, balance integer not null);
  insert into accounts values ('c3', 500) on conflict do nothing;
`);
const adapter = postgresJsAdapter(sql);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("charge", adapter, async (tx) => {
      await tx`update accounts set balance = balance - 10 where client = ${event.data.clientId}`;
    });
  },
);
