import { tell } from "../cases.suite.ts";

const fn = (body: string) =>
  `idem.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step }) => { ${body} });`;

tell("one-effect-per-step", {
  right: {
    "a step for each": fn(
      `await step.run("a", () => db.orders.insert({ id: 1 })); await step.run("b", () => emailService.send({ to: "t" }));`,
    ),
    "several that may each be repeated": fn(`await step.run("a", async () => {
      await db.orders.upsert({ id: 1 }, { state: "paid" });
      await fetch(\`https://crm.example/orders/\${event.data.id}\`, { method: "PUT" });
      await stripe.charges.create({}, { idempotencyKey: \`charge-\${event.data.id}\` });
    });`),
    "what may be repeated, and then the one thing": fn(
      `await step.run("a", async () => { await db.orders.upsert({ id: 1 }, {}); await emailService.send({ to: "t" }); });`,
    ),
    "one or the other": fn(
      `await step.run("a", async () => { if (event.data.ok) await emailService.send({ to: "t" }); else await slack.chat.postMessage({ text: "t" }); });`,
    ),
    "one, and then no further": fn(
      `await step.run("a", async () => { if (event.data.ok) return emailService.send({ to: "t" }); return slack.chat.postMessage({ text: "t" }); });`,
    ),
    "the statements of one transaction": fn(
      `await step.run("a", () => db.transaction(async (tx) => { await tx.orders.insert({ id: 1 }); await tx.lines.insert({ id: 2 }); }));`,
    ),
    "a body that is one commit with its step": fn(
      `await step.transaction("a", async (tx) => { await tx.query("insert into a (b) values (1)"); await tx.query("insert into c (d) values (1)"); });`,
    ),
    "events that are known again by their ids, one after the other": fn(
      `await step.run("a", async () => { for (const { id } of rows) { await idem.send({ name: "b/d", id, data: {} }); await db.rows.delete({ id }); } });`,
    ),
    "a loop of retries under one key": fn(
      `await step.run("a", async ({ key }) => { for (let tries = 0; tries < 3; tries++) await stripe.charges.create({}, { idempotencyKey: key }); });`,
    ),
    "a model that is asked, and what is then done": fn(
      `await step.run("a", async () => { const text = await openai.chat.completions.create({}); await db.texts.insert({ text }); });`,
    ),
  },
  wrong: {
    "a second effect, whose failure repeats the first": {
      code: fn(
        `await step.run("charge", async () => { await stripe.charges.create({ amount: 1 }); await db.orders.upsert({ id: 1 }, { state: "paid" }); });`,
      ),
      ids: ["second"],
      says: 'step "charge" does stripe.charges.create and then db.orders.upsert',
    },
    "an effect in the step, and one in a helper it calls": {
      code: `const tell = () => emailService.send({ to: "t" }); ${fn(`await step.run("a", async () => { await tell(); await db.log.insert({ id: 1 }); });`)}`,
      ids: ["second"],
    },
    "a loop in one step": {
      code: fn(
        `await step.run("mail-all", async () => { for (const name of event.data.names) await emailService.send({ to: name }); });`,
      ),
      ids: ["loop"],
    },
    "one key for every turn of a loop": {
      code: fn(
        `await step.run("a", async ({ key }) => { for (const name of event.data.names) await resend.emails.send({ to: name }, { idempotencyKey: key }); });`,
      ),
      ids: ["loopKey"],
    },
    "one key for two things of one provider": {
      code: fn(`await step.run("a", async ({ key }) => {
        await stripe.customers.create({}, { idempotencyKey: key });
        await stripe.invoices.create({}, { idempotencyKey: key });
      });`),
      ids: ["sameKey"],
    },
  },
});
