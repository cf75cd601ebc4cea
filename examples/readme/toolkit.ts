// docs/overview.md
import { createServer } from "node:http";
import { Idem } from "idem";
import { stripe } from "./stripe.ts";

const secrets = ["whsec_test"];
const accountOf = (request: Request): string => request.headers.get("x-account") ?? "";
const idem = new Idem({ id: "shop-api", store: "memory:" });
const file = process.env.SHOP_DB ?? ":memory:";

// #region toolkit
import Database from "better-sqlite3";
import express from "express";
import { idempotent, keepRawBody } from "idem/express";
import { idempotency, sqlKeys } from "idem/http";
import { ensureTables, sqliteAdapter } from "idem/sql";
import { stripe as fromStripe, nodeWebhook, webhook } from "idem/webhooks";

const adapter = sqliteAdapter(new Database(file)); // your database: also pg, postgres.js, Kysely, Drizzle
await ensureTables(adapter); // or: npx idem sql
const keys = idempotency({ keys: sqlKeys(adapter), principal: accountOf });
const app = express().use(express.json({ verify: keepRawBody })); // what is signed and compared is bytes

// A double click, a retry after a timeout: the first answer again, byte for byte. The same key with another body: 422.
app.post("/invoices", idempotent(keys, { onCrash: "park" }), async (req, res) => {
  const key = req.idempotency!.destinationKey("invoice"); // Stripe gets a key too, the same on every attempt
  const invoice = await stripe.invoices.create({ customer: req.body.customer }, { idempotencyKey: key });
  res.status(201).json({ id: invoice.id });
});

// Verified, then kept in one commit with the run it starts, then answered; delivered again within 35 days, it starts nothing.
app.post("/webhooks/stripe", nodeWebhook(webhook({ source: "stripe", provider: fromStripe({ secrets }), idem })));
// #endregion

export const server = createServer(app);
export { idem };
