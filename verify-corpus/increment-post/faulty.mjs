import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.bookingId" },
  { event: "bank/booking.made" },
  async ({ event, step }) => {
    await step.run("add-points", async () => {
      // ✗ DOUBLED
      const answer = await fetch(`https://api.bank.example/accounts/${event.data.accountId}/increments`, {
        method: "POST",
        body: JSON.stringify({ by: 10 }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
