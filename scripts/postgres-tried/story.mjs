// A short story through an address: two nodes, events that come twice, steps, sleeps, waits, a limit and a step that is a transaction.
// Everything has to happen once, and a run that one node accepted may be executed by the other.
import { setTimeout as delay } from "node:timers/promises";
import { Idem } from "../../packages/idem/dist/index.js";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const orders = 25;
const patienceMs = 60_000;

function node(url, done, said) {
  // That the machine is busy says nothing about the server.
  const say = (...words) => /took \d+ s to answer/.test(String(words[0])) || said.add(words.map(String).join(" "));
  const logger = { ...quiet, warn: say, error: say };
  const idem = new Idem({ id: "shop", store: url, logger });
  idem.createFunction(
    { id: "charge", idempotency: "event.data.order", concurrency: { limit: 5 } },
    { event: "order/paid" },
    async ({ event, step }) => {
      const { order } = event.data;
      await step.run("charge", () => void done.push(`charge ${order}`));
      await step.transaction("book", async (tx) => {
        await tx.query("insert into tried_bookings (n) values ($1)", [order]);
      });
      await step.sleep("cool-off", 10);
      const cleared = await step.waitForEvent("cleared", {
        event: "order/cleared",
        timeout: "1h",
        match: "data.order",
      });
      await step.run("ship", () => void done.push(`ship ${order}`));
      return cleared?.data.order ?? null;
    },
  );
  return idem;
}

/** Throws what was wrong; answers with what was seen. */
export async function tellStory(url, admin) {
  await admin.query("drop table if exists tried_bookings");
  await admin.query("create table tried_bookings (n int)");
  const done = [];
  const said = new Set();
  const nodes = [node(url, done, said), node(url, done, said)];
  try {
    for (const idem of nodes) await idem.start();
    const sendAll = (name) =>
      Promise.all(
        Array.from({ length: orders * 2 }, (_, n) =>
          nodes[n % 2].send({
            name,
            data: { order: n >> 1 },
            ...(name === "order/cleared" ? { id: `cleared ${n >> 1}` } : {}),
          }),
        ),
      );
    const sent = await sendAll("order/paid");
    const runIds = new Set(sent.flatMap(({ decisions }) => decisions.map(({ runId }) => runId)));
    must(runIds.size === orders, `${runIds.size} runs for ${orders} orders that came twice`);
    await until(async () => (await nodes[0].runs.list({ state: "waiting", limit: 100 })).length === orders, "all wait");
    await sendAll("order/cleared");
    const ended = await Promise.all([...runIds].map((runId) => nodes[0].runs.wait(runId)));
    must(
      ended.every(({ state }) => state === "completed"),
      `a run ended as ${ended.find(({ state }) => state !== "completed")?.state}`,
    );
    must(done.length === orders * 2 && new Set(done).size === orders * 2, `${done.length} steps for ${orders * 2}`);
    const { rows } = await admin.query(
      "select count(*)::int as all, count(distinct n)::int as each from tried_bookings",
    );
    must(rows[0].all === orders && rows[0].each === orders, `${rows[0].all} bookings for ${orders}`);
    must(said.size === 0, `it was said: ${[...said].join(" | ")}`);
  } finally {
    await Promise.all(nodes.map((idem) => idem.stop()));
  }
  return `${orders} orders sent twice to two nodes: each once`;
}

export function must(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}

export async function until(holds, what) {
  const untilMs = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`${what}: not within ${patienceMs / 1_000} s`);
    await delay(50);
  }
}
