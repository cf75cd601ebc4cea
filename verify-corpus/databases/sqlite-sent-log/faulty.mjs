import Database from "better-sqlite3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
db.exec(`create table if not exists sent (placement text primary key)`);

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("text", async () => {
      const { placementId } = event.data;
      if (db.prepare("select 1 from sent where placement = ?").get(placementId) !== undefined) return;
      const body = JSON.stringify({ to: "+33612345678", text: `Placement ${placementId} is made` });
      // ✗ DOUBLED
      const answer = await fetch("https://sms.example/messages", { method: "POST", body });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      db.prepare("insert or ignore into sent values (?)").run(placementId);
    });
  },
);
