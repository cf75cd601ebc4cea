import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "nightly", idempotency: { none: "each tick is new work" } },
  { cron: "0 3 * * *" },
  async ({ step }) => {
    await step.run("start-billing", async ({ key }) => {
      const answer = await fetch("https://billing.example/runs", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ kind: "nightly" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
