import Database from "better-sqlite3";
import { Idem } from "idem";
import { Kysely, SqliteDialect } from "kysely";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
const shop = new Kysely({ dialect: new SqliteDialect({ database: db }) });
db.exec(`create table if not exists accounts (id text primary key, balance integer not null)`);
db.exec("insert or ignore into accounts values ('shop', 100)");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("pay", async () => {
      await shop.transaction().execute(async (trx) => {
        const { balance } = await trx.selectFrom("accounts").select("balance").executeTakeFirstOrThrow();
        const update = trx.updateTable("accounts").set({ balance: balance - 10 });
        // ✗ DOUBLED
        await update.execute();
      });
    });
    return event.data.placementId;
  },
);
