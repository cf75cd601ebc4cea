import { Idem } from "idem";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
await pool.query(`
  create table if not exists accounts (client text primary key, balance integer not null);
  insert into accounts values ('c3', 500) on conflict do nothing;
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("charge", async () => {
      await db.transaction().execute(async (tx) => {
        const { balance } = await tx
          .selectFrom("accounts")
          .select("balance")
          .where("client", "=", event.data.clientId)
          .executeTakeFirstOrThrow();
        const changed = tx.updateTable("accounts").set({ balance: balance - 10 });
        // ✗ DOUBLED
        await changed.where("client", "=", event.data.clientId).execute();
      });
    });
  },
);
