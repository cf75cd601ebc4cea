// The world of the story: Stripe and the mail provider in one process, the shop in another, and what can be counted afterwards.
import { createKey } from "idem/http";
import { startChild } from "./child.mjs";
import { openDatabase } from "./shop-database.mjs";

const webhookSecret = "whsec_of_the_story";

async function ask(url, body) {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(url, body === undefined ? {} : init);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const text = await answer.text();
  return answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
}

export async function openWorld(folder) {
  const outsideProcess = await startChild(new URL("./outside-process.mjs", import.meta.url), { secret: webhookSecret });
  const outside = `http://127.0.0.1:${outsideProcess.ready.port}`;
  const story = (path, body) => ask(`${outside}/story${path}`, body);
  let port = 0;
  const startShop = () =>
    startChild(new URL("./shop-process.mjs", import.meta.url), { folder, outside, port, webhookSecret });
  let shop = await startShop();
  port = shop.ready.port;
  const url = `http://127.0.0.1:${port}`;
  await story("/tell-at", { url: `${url}/webhooks/stripe` });
  const db = openDatabase(`${folder}/shop.db`);
  const count = (sql) => db.prepare(sql).pluck().get();
  const orders = [];

  return {
    url,
    /** A filled basket each, and the key that the page with the Pay button carries. */
    customers(howMany) {
      const added = Array.from({ length: howMany }, (_, i) => {
        const number = orders.length + i + 1;
        const customer = `cus_${number}`;
        return {
          id: `order-${number}`,
          customer,
          email: `${customer}@example.com`,
          cents: 1_000 + 37 * number,
          key: createKey(),
        };
      });
      const insert = db.prepare("insert into orders (id, customer, email, cents) values (?, ?, ?, ?)");
      for (const { id, customer, email, cents } of added) insert.run(id, customer, email, cents);
      orders.push(...added);
      return added;
    },
    /** What goes wrong for whom, once. */
    plan: (faults) => story("/faults", faults),
    forget: () => story("/forget", {}),
    redeliver: () => story("/redeliver", {}),
    /** What Stripe and the mail provider say happened. */
    outside: () => story("/facts"),
    askStripe: (charge, key) =>
      fetch(`${outside}/stripe/v1/charges`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(charge),
      }).then((answer) => answer.json()),
    backOffice: (path, body) => ask(`${url}/back-office${path}`, body),
    /** What the shop's own tables say. */
    shop: () => ({
      paid: count("select count(*) from orders where state = 'paid'"),
      shipments: count("select count(*) from shipments"),
      shippedTwice: count("select count(*) from (select 1 from shipments group by order_id having count(*) > 1)"),
    }),
    orders: () => orders,
    async killShop() {
      const { pid } = shop;
      await shop.kill();
      return pid;
    },
    async restartShop() {
      shop = await startShop();
      return shop.pid;
    },
    async close() {
      db.close();
      await shop.stop();
      await outsideProcess.kill();
    },
  };
}
