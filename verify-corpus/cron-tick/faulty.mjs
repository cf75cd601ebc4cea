import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "nightly", idempotency: { none: "each tick is new work" } },
  { cron: "0 3 * * *" },
  async ({ step }) => {
    await step.run("start-billing", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://billing.example/runs", {
        method: "POST",
        body: JSON.stringify({ kind: "nightly" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
