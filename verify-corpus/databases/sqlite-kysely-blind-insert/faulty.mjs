import Database from "better-sqlite3";
import { Idem } from "idem";
import { Kysely, SqliteDialect } from "kysely";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
const shop = new Kysely({ dialect: new SqliteDialect({ database: db }) });
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null, amount integer not null)`,
);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const invoice = { placement: event.data.placementId, amount: 100 };
      // ✗ DOUBLED
      await shop.insertInto("invoices").values(invoice).execute();
    });
  },
);
