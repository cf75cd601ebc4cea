import { Idem } from "idem";
import { signWebhook, stripe, webhook } from "idem/webhooks";

const secret = "whsec_corpus";
const provider = stripe({ secrets: [secret] });
export const sign = ({ body, at }) => signWebhook(provider, secret, body, { at });

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "book", idempotency: "event.data.data.object.id" },
  { event: "stripe/*" },
  async ({ event, step }) => {
    await step.run("book", async ({ key }) => {
      const answer = await fetch("https://books.example/entries", {
        method: "POST",
        headers: { "Idempotency-Key": key },
        body: JSON.stringify({ invoice: event.data.data.object.id }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);

export const POST = webhook({ source: "stripe", provider, idem });
