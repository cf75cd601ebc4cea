import { Idem } from "idem";
import { stripe, webhook } from "idem/webhooks";

const idem = new Idem({ id: "books" });

idem.createFunction({ id: "book" }, { event: "stripe/invoice.paid" }, async ({ event, step }) => {
  await step.run("book", async ({ key }) => {
    const { data } = event.data as { data: { object: { id: string } } };
    const answer = await fetch("https://books.example/entries", {
      method: "POST",
      headers: { "Idempotency-Key": key },
      body: JSON.stringify({ invoice: data.object.id }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  });
});

export const POST = webhook({ source: "stripe", provider: stripe({ secrets: ["whsec_test"] }), idem });
