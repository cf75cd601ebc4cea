import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus", store: process.env.DATABASE_URL });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists placements (id text primary key)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("place", async () => {
      const { placementId } = event.data;
      const client = await pool.connect();
      try {
        await client.query("begin");
        const made = await client.query("insert into placements values ($1) on conflict do nothing", [placementId]);
        if (made.rowCount === 1)
          await idem.send({ name: "crm/placement.stored", data: { placementId } }, { tx: client });
        await client.query("commit");
      } finally {
        client.release(true);
      }
    });
  },
);
