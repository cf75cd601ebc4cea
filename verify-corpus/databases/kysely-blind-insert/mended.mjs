import { Idem } from "idem";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
await pool.query(
  `create table if not exists invoices (id serial primary key, placement text not null unique, amount integer not null, at timestamptz default now())`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const invoice = { placement: event.data.placementId, amount: 100 };
      await db
        .insertInto("invoices")
        .values(invoice)
        .onConflict((on) => on.doNothing())
        .execute();
    });
  },
);
