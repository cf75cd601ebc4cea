import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists payments (placement text primary key, state text not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("pay", async () => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await client.query("insert into payments values ($1, 'paid') on conflict do nothing", [event.data.placementId]);
        // ✗ DOUBLED
        const answer = await fetch("https://bank.example/payments", { method: "POST", body: event.data.placementId });
        if (!answer.ok) throw new Error(`answered ${answer.status}`);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback").catch(() => {});
        throw error;
      } finally {
        client.release();
      }
    });
  },
);
