import { Idem } from "idem";
import { ensureTables, pgAdapter } from "idem/sql";
import { inbox } from "idem/toolkit";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists stock (item text primary key, left_over integer not null)`);
await pool.query("insert into stock values ('chair', 10) on conflict do nothing");
const adapter = pgAdapter(pool);
await ensureTables(adapter);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("move-stock", async () => {
      await inbox.process(adapter, { source: "crm", id: event.data.placementId }, async (tx) => {
        await tx.query("update stock set left_over = left_over - 3 where item = 'chair'");
      });
    });
  },
);
