import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists sent (placement text primary key)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("text", async () => {
      const { placementId } = event.data;
      const { rows } = await pool.query("select 1 from sent where placement = $1", [placementId]);
      if (rows.length > 0) return;
      const body = JSON.stringify({ to: "+33612345678", text: `Placement ${placementId} is made` });
      // ✗ DOUBLED
      const answer = await fetch("https://sms.example/messages", { method: "POST", body });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      await pool.query("insert into sent values ($1) on conflict do nothing", [placementId]);
    });
  },
);
