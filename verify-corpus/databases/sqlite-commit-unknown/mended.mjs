import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists charges (id integer primary key, placement text not null)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("charge", () => {
      const { placementId } = event.data;
      const charge = db.transaction(() => {
        if (db.prepare("select 1 from charges where placement = ?").get(placementId) !== undefined) return;
        db.prepare("insert into charges (placement) values (?)").run(placementId);
      });
      for (let tries = 1; ; tries++) {
        try {
          charge();
          return;
        } catch (error) {
          if (tries === 3) throw error;
        }
      }
    });
  },
);
