// The code of docs/flow.md. Every region is one block there.
import { testIdem } from "idem/testing";

const { idem, clock } = testIdem();

/** What the functions did, in order. */
const did: string[] = [];
const work = async (what: string): Promise<string> => {
  did.push(what);
  return what;
};

// #region concurrency
idem.createFunction(
  {
    id: "sync-account",
    concurrency: [
      { limit: 10 }, // ten runs of this function at work
      { limit: 1, key: "event.data.accountId" }, // and one of each account
    ],
  },
  { event: "account/changed" },
  async ({ event, step }) => step.run("pull", () => work(`pull ${event.data.accountId}`)),
);
// #endregion

// #region shared
const openai = { scope: "env", key: '"openai"', limit: 5 } as const;
idem.createFunction({ id: "summarise", concurrency: openai }, { event: "doc/added" }, async () => work("summarise"));
idem.createFunction({ id: "translate", concurrency: openai }, { event: "doc/added" }, async () => work("translate"));
// #endregion

// #region side-by-side
idem.createFunction(
  { id: "resize", concurrency: { limit: 10, parallelSteps: true } },
  { event: "album/uploaded" },
  async ({ event, step }) => {
    const photos: string[] = event.data.photos;
    await Promise.all(photos.map((photo) => step.run(`resize ${photo}`, () => work(`resize ${photo}`))));
  },
);
// #endregion

// #region throttle
idem.createFunction(
  { id: "call-partner", throttle: { limit: 60, period: "1m", burst: 5, key: "event.data.partner" } },
  { event: "order/paid" },
  async ({ event }) => work(`call ${event.data.partner}`),
);
// #endregion

// #region rate-limit
idem.createFunction(
  { id: "warn-customer", rateLimit: { limit: 1, period: "4h", key: "event.data.customerId" } },
  { event: "card/failing" },
  async ({ event }) => work(`warn ${event.data.customerId}`),
);
// #endregion

// #region debounce
idem.createFunction(
  { id: "index-doc", debounce: { period: "30s", timeout: "10m", key: "event.data.docId" } },
  { event: "doc/edited" },
  async ({ event }) => work(`index version ${event.data.version}`),
);
// #endregion

// #region batch
idem.createFunction(
  {
    id: "book-sales",
    idempotency: "event.data.saleId",
    batchEvents: { maxSize: 100, timeout: "1m", key: "event.data.shop", if: "event.data.total < 1000" },
  },
  { event: "shop/sold" },
  async ({ events, step }) => step.run("book", () => work(`book ${events.map(({ data }) => data.saleId)}`)),
);
// #endregion

// #region singleton
idem.createFunction(
  { id: "rebuild-feed", singleton: { mode: "skip", key: "event.data.feed" } },
  { event: "feed/stale" },
  async ({ event, step }) => {
    await step.run("fetch", () => work(`fetch ${event.data.feed}`));
    await step.sleep("be-gentle", "1m");
  },
);
// #endregion

// #region priority
idem.createFunction(
  { id: "render", concurrency: 1, priority: { run: "event.data.plan == 'paid' ? 120 : 0" } },
  { event: "video/uploaded" },
  async ({ event, step }) => step.run("render", () => work(`render ${event.data.plan}`)),
);
// #endregion

// #region cancel-on
idem.createFunction(
  {
    id: "remind",
    cancelOn: [{ event: "order/paid", match: "data.orderId", timeout: "7d" }],
    timeouts: { start: "1h", finish: "30d" },
  },
  { event: "order/placed" },
  async ({ event, step }) => {
    await step.sleep("a-day", "1d");
    await step.run("mail", () => work(`remind ${event.data.orderId}`));
  },
);
// #endregion

/** A bank that never answers: whoever asks it gives up. */
const capture = (order: string, signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    work(`capture ${order}`);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

// #region step-timeout
idem.createFunction(
  { id: "capture", timeouts: { step: "30s" } },
  { event: "card/authorised" },
  async ({ event, step }) => {
    const order = await step.run("load", () => work(`load ${event.data.orderId}`));
    await step.run({ id: "capture", timeout: "2m" }, ({ signal }) => capture(order, signal));
  },
);
// #endregion

// #region cron
idem.createFunction(
  { id: "morning-report" },
  { cron: "TZ=Europe/Paris 0 9 * * MON-FRI", jitter: "2m", missed: "last" },
  async ({ event, step }) => step.run("send", () => work(`report of ${event.data.scheduledAt}`)),
);
// #endregion

// #region explain
const { ids } = await idem.send({ name: "doc/edited", data: { docId: "d-1", version: 1 } });
const { summary } = await idem.explain(ids[0]!);

// …
// now  One event came so far.
// 2026-03-02T10:00:30.000Z  A run of index-doc starts for it, unless another event comes.
// #endregion

export { clock, did, idem, summary };
