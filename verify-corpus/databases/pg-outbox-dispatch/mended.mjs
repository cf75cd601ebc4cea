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
outbox.dispatch({
  "crm/placement.stored": async (message) => {
    const headers = { "content-type": "application/json", "idempotency-key": message.id };
    const body = JSON.stringify(message.data);
    const answer = await fetch("https://warehouse.example/placements", { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  },
});

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("place", async () => {
      const { placementId } = event.data;
      await adapter.transaction(async (tx) => {
        const made = await tx.query("insert into placements values ($1) on conflict do nothing", [placementId]);
        if (made.rowCount === 1) await outbox.send(tx, { name: "crm/placement.stored", data: { placementId } });
      });
    });
  },
);
