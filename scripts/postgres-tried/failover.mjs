// A standby takes over from a primary that was killed, while two nodes work over both addresses and a sender goes on sending.
//
//   synchronous    what was acknowledged is there, and what was recorded is not done again
//   asynchronous   the standby fell behind before the kill: what was acknowledged meanwhile is gone, as the nodes said when they started
//
// In both, what the nodes say about lost writes is compared with what is lost: nothing, or each node once and one alert.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Idem } from "../../packages/idem/dist/index.js";
import { startVersion } from "./servers.mjs";
import { must, until } from "./story.mjs";

const ordersBefore = 60;
const ordersAfter = 20;
// A heartbeat, and the look at acknowledged ids a while behind it.
const reportedMs = 10_000;

export async function failOver(major, { isSynchronous }) {
  const primary = await startVersion(major);
  try {
    const standby = await primary.addStandby({ isAwaited: isSynchronous, takesOver: true });
    return await play(primary, standby, isSynchronous);
  } finally {
    await primary.remove();
  }
}

async function play(primary, standby, isSynchronous) {
  const portOf = (url) => new URL(url).port;
  const url = `postgres://idem:idem@127.0.0.1:${portOf(primary.url)},127.0.0.1:${portOf(standby.url)}/postgres`;
  const entered = [];
  const said = new Set();
  const reports = [];
  const node = () => {
    const say = (line) => said.add(String(line));
    const logger = { debug() {}, info() {}, warn: say, error: say };
    const idem = new Idem({ id: "shop", store: url, logger });
    const own = [];
    reports.push(own);
    idem.on("store.rolled-back", ({ missing }) => own.push(missing));
    idem.createFunction(
      { id: "charge", idempotency: "event.data.order" },
      { event: "order/paid" },
      async ({ event, step }) => {
        const { order } = event.data;
        await step.run("charge", () => void entered.push(`charge ${order}`));
        await step.run("ship", () => void entered.push(`ship ${order}`));
        return order;
      },
    );
    return idem;
  };
  const nodes = [node(), node()];
  try {
    for (const idem of nodes) await idem.start();
    const saidAtStart = [...said];
    must(
      isSynchronous === !saidAtStart.some((line) => /asynchronous/.test(line)),
      `at start was said: ${saidAtStart.join(" | ") || "nothing"}`,
    );
    const acked = new Set();
    const send = async (order) => {
      const name = "order/paid";
      const { decisions } = await nodes[order % 2].send({ name, id: `order ${order}`, data: { order } });
      acked.add(order);
      return decisions[0].runId;
    };
    const early = await Promise.all(range(0, ordersBefore / 2).map(send));
    await Promise.all(early.map((runId) => nodes[0].runs.wait(runId)));
    if (!isSynchronous) await standby.stop();
    // One behind the other from each of three senders, so that the primary is killed in the middle of what they do.
    const sending = inTurn(3, range(ordersBefore / 2, ordersBefore), (order) => send(order));
    sending.catch(() => {});
    if (isSynchronous) await until(() => acked.size > ordersBefore * 0.7, "some are acknowledged");
    else await sending;
    await primary.crash();
    const ackedBefore = new Set(acked);
    const enteredBefore = entered.length;
    if (!isSynchronous) await standby.start();
    await standby.promote();
    await sending;
    await Promise.all(range(ordersBefore, ordersBefore + ordersAfter).map(send));
    const stored = async () => new Set((await nodes[0].runs.list({ limit: 500 })).map(({ key }) => Number(key)));
    const open = async () =>
      (
        await Promise.all(["queued", "running", "waiting"].map((state) => nodes[0].runs.list({ state, limit: 100 })))
      ).flat();
    await until(async () => (await open()).length === 0, "every run ends");
    const there = await stored();
    const missing = [...ackedBefore].filter((order) => !there.has(order));
    const again = entered.filter((what, at) => {
      const order = what.split(" ")[1];
      return (
        what.startsWith("charge") && entered.indexOf(`ship ${order}`) !== -1 && entered.indexOf(`ship ${order}`) < at
      );
    });
    await delay(reportedMs);
    const alerts = await readAlerts(standby.url);
    if (isSynchronous) {
      must(reports.flat().length === 0 && alerts.length === 0, `lost writes were reported: ${JSON.stringify(reports)}`);
      must(missing.length === 0, `${missing.length} acknowledged events are not there: ${missing.slice(0, 5)}`);
      must(again.length === 0, `recorded steps were entered again: ${again.slice(0, 5)}`);
      const shipped = [...acked].filter((order) => entered.includes(`ship ${order}`));
      must(shipped.length === acked.size, `${acked.size - shipped.length} acknowledged orders were never shipped`);
      return `${ackedBefore.size} acknowledged and ${enteredBefore} steps entered before the kill, ${acked.size - ackedBefore.size} acknowledged after: nothing lost, nothing reported as lost, nothing recorded done again`;
    }
    must(missing.length > 0, "the standby had not fallen behind");
    must(
      reports.every((own) => own.length === 1),
      `each node reports it once, not ${reports.map((own) => own.length)} times`,
    );
    must(alerts.length === 1, `there is one alert, not ${alerts.length}`);
    const known = new Set(reports.flat(2)).size;
    // What is sent again is new there, and starts once.
    await Promise.all(
      missing.map((order) => nodes[0].send({ name: "order/paid", id: `order ${order}`, data: { order } })),
    );
    await until(async () => (await open()).length === 0, "every run ends");
    const after = await stored();
    must(
      missing.every((order) => after.has(order)),
      "what was sent again is there",
    );
    return `the standby was away before the kill: ${missing.length} of ${ackedBefore.size} acknowledged events were lost, as said at start; each node reported it once, in one alert with ${known} ids of events and run ends; sent again, each ran`;
  } finally {
    await Promise.all(nodes.map((idem) => idem.stop()));
  }
}

async function readAlerts(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select id, state from idem.alerts where kind = 'store-rollback'");
  await client.end();
  return rows;
}

const range = (from, to) => Array.from({ length: to - from }, (_, n) => from + n);

async function inTurn(senders, orders, send) {
  const left = [...orders];
  const one = async () => {
    for (let order = left.shift(); order !== undefined; order = left.shift()) await send(order);
  };
  await Promise.all(Array.from({ length: senders }, one));
}
