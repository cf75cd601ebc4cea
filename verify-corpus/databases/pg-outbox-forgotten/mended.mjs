import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists placements (id text primary key)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const { placementId } = event.data;
    await step.run("place", async () => {
      await pool.query("insert into placements values ($1) on conflict do nothing", [placementId]);
    });
    await step.sendEvent("tell", { name: "crm/placement.stored", id: placementId, data: { placementId } });
  },
);
