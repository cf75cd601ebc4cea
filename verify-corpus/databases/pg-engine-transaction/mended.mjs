import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus", store: process.env.DATABASE_URL });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists accounts (id text primary key, balance integer not null)`);
await pool.query(`create table if not exists payments (placement text primary key)`);
await pool.query("insert into accounts values ('shop', 100) on conflict do nothing");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.transaction("pay", async (tx) => {
      const insert = "insert into payments values ($1) on conflict do nothing";
      const { rowCount } = await tx.query(insert, [event.data.placementId]);
      // A person who reruns it begins anew; the row knows.
      if (rowCount === 1) await tx.query("update accounts set balance = balance - 10 where id = 'shop'");
    });
  },
);
