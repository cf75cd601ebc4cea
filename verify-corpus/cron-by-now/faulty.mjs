import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "digest", idempotency: { none: "each tick is new work" } },
  { cron: "0 9 * * 1" },
  async ({ step }) => {
    await step.run("digest", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.resend.com/emails", {
        method: "POST",
        headers: { "idempotency-key": `digest-${new Date().toISOString()}` },
        body: JSON.stringify({ to: "team@example.com", subject: "digest" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
