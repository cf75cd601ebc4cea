import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`
  create table if not exists accounts (client text primary key, balance integer not null);
  insert into accounts values ('c3', 500) on conflict do nothing;
  create table if not exists charges (placement text primary key);
`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("charge", async () => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        const noted = await client.query("insert into charges values ($1) on conflict do nothing", [
          event.data.placementId,
        ]);
        if (noted.rowCount > 0) {
          await client.query("update accounts set balance = balance - 10 where client = $1", [event.data.clientId]);
        }
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
