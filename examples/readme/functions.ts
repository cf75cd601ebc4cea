// docs/functions.md
import { testIdem } from "idem/testing";

/** What the functions did, in order. */
const did: string[] = [];
const bank = {
  charge: async (customer: string, options: { amount?: number; idempotencyKey: string }): Promise<{ id: string }> => {
    did.push(`charge ${customer}`);
    return { id: `ch_${options.idempotencyKey.length > 0 ? customer : "?"}` };
  },
  refund: async (charge: string): Promise<void> => void did.push(`refund ${charge}`),
};
const mail = async (to: string, what: string): Promise<void> => void did.push(`mail ${to}: ${what}`);
const render = async (customer: string): Promise<string> => `${customer}.pdf`;
const openAudit = () => ({ note: (what: string): void => void did.push(`audit: ${what}`) });
const partner = async (url: string): Promise<{ status: number; wait: string | null }> =>
  url.endsWith("gone") ? { status: 410, wait: null } : { status: did.length % 2 === 0 ? 429 : 200, wait: "120" };

const { idem, clock } = testIdem({
  fetch: async ({ headers }) => ({
    status: 200,
    headers: {},
    body: JSON.stringify({ key: headers["idempotency-key"] }),
  }),
});

// #region first
idem.createFunction(
  { id: "bill-customer", idempotency: "event.data.month + '/' + event.data.customer", retries: 3 },
  { event: "month/closed" },
  async ({ event, step, logger }) => {
    const { customer, amount } = event.data;
    const charge = await step.run("charge", ({ key }) => bank.charge(customer, { amount, idempotencyKey: key }));
    logger.info(`charged ${customer}`);
    await step.sleep("let-it-settle", "2d");
    await step.run("send-receipt", () => mail(customer, `receipt ${charge.id}`));
    return { charge: charge.id };
  },
);
// #endregion

// #region two-arguments
idem.createFunction(
  { id: "welcome", triggers: [{ event: "customer/joined" }, { event: "customer/invited", if: "event.data.accepted" }] },
  async ({ event, step }) => step.run("greet", () => mail(event.data.customer, "welcome")),
);
// #endregion

// #region run
idem.createFunction({ id: "invoice-pdf" }, { event: "invoice/wanted" }, async ({ event, step }) => {
  // Arguments after the callback are kept with the step: a person can rerun it with others. The context comes last.
  const pdf = await step.run("render", (customer: string) => render(customer), event.data.customer);
  // An object in place of the id limits how long an attempt may take; the signal tells the callback when it is over.
  await step.run({ id: "upload", timeout: "30s" }, ({ key, attempt, signal }) => {
    signal.throwIfAborted();
    did.push(`upload ${pdf}, attempt ${attempt}, key of ${key.length} characters`);
  });
  return pdf;
});
// #endregion

// #region sleep
idem.createFunction({ id: "trial" }, { event: "trial/started" }, async ({ event, step }) => {
  await step.sleep("first-days", "5d");
  await step.run("remind", () => mail(event.data.customer, "your trial ends soon"));
  await step.sleepUntil("last-day", event.data.endsAt); // a Date, an ISO text or milliseconds
  await step.run("end", () => mail(event.data.customer, "your trial is over"));
});
// #endregion

// #region wait-for-event
idem.createFunction({ id: "chase-payment" }, { event: "invoice/sent" }, async ({ event, step }) => {
  const paid = await step.waitForEvent("wait-for-payment", {
    event: "invoice/paid",
    match: "data.invoice", // the same invoice in both events
    if: "async.data.amount >= event.data.amount", // event is the run's own, async the one that arrives
    timeout: "14d",
  });
  if (paid === null) await step.run("remind", () => mail(event.data.customer, `please pay ${event.data.invoice}`));
  return paid === null ? "reminded" : paid.data.amount;
});
// #endregion

// #region signals
idem.createFunction({ id: "refund" }, { event: "refund/asked" }, async ({ event, step }) => {
  const answer = await step.waitForSignal<{ approved: boolean }>("ask-a-person", {
    signal: `refund-${event.data.charge}`,
    timeout: "3d",
  });
  if (answer === null || !answer.data.approved) return "refused";
  await step.run("refund", () => bank.refund(event.data.charge));
  return "refunded";
});

/** Where a person clicks. From inside a function: step.sendSignal("approve", { signal, data }). */
const approve = (charge: string) => idem.sendSignal({ signal: `refund-${charge}`, data: { approved: true } });
// #endregion

// #region invoke
const taxOf = idem.createFunction({ id: "tax-of", triggers: [] }, async ({ event, step }) =>
  step.run("look-up", () => Math.round(event.data.amount * 0.2)),
);

idem.createFunction({ id: "quote" }, { event: "quote/asked" }, async ({ event, step }) => {
  const tax = await step.invoke("tax", { function: taxOf, data: { amount: event.data.amount }, timeout: "1h" });
  return event.data.amount + tax;
});
// #endregion

// #region send-event
idem.createFunction({ id: "close-month" }, { event: "month/over" }, async ({ event, step }) => {
  const customers = await step.run("list-customers", () => ["ann", "bob"]);
  await step.sendEvent(
    "bill-everybody",
    customers.map((customer) => ({ name: "month/closed", data: { month: event.data.month, customer, amount: 10 } })),
  );
});
// #endregion

