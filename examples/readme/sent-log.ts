// docs/sent-log.md
// #region park
import { pgAdapter } from "idem/sql";
import { createSentLog, Refused } from "idem/toolkit";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));
const texts = createSentLog(adapter, { onUnknown: "park" });

const answer = await texts.once({ template: "code", recipient: "+33612345678", window: "10m" }, ({ signal }) =>
  fetch("https://sms.example/messages", { method: "POST", body: "Your code is 4711", signal }),
);
console.log(answer.kind); // "done" the first time, "duplicate" with the same receipt for 10 minutes
// #endregion

// #region reconcile
declare const mailer: {
  send(mail: {
    to: string;
    subject: string;
    headers: Record<string, string>;
  }): Promise<{ id: string; rejected: boolean }>;
  search(query: { header: string; since: number }): Promise<{ id: string }[]>;
};

const mails = createSentLog(adapter, {
  onUnknown: "reconcile",
  reconcileAfter: "2m", // what the provider says about its search
  reconcile: async ({ tag, since }) => {
    const [mail] = await mailer.search({ header: `x-tag: ${tag}`, since });
    return mail === undefined ? "absent" : { found: { id: mail.id } };
  },
});

async function sendReceipt(order: { id: string; email: string }) {
  const what = { template: "receipt", recipient: order.email, about: order.id, window: "30d" };
  return mails.once(what, async ({ tag }) => {
    const mail = await mailer.send({ to: order.email, subject: "Your receipt", headers: { "x-tag": tag } });
    if (mail.rejected) throw new Refused("the mailbox does not exist");
    return { id: mail.id };
  });
}
// #endregion

// #region resolve
for (const entry of await texts.parked()) {
  console.log(entry.template, entry.recipient, entry.reason);
  await texts.resolve(entry.id, { sent: { id: "found in the provider's log" } }); // or "not-sent": the next asker sends
}

// #endregion

export { sendReceipt };
