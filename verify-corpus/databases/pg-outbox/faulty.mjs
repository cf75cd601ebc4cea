import { Idem } from "idem";
import { ensureTables, pgAdapter } from "idem/sql";
import { createOutbox } from "idem/toolkit";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists placements (id text primary key)`);
const adapter = pgAdapter(pool);
await ensureTables(adapter);
const outbox = createOutbox(adapter);
outbox.relayTo(idem);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("place", async () => {
      const { placementId } = event.data;
      const made = await pool.query("insert into placements values ($1) on conflict do nothing", [placementId]);
      if (made.rowCount === 0) return;
      // ✗ HALF
      await adapter.transaction((tx) => outbox.send(tx, { name: "crm/placement.stored", data: { placementId } }));
    });
  },
);
