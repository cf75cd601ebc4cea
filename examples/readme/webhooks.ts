// docs/webhooks.md
// The code of that page. Every region is one block there.

// #region engine
import { Idem } from "idem";
import { nodeWebhook, stripe, webhook } from "idem/webhooks";

const idem = new Idem({ id: "shop" });

idem.createFunction({ id: "book-payment" }, { event: "stripe/invoice.paid" }, async ({ event, step }) => {
  await step.run("book", () => book(event.data.data.object.id));
});

const receive = webhook({
  source: "stripe",
  provider: stripe({ secrets: [process.env.STRIPE_WEBHOOK_SECRET!] }), // while it rotates: [current, previous]
  idem,
});
// #endregion

// #region mount
// node:http and Express, before express.json(): app.post("/webhooks/stripe", onStripe)
const onStripe = nodeWebhook(receive);

// SvelteKit, AWS Lambda, Bun: export const POST = asHandler(receive), of idem/sveltekit, idem/lambda or idem/bun
// Hono, Next.js and everything else that speaks Fetch: export const POST = receive
const POST = (request: Request): Promise<Response> => receive(request);
// #endregion

// #region transform
const transformed = webhook<{ id: string; type: string; data: { object: { id: string; amount_paid: number } } }>({
  source: "stripe/live",
  provider: stripe({ secrets: [process.env.STRIPE_WEBHOOK_SECRET!] }),
  idem,
  transform: ({ type, data }) =>
    type === "invoice.paid"
      ? { name: "shop/paid", data: { invoice: data.object.id, cents: data.object.amount_paid } }
      : null, // received, and nothing of it is kept
});

// #endregion

// #region database
import { pgAdapter } from "idem/sql";
import { github, webhookProcessor } from "idem/webhooks";
import pg from "pg";

const store = pgAdapter(new pg.Pool({ connectionString: process.env.DATABASE_URL! }));

const onGithub = webhook({
  source: "github",
  provider: github({ secrets: [process.env.GITHUB_WEBHOOK_SECRET!] }),
  store,
});

const processor = webhookProcessor({
  store,
  source: "github",
  processInTransaction: async (tx, event) => {
    await tx.query("insert into pushes (id, repository) values ($1, $2)", [event.id, event.subject]);
  },
});

processor.start();

// #endregion

// #region coalesce
import { genericHmac, type Normalised, type WebhookEvent } from "idem/webhooks";

interface Placement {
  readonly id: number;
  readonly change: "INSERTED" | "UPDATED" | "DELETED";
  readonly fields: readonly string[];
}

const onPlacement = webhook<Placement>({
  source: "ats",
  provider: genericHmac({ secrets: [process.env.ATS_SECRET!], header: "x-ats-signature" }),
  idem,
  normalise: ({ change, fields }): Normalised => ({ type: `placement.${change}`, changed: fields }),
  coalesce: { key: ({ payload }: WebhookEvent<Placement>) => ["placement", payload.id], windowMs: 5_000 },
});

idem.createFunction({ id: "draft-invoice" }, { event: "ats/placement.INSERTED" }, async ({ event, step }) => {
  const { payload, changed, carries } = event.data; // one run, with the ids of all it carries
  await step.run("draft", () => draft(payload.id, changed, carries));
});

// #endregion

// #region bullhorn
import { type BullhornClient, bullhornCoalesce, bullhornPoller } from "idem/webhooks";

const poller = bullhornPoller({
  client: bullhornSession(), // fetch(subscription, maxEvents, requestId?) and lastRequestId(subscription)
  subscription: "placementChanges",
  into: idem, // or an adapter of your database
  coalesce: bullhornCoalesce({ windowMs: 5_000 }),
});

idem.createFunction({ id: "reconcile" }, { event: "bullhorn/events_lost" }, async ({ event, step }) => {
  await step.run("scan", () => scanModifiedSince(event.data.requestId));
});

// #endregion

// #region sign
import { signWebhook } from "idem/webhooks";

async function deliveredTwice(): Promise<boolean> {
  const provider = stripe({ secrets: ["whsec_test"] });
  const shop = webhook({ source: "stripe", provider, idem });
  const sent = JSON.stringify({ id: "evt_1", type: "invoice.paid", data: { object: { id: "in_1" } } });
  await shop(signWebhook(provider, "whsec_test", sent));
  const again = await shop(signWebhook(provider, "whsec_test", sent));
  return again.status === 200 && again.headers.get("idempotent-replayed") === "true";
}
// #endregion

declare function book(invoice: string): Promise<void>;
declare function draft(placement: number, changed: readonly string[], carries: readonly string[]): Promise<void>;
declare function bullhornSession(): BullhornClient;
declare function scanModifiedSince(requestId: number): Promise<void>;

export { deliveredTwice, idem, onGithub, onPlacement, onStripe, POST, poller, processor, transformed };