// #region fetch
idem.createFunction({ id: "tell-partner" }, { event: "partner/tell" }, async ({ event, step }) => {
  const answer = await step.fetch("post-order", "https://partner.example/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(event.data),
  });
  if (!answer.ok) throw new Error(`the partner answered ${answer.status}`);
  return answer.json();
});
// #endregion

// #region side-by-side
idem.createFunction({ id: "statement" }, { event: "statement/wanted" }, async ({ event, step }) => {
  const parts = await Promise.all([
    step.run("charges", () => ["ch_1"]),
    step.run("refunds", () => []),
    ...event.data.months.map((month: string) => step.run(`usage-${month}`, () => month)), // an id of its own in a loop
  ]);
  const first = await Promise.race([
    step.waitForEvent("read", { event: "statement/read", match: "data.customer", timeout: "30d" }),
    step.sleep("a-week", "7d"),
  ]);
  return { parts, isRead: first !== undefined && first !== null };
});

// #endregion

// #region errors
import { NonRetriableError, RetryAfterError, StepError } from "idem";

idem.createFunction(
  { id: "pull-usage", retries: 5, backoff: (attempt) => attempt * 10_000 },
  { event: "usage/stale" },
  async ({ event, step }) => {
    try {
      await step.run("pull", async () => {
        const { status, wait } = await partner(event.data.url);
        if (status === 410) throw new NonRetriableError("the partner closed this account"); // no other try
        if (status === 429) throw new RetryAfterError("too many requests", wait ?? "1m"); // not before
        if (status !== 200) throw new Error(`the partner answered ${status}`); // tried again after `backoff`
      });
      return "pulled";
    } catch (error) {
      if (!(error instanceof StepError)) throw error; // the step failed for good
      await step.run("give-up", () => mail("ops", `${error.stepId}: ${error.message}`));
      return "given up";
    }
  },
);
// #endregion

// #region on-failure
idem.createFunction(
  {
    id: "charge-card",
    retries: 0,
    cancelOn: [{ event: "order/withdrawn", match: "data.order" }],
    onFailure: async ({ error, event, step }) => {
      const { event: order, run_id } = event.data; // the event the failed run was started by
      await step.run("tell", () => mail(order.data.customer, `${error.message} (run ${run_id.length})`));
    },
    onCancel: async ({ error, event, step }) => {
      await step.run("tell", () => mail(event.data.event.data.customer, error.message));
    },
  },
  { event: "order/placed" },
  async ({ event, step }) => {
    await step.sleep("cool-off", "1h");
    await step.run("charge", () => {
      throw new Error(`card of ${event.data.customer} declined`);
    });
  },
);

// #endregion

// #region middleware
import { Idem, type Middleware } from "idem";

const audited: Middleware = {
  name: "audited",
  transformInput: (input) => ({ ...input, audit: openAudit() }), // what every handler receives beside the rest
  afterStep: ({ function: name }, step, { ok }) => void did.push(`${name} ${step.id} ${ok ? "done" : "failed"}`),
  onSend: (events) => events.map((event: any) => ({ ...event, user: "system" })),
};
const billing = new Idem({ id: "billing", store: "memory:", middleware: [audited], logger: false });
// #endregion

billing.createFunction({ id: "close-books" }, { event: "year/over" }, async ({ step, ...more }) => {
  (more as unknown as { audit: ReturnType<typeof openAudit> }).audit.note("opened");
  await step.run("close", () => null);
});

// #region sending
const { ids, decisions } = await idem.send(
  [
    { name: "month/closed", data: { month: "2030-01", customer: "cleo", amount: 30 } },
    { name: "trial/started", id: "trial-dora", data: { customer: "dora", endsAt: "2030-01-31T09:00:00Z" } },
  ],
  { window: "7d" }, // how long the ids stay taken; "24h" unless told
);
const [billed] = decisions; // { kind: "started", function: "bill-customer", runId, key, windowEndsAt, … }

// #endregion

// #region typed
import { z } from "zod";

const shop = new Idem({
  id: "shop",
  store: "memory:",
  events: { "order/paid": z.object({ orderId: z.string(), total: z.number() }) },
});

// @ts-expect-error total is a number; at run time the same mistake is EVENT_SCHEMA at data.total
const refused = shop.send({ name: "order/paid", data: { orderId: "o-1", total: "10" } });
// #endregion

// #region runs
async function watch(runId: string) {
  const run = await idem.runs.get(runId); // its state, its timeline, what it waits for; null if there is none
  const waiting = await idem.runs.list({ function: "bill-customer", state: "waiting", limit: 20 });
  return { state: run!.state, steps: run!.timeline.map(({ name }) => name), waiting: waiting.length };
}

async function decide(runId: string) {
  const { state, output, error } = await idem.runs.wait(runId, { timeout: "30s" }); // resolves also if it failed
  if (state === "failed") {
    console.error(error!.message);
    await idem.runs.rerun(runId, { fromStep: "send-receipt" }); // keeps what was recorded before that step
  }
  await idem.runs.cancel(runId, { reason: "the customer left" }); // { cancelled: false } if it had ended
  return output;
}
// #endregion

const terminations = process.listeners("SIGTERM");
// #region stop
process.once("SIGTERM", async () => {
  await idem.stop({ grace: "20s" }); // steps that run may end; "10s" unless told
  process.exit(0);
});
// #endregion
for (const each of process.listeners("SIGTERM")) if (!terminations.includes(each)) process.off("SIGTERM", each);

// Whoever waits for it is told.
refused.catch(() => {});

export { approve, billed, billing, clock, decide, did, idem, ids, refused, shop, watch };
