import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists payments (placement text primary key, state text not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("pay", async ({ key }) => {
      const headers = { "idempotency-key": key };
      const answer = await fetch("https://bank.example/payments", {
        method: "POST",
        headers,
        body: event.data.placementId,
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("note", async () => {
      await pool.query("insert into payments values ($1, 'paid') on conflict do nothing", [event.data.placementId]);
    });
  },
);
