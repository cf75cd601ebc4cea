import Database from "better-sqlite3";
import { Idem } from "idem";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { createSentLog } from "idem/toolkit";

const idem = new Idem({ id: "corpus" });
const db = new Database("shop.db");
const adapter = sqliteAdapter(db);
await ensureTables(adapter);
const texts = createSentLog(adapter, { onUnknown: "park" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("text", async () => {
      const { placementId } = event.data;
      const what = { template: "made", recipient: "+33612345678", about: placementId, window: "30d" };
      const body = JSON.stringify({ to: "+33612345678", text: `Placement ${placementId} is made` });
      const answer = await texts.once(what, ({ signal }) =>
        fetch("https://sms.example/messages", { method: "POST", body, signal }),
      );
      if (answer.kind !== "done" && answer.kind !== "duplicate") throw new Error(`the text is ${answer.kind}`);
    });
  },
);
