import { tell } from "../cases.suite.ts";

const idem = (step: string) =>
  `idem.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step }) => { ${step} });`;
const inngest = (step: string) =>
  `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { ${step} });`;

tell("destination-key", {
  right: {
    "the step's own key, in each of its forms": idem(`
      await step.run("a", ({ key }) => stripe.invoices.create({ customer: "c" }, { idempotencyKey: key }));
      await step.run("b", (context) => fetch("https://api.stripe.com/v1/charges", { method: "POST", headers: { "Idempotency-Key": context.key } }));
      await step.run("c", (context) => fetch("https://api-m.paypal.com/v2/orders", { method: "POST", headers: { ...destination("paypal").headers(context) } }));
      await step.effect("d", { destination: "stripe" }, ({ headers }) => fetch("https://api.stripe.com/v1/charges", { method: "POST", headers }));`),
    "a key of the business's own, in Inngest": inngest(
      "await step.run('a', () => stripe.paymentIntents.create({ amount: 1 }, { idempotencyKey: `intent-${event.id}` }));",
    ),
    "options by a variable, and by somebody else": inngest(`
      const options = { idempotencyKey: event.id };
      await step.run("a", () => stripe.invoices.create({ customer: "c" }, options));
      await step.run("b", () => stripe.invoices.create({ customer: "c" }, optionsFor(event)));
      await step.run("c", () => fetch("https://api.stripe.com/v1/charges", { method: "POST", headers: authorised(event) }));`),
    "what changes and looks, and makes nothing new": inngest(`
      await step.run("a", () => stripe.customers.update("c", { email: "e" }));
      await step.run("b", () => stripe.customers.list({ email: "e" }));
      await step.run("c", () => fetch("https://api.stripe.com/v1/customers/c", { method: "DELETE" }));`),
    "a POST to a host nobody described, and a provider without keys": inngest(`
      await step.run("a", () => fetch("https://crm.example/notes", { method: "POST" }));
      await step.run("b", () => slack.chat.postMessage({ text: "hi" }));`),
    "code that no function reaches": `export const POST = () => stripe.invoices.create({ customer: "c" });`,
  },
  wrong: {
    "a call of Stripe's SDK, which the step's key mends": {
      code: idem(`await step.run("draft", async () => stripe.invoices.create({ customer: event.data.clientId }));`),
      ids: ["missing"],
      says: "stripe.invoices.create carries no key",
      mended: idem(
        `await step.run("draft", async ({ key }) => stripe.invoices.create({ customer: event.data.clientId }, { idempotencyKey: key }));`,
      ),
    },
    "a call under another name, which the event's id mends in Inngest": {
      code: `import Payments from "stripe"; import { Inngest } from "inngest";
        const client = new Payments("key"); const app = new Inngest({ id: "app" });
        app.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { await step.run("draft", () => client.invoices.create({ customer: "c" })); });`,
      ids: ["missing"],
      mended: `import Payments from "stripe"; import { Inngest } from "inngest";
        const client = new Payments("key"); const app = new Inngest({ id: "app" });
        app.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { await step.run("draft", () => client.invoices.create({ customer: "c" }, { idempotencyKey: \`draft-\${event.id}\` })); });`,
    },
    "a request to a known host, by whichever client": {
      code: `import axios from "axios"; import got from "got"; import { request } from "undici";
        ${idem(`
          await step.run("a", () => fetch("https://api.resend.com/emails", { method: "POST", body: "x" }));
          await step.run("b", () => axios.post("https://api.stripe.com/v1/charges", { amount: 1 }));
          await step.run("c", () => got.post("https://api.stripe.com/v1/charges", { json: {} }));
          await step.run("d", () => request("https://api.stripe.com/v1/charges", { method: "POST" }));`)}`,
      ids: ["missing", "missing", "missing", "missing"],
    },
    "a header for the key, put beside the others": {
      code: idem(
        `await step.run("a", async ({ attempt }) => { await fetch("https://api.resend.com/emails", { method: "POST", headers: { accept: "a/b" } }); });`,
      ),
      ids: ["missing"],
      mended: idem(
        `await step.run("a", async ({ key, attempt }) => { await fetch("https://api.resend.com/emails", { method: "POST", headers: { accept: "a/b", "idempotency-key": key } }); });`,
      ),
    },
    "a message of a queue in order": {
      code: idem(
        `await step.run("a", async () => sqs.send(new SendMessageCommand({ QueueUrl, MessageGroupId: "g" })));`,
      ),
      ids: ["missing"],
      mended: idem(
        `await step.run("a", async ({ key }) => sqs.send(new SendMessageCommand({ QueueUrl, MessageGroupId: "g", MessageDeduplicationId: key })));`,
      ),
    },
    "a call in a helper that a step calls": {
      code: `async function charge(amount) { return stripe.charges.create({ amount }); }
        ${inngest(`await step.run("charge", () => charge(event.data.amount));`)}`,
      ids: ["missing"],
    },
    "a key that is the same for every event": {
      code: inngest(
        `await step.run("a", () => resend.emails.send({ to: event.data.email }, { idempotencyKey: "welcome" }));`,
      ),
      ids: ["constant"],
    },
  },
});

tell("destination-key", {
  options: { calls: "all" },
  right: {
    "a question by POST": inngest(`
      await step.run("a", () => fetch("https://api.openai.com/v1/responses", { method: "POST" }));
      await step.run("b", () => fetch("https://shop.example/graphql", { method: "POST" }));`),
    "a mail that a log of sent ones holds": idem(`
      await step.run("a", () => mails.once({ template: "t", recipient: "r" }, () => transport.sendMail({ to: "r" })));
      await step.effect("b", { destination: "slack", reconcile }, () => slack.chat.postMessage({ text: "hi" }));`),
    "a PUT under a name of its own": inngest(
      "await step.run('a', () => fetch(`https://crm.example/notes/${event.data.id}`, { method: 'PUT' }));",
    ),
  },
  wrong: {
    "a POST to any host": {
      code: inngest(`await step.run("a", () => fetch("https://crm.example/notes", { method: "POST" }));`),
      ids: ["post"],
    },
    "a provider that takes no key": {
      code: idem(
        `await step.run("a", () => twilio.messages.create({ to: "t" })); await step.run("b", () => emailService.sendReceipt({ to: "t" }));`,
      ),
      ids: ["keyless", "keyless"],
      says: "Twilio takes no key. Use step.effect with reconcile",
    },
  },
});
