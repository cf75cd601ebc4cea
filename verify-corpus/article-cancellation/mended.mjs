import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.subscriptionId" },
  { event: "user/subscription.cancelled" },
  async ({ event, step }) => {
    await step.run("update-status", async () => {
      const answer = await fetch(`https://api.shop.example/subscriptions/${event.data.subscriptionId}`, {
        method: "PUT",
        body: JSON.stringify({ status: "cancelled" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("revoke-access", async () => {
      const answer = await fetch("https://permissions.example/revocations", {
        method: "POST",
        headers: { "idempotency-key": `revoke-${event.data.subscriptionId}` },
        body: JSON.stringify({ user: event.data.userId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("send-email", async ({ key }) => {
      const answer = await fetch("https://api.resend.com/emails", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ to: event.data.email }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("win-back", async () => {
      const answer = await fetch(`https://api.shop.example/tasks/winback-${event.data.subscriptionId}`, {
        method: "PUT",
        body: JSON.stringify({ type: "winback", user: event.data.userId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
