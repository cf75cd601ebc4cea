import { tell } from "../cases.suite.ts";

const fn = (step: string) =>
  `idem.createFunction({ id: "a", idempotency: "event.data.id" }, { event: "b/c" }, async ({ event, step }) => { ${step} });`;
const keyed = (key: string) =>
  fn(`await step.run("a", async ({ key }) => stripe.charges.create({ amount: 1 }, { idempotencyKey: ${key} }));`);

tell("no-random-key", {
  right: {
    "a key of what it is about": keyed("`charge-${event.data.orderId}`"),
    "the step's own": keyed("key"),
    "chance and time that were drawn in a step": fn(
      "const at = await step.run('at', () => Date.now()); await step.run('a', () => stripe.charges.create({}, { idempotencyKey: `charge-${new Date(at).getUTCFullYear()}` }));",
    ),
    "a digest of what it is about": `import { createHash } from "node:crypto"; ${keyed('createHash("sha256").update(event.data.orderId).digest("hex")')}`,
    "a file that nobody looks for again": `import { writeFileSync } from "node:fs"; import { randomUUID } from "node:crypto";
      ${fn("await step.run('a', () => writeFileSync(`/tmp/${randomUUID()}`, 'x'));")}`,
    "a random value that is no key": fn(
      "await step.run('a', ({ key }) => stripe.charges.create({ nonce: crypto.randomUUID() }, { idempotencyKey: key }));",
    ),
    "a client of an API that makes the key of its own intent": `await fetch("/orders", { method: "POST", headers: { "Idempotency-Key": crypto.randomUUID() } });`,
  },
  wrong: {
    "chance in a key, by whichever package": {
      code: `import { randomUUID } from "node:crypto"; import { v4 as uuidv4 } from "uuid"; import { nanoid } from "nanoid";
        ${keyed("randomUUID()")} ${keyed("uuidv4()")} ${keyed("`charge-${nanoid()}`")} ${keyed("crypto.randomUUID()")} ${keyed("String(Math.random())")}`,
      ids: ["chance", "chance", "chance", "chance", "chance"],
    },
    "time in a key": {
      code: `${keyed("`charge-${Date.now()}`")} ${keyed("new Date().toISOString()")}`,
      ids: ["time", "time"],
    },
    "a digest of something with the time in it": {
      code: `import { createHash } from "node:crypto";
        ${fn(`await step.run("a", async () => {
          const invoice = { id: event.data.id, madeAt: new Date().toISOString() };
          const print = createHash("sha256").update(JSON.stringify(invoice)).digest("hex");
          await stripe.charges.create(invoice, { idempotencyKey: print });
        });`)}`,
      ids: ["time"],
    },
    "a counter of the process": {
      code: `let count = 0; ${fn(`await step.run("a", async () => { count += 1; await stripe.charges.create({}, { idempotencyKey: \`c-\${count}\` }); });`)}`,
      ids: ["counter"],
    },
    "an event's id, also where no function is": {
      code: `import { inngest } from "./client";
        export async function POST() { await inngest.send({ id: \`checkout-\${Date.now()}\`, name: "cart/paid", data: {} }); }`,
      ids: ["time"],
    },
    "the name under which something is put": {
      code: `import { randomUUID } from "node:crypto";
        ${fn("const id = randomUUID(); await step.run('a', () => fetch(`https://bank.example/payments/${id}`, { method: 'PUT' }));")}`,
      ids: ["chance"],
      says: "The name under which PUT bank.example/payments/… writes",
    },
    "a key that a helper is given": {
      code: `const charge = (key) => stripe.charges.create({}, { idempotencyKey: key });
        ${fn(`await step.run("a", () => charge(crypto.randomUUID()));`)}`,
      ids: ["chance"],
    },
    "a header of step.fetch": {
      code: fn(
        `await step.fetch("a", "https://api.stripe.com/v1/charges", { method: "POST", headers: { "idempotency-key": crypto.randomUUID() } });`,
      ),
      ids: ["chance"],
    },
  },
});
