import { Idem } from "idem";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
await pool.query(`create table if not exists totals (client text primary key, count integer not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("count", async () => {
      const add = db.insertInto("totals").values({ client: event.data.clientId, count: 1 });
      // ✗ DOUBLED
      await add
        .onConflict((on) => on.column("client").doUpdateSet((eb) => ({ count: eb("totals.count", "+", 1) })))
        .execute();
    });
  },
);
