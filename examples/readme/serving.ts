// docs/serving.md

// #region serving
import { createServer } from "node:http";
import { Idem } from "idem";
import { serve } from "idem/node";
import { stripe } from "./stripe.ts";

const idem = new Idem({ id: "shop" });
idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "placement/made" },
  async ({ step }) =>
    step.run("create-draft", ({ key }) => stripe.invoices.create({ customer: "cus_1" }, { idempotencyKey: key })),
);

createServer(serve(idem)).listen(3000);

// #endregion

// #region shared
import { pgAdapter } from "idem/sql";
import { sqlCalls } from "idem/toolkit";
import pg from "pg";

const adapter = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL }));

export const handler = serve(idem, { seenCalls: sqlCalls(adapter) });
// #endregion
