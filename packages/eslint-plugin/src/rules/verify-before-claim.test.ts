import { tell } from "../cases.suite.ts";

tell("verify-before-claim", {
  right: {
    "a signature that is checked first": `export async function POST(request) {
      const event = stripe.webhooks.constructEvent(await request.text(), request.headers.get("stripe-signature"), secret);
      await inngest.send({ id: event.id, name: "stripe/paid", data: event });
    }`,
    "a receiver of Idem's": `import { webhook } from "idem/webhooks"; export const POST = webhook({ source: "stripe", provider, idem });`,
    "a function that receives no webhook": `export async function POST(request) { await inngest.send({ id: "x-1", name: "a/b", data: {} }); }`,
  },
  wrong: {
    "a claim before the signature is checked": {
      code: `export async function POST(request) {
        const body = await request.text();
        await db.processedEvents.insert({ id: JSON.parse(body).id });
        const event = stripe.webhooks.constructEvent(body, request.headers.get("stripe-signature"), secret);
      }`,
      ids: ["before"],
      says: "db.processedEvents.insert comes before stripe.webhooks.constructEvent",
    },
    "an event sent before it, with a comparison of one's own": {
      code: `async function receive(req, res) {
        await inngest.send({ id: req.body.id, name: "a/b", data: req.body });
        if (!timingSafeEqual(expected, given)) return res.status(401).end();
      }`,
      ids: ["before"],
    },
    "a route of webhooks that checks nothing": {
      code: `app.post("/webhooks/stripe", async (req, res) => { await inngest.send({ id: req.body.id, name: "a/b", data: req.body }); res.end(); });`,
      ids: ["never"],
    },
  },
});

tell("verify-before-claim", {
  path: "app/api/webhooks/stripe/route.js",
  right: {
    "a helper that says it verifies": `export async function POST(request) { const event = await verified(request); await inngest.send({ id: event.id, name: "a/b", data: event }); }`,
  },
  wrong: {
    "a file of webhooks that checks nothing": {
      code: `export async function POST(request) { const event = await request.json(); await inngest.send({ id: event.id, name: "a/b", data: event }); }`,
      ids: ["never"],
    },
  },
});
