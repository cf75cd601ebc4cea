import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(
  `create table if not exists invoices (id integer primary key, placement text not null, amount integer not null)`,
);

idem.createFunction({ id: "draft-invoice" }, { event: "crm/placement.made" }, async ({ event, step }) => {
  const known = await step.run("look", () =>
    db.prepare("select id from invoices where placement = ?").get(event.data.placementId),
  );
  if (known !== undefined && known !== null) return;
  await step.run("create-invoice", () => {
    // ✗ DOUBLED
    db.prepare("insert into invoices (placement, amount) values (?, 100)").run(event.data.placementId);
  });
});
