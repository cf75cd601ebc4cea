// docs/quickstarts/coming-from.md
import { testIdem } from "idem/testing";

const { idem, clock } = testIdem();
const did: string[] = [];
const mail = (to: string, what: string): void => void did.push(`${to}: ${what}`);
const charge = async (order: number, key: string): Promise<string> => `ch_${order}_${key.length > 0}`;

// #region bullmq
// queue.add("welcome", { user }, { jobId, delay, attempts: 5 })  and  new Worker("mail", …, { concurrency: 10, limiter })
idem.createFunction(
  {
    id: "welcome",
    idempotency: "event.data.user", // instead of a jobId; the second asker is told which run was first
    retries: 4, // attempts: 5
    concurrency: 10,
    throttle: { limit: 100, period: "1m" }, // limiter: { max: 100, duration: 60_000 }
  },
  { event: "user/joined" },
  async ({ event, step }) => {
    await step.sleep("later", "10m"); // delay, or give the event a `ts`
    await step.run("mail", () => mail(event.data.user, "welcome"));
  },
);
// #endregion

// #region pg-boss
// boss.send("sync", { account }, { singletonKey, retryLimit: 2 })  and  boss.schedule("report", "0 9 * * 1", null, { tz })
idem.createFunction(
  { id: "sync", retries: 2, singleton: { mode: "skip", key: "event.data.account" } },
  { event: "account/changed" },
  async ({ event, step }) => step.run("pull", () => mail(event.data.account, "synced")),
);
idem.createFunction({ id: "report" }, { cron: "TZ=Europe/Paris 0 9 * * 1" }, async ({ step }) =>
  step.run("send", () => mail("team", "report")),
);
// #endregion

// #region temporal
// A workflow with activities, a timer and a signal: the id of the workflow is the function's key.
idem.createFunction(
  { id: "order", idempotency: { key: "event.data.order", window: "until-finished" }, timeouts: { step: "30s" } },
  { event: "order/placed" },
  async ({ event, step }) => {
    const paid = await step.run("charge", ({ key }) => charge(event.data.order, key)); // an activity
    const approval = await step.waitForSignal("approval", { signal: `order-${event.data.order}`, timeout: "7d" });
    if (approval === null) await step.run("refund", () => mail("ops", `refund ${paid}`)); // compensation is code
    return { paid, approved: approval !== null };
  },
);
// #endregion

// #region dbos
// DBOS.startWorkflow(checkout, { workflowID: `order-${id}` })(id): the workflow's id is the key, DBOS.runStep is step.run.
idem.createFunction(
  { id: "checkout", idempotency: "event.data.order" },
  { event: "cart/paid" },
  async ({ event, step }) => {
    const paid = await step.run("charge", ({ key }) => charge(event.data.order, key));
    await step.sleep("a-day", "1d");
    const shipped = await step.waitForEvent("shipped", { event: "order/shipped", match: "data.order", timeout: "30d" });
    return { paid, shipped: shipped !== null };
  },
);

// #endregion

export { clock, did, idem };
