// A Stripe small enough to read. It honours idempotency keys for as long as its memory lasts and takes a forgotten one for a new request;
// it tells of every charge by webhook, signed as the real one signs, at least once. What it did is the story's evidence.
import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import express from "express";
import { memoryMs } from "./charge-later.mjs";

const redeliverEveryMs = 150;

export function fakeStripe({ secret, faults }) {
  const charges = [];
  const events = [];
  const remembered = new Map();
  /** Customers whose charge was asked for again, by its key. */
  const replayed = new Set();
  const counts = { deliveries: 0, deliveriesFailed: 0 };
  let webhookUrl = null;
  // Its clock can be moved: nobody wants to sit through a memory.
  let movedMs = 0;
  const now = () => Date.now() + movedMs;

  /** Until it is taken: a shop that is down gets it later. */
  async function deliver(event) {
    const body = JSON.stringify(event);
    for (;;) {
      const t = Math.floor(Date.now() / 1_000);
      const v1 = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
      const headers = { "content-type": "application/json", "stripe-signature": `t=${t},v1=${v1}` };
      const answer = await fetch(webhookUrl, { method: "POST", headers, body }).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.ok) break;
      counts.deliveriesFailed++;
      await delay(redeliverEveryMs);
    }
    counts.deliveries++;
  }

  function charge({ amount, customer, metadata = {} }) {
    const made = { id: `ch_${charges.length + 1}`, object: "charge", amount, customer, metadata };
    charges.push(made);
    const event = { id: `evt_${made.id}`, type: "charge.succeeded", created: Date.now(), data: { object: made } };
    events.push(event);
    if (webhookUrl !== null) void deliver(event);
    return made;
  }

  const api = express.Router();
  api.use(express.json());
  api.post("/v1/charges", (req, res) => {
    const { customer } = req.body;
    const fault = faults.take(customer);
    if (fault === "lose-request") return res.destroy();
    const key = req.get("idempotency-key");
    const known = remembered.get(key);
    const isReplay = known !== undefined && now() - known.at < memoryMs;
    const made = isReplay ? known.charge : charge(req.body);
    if (isReplay) replayed.add(made.customer);
    else if (key !== undefined) remembered.set(key, { at: now(), charge: made });
    if (fault === "lose-answer") return res.destroy();
    if (fault === "hold-answer") return faults.hold(res);
    res.set("idempotent-replayed", String(isReplay)).status(201).json(made);
  });
  api.get("/v1/charges", (req, res) => {
    res.json(charges.filter(({ metadata }) => metadata.mark === req.query.mark));
  });

  return {
    api,
    /** What the story may do to it. */
    control: {
      tellAt: (url) => {
        webhookUrl = url;
      },
      forget: () => {
        movedMs += memoryMs;
      },
      /** Every event that was told is told again. */
      redeliver: async () => {
        await Promise.all(events.map(deliver));
      },
    },
    facts: () => ({ ...counts, charges, replayed: [...replayed] }),
  };
}
