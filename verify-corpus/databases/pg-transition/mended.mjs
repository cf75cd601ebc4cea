import { Idem } from "idem";
import { pgAdapter } from "idem/sql";
import { transition } from "idem/toolkit";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`create table if not exists invoices (id text primary key, state text not null)`);
await pool.query(`create table if not exists payments (id serial primary key, invoice text not null)`);
await pool.query("insert into invoices values ('7', 'draft'), ('8', 'draft') on conflict do nothing");
const adapter = pgAdapter(pool);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("approve", async () => {
      const { placementId: id } = event.data;
      await adapter.transaction(async (tx) => {
        const move = { table: "invoices", id, from: "draft", to: "approved" };
        const { moved } = await transition(adapter.wrap(tx), move);
        if (moved) await tx.query("insert into payments (invoice) values ($1)", [id]);
      });
    });
  },
);
