import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.bookingId" },
  { event: "bank/booking.made" },
  async ({ event, step }) => {
    await step.run("add-points", async () => {
      const found = await fetch(`https://api.bank.example/accounts/${event.data.accountId}`);
      const { points = 0 } = await found.json();
      // ✗ DOUBLED
      const answer = await fetch(`https://api.bank.example/accounts/${event.data.accountId}`, {
        method: "PUT",
        body: JSON.stringify({ points: points + 10 }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
