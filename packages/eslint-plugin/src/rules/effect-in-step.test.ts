import { tell } from "../cases.suite.ts";

tell("effect-in-step", {
  right: {
    "a request in a step": `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => {
      await step.run("tell", () => fetch("https://crm.example/notes", { method: "POST" }));
    });`,
    "a read between steps, and a word to the log": `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ step, logger }) => {
      const answer = await fetch("https://crm.example/notes");
      logger.info("hello"); console.log(answer.status);
      await step.run("x", () => 1);
    });`,
    "an effect of code that no function reaches": `
      import { idem } from "./client";
      export async function POST(request) { await stripe.invoices.create({ customer: "c" }); }
      idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => { await step.run("x", () => 1); });`,
    "a helper that only a step calls": `
      async function charge(id) { return stripe.charges.create({ id }); }
      inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
        await step.run("charge", () => charge(event.data.id));
      });`,
    "a helper that makes the body of a step": `
      const chargeFor = (event) => (context) => stripe.charges.create(event.data, { idempotencyKey: context.key });
      idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => step.run("charge", chargeFor(event)));`,
    "the look-up of a recorded effect": `idem.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) =>
      step.effect("tell", { destination: "slack", reconcile: () => db.log.insert({ at: 1 }) }, () => slack.chat.postMessage({ text: "hi" })));`,
  },
  wrong: {
    "a request between steps": {
      code: `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => {
        await step.run("x", () => 1);
        await fetch("https://api.stripe.com/v1/invoices", { method: "POST" });
      });`,
      ids: ["outside"],
      says: "POST api.stripe.com/v1/invoices stands outside of any step",
    },
    "an event sent between steps, which step.sendEvent sends once": {
      code: `import { Idem } from "idem";
        const shop = new Idem({ id: "shop" });
        shop.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
          await shop.send({ name: "cart/paid", data: event.data });
        });`,
      ids: ["send"],
      mended: `import { Idem } from "idem";
        const shop = new Idem({ id: "shop" });
        shop.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
          await step.sendEvent("send-cart-paid", { name: "cart/paid", data: event.data });
        });`,
    },
    "a call of an SDK, which a step may stand around": {
      code: `import Stripe from "stripe";
        const client = new Stripe("key");
        inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
          const customer = await client.customers.create({ email: event.data.email });
        });`,
      ids: ["outside"],
      mended: `import Stripe from "stripe";
        const client = new Stripe("key");
        inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
          const customer = await step.run("customers-create", () => client.customers.create({ email: event.data.email }));
        });`,
    },
    "a helper that is called between steps, and an alias of the client": {
      code: `
        const { emails } = resend;
        const tell = async (to) => { await emails.send({ to }); };
        inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => { await tell(event.data.email); });`,
      ids: ["outside"],
    },
    "a statement, a file, a queue and a mail between steps": {
      code: `import { writeFileSync } from "node:fs";
        inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
          await pool.query("insert into orders (id) values ($1)", [event.data.id]);
          writeFileSync("a.txt", "b");
          await mailQueue.add("mail", event.data);
          await emailService.sendReceipt(event.data);
        });`,
      ids: ["outside", "outside", "outside", "outside"],
    },
    "a model that is asked between steps": {
      code: `import OpenAI from "openai";
        const ai = new OpenAI();
        inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ event, step }) => {
          const answer = await ai.chat.completions.create({ messages: event.data.messages });
        });`,
      ids: ["model"],
    },
    "an effect of the handler of a failure": {
      code: `inngest.createFunction({ id: "a", onFailure: async ({ event }) => { await slack.chat.postMessage({ text: "failed" }); } }, { event: "b/c" }, async () => {});`,
      ids: ["outside"],
    },
    "an effect of a handler that a wrapper takes": {
      code: `define("a", {}, async ({ event, step }) => {
        await prisma.user.create({ data: event.data });
        await step.run("x", () => 1);
      });`,
      ids: ["outside"],
    },
  },
});
