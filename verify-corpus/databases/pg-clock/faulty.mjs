import { Idem } from "idem";
import pg from "pg";

const idem = new Idem({ id: "corpus" });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  `create table if not exists holds (placement text primary key, until timestamptz not null default now() + interval '1 day')`,
);
await pool.query(`create table if not exists reminders (id serial primary key, placement text not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const { placementId } = event.data;
    await step.run("hold", async () => {
      await pool.query("insert into holds (placement) values ($1) on conflict do nothing", [placementId]);
    });
    await step.sleep("two days", "2d");
    await step.run("remind", async () => {
      const due =
        "insert into reminders (placement) select placement from holds where placement = $1 and until < now()";
      // ✗ DOUBLED
      const { rowCount } = await pool.query(due, [placementId]);
      if (rowCount === 0) throw new Error("it is not due yet");
    });
  },
);
