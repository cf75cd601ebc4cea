// docs/testing.md
import { Idem } from "idem";

// A module of an application, as tests find it.
const carts: string[] = [];
const paid: string[] = [];
function defineFunctions(client: Idem) {
  const confirm = client.createFunction(
    { id: "confirm", idempotency: "event.data.cartId" },
    [{ event: "cart/paid" }, { event: "cart/changed" }],
    async ({ event, step }) => {
      const charge = await step.run("charge", () => {
        paid.push(String(event.data.cartId));
        return { id: `ch_${event.data.cartId}` };
      });
      await step.sleep("cool-off", "1h");
      const opened = await step.waitForEvent("opened", { event: "mail/opened", timeout: "3d" });
      return { charge: charge.id, opened: opened !== null };
    },
  );
  const feedback = client.createFunction({ id: "ask-feedback" }, { event: "cart/shipped" }, async ({ event, step }) => {
    await step.sleep("a-week", "7d");
    await step.run("ask", () => void carts.push(String(event.data.cartId)));
  });
  const stock = client.createFunction({ id: "ask-stock" }, { event: "stock/asked" }, async ({ step }) => {
    const answer = await step.fetch("ask", "https://stock.example/items");
    return answer.status === 200 ? await answer.json() : "nobody knows";
  });
  return { confirm, feedback, stock };
}

// #region twice
import { deliverTwice, testIdem } from "idem/testing";
import { expect, test } from "vitest";

test("a cart that is paid twice is charged once", async () => {
  const { idem } = testIdem(); // a store in memory, a clock that moves when told
  defineFunctions(idem);
  await idem.start();

  const event = { name: "cart/paid", data: { cartId: 1 } };
  const { started, suppressed } = await deliverTwice(idem, event, { how: "at-once" });

  expect(started).toHaveLength(1);
  expect(suppressed).toMatchObject([{ kind: "duplicate-key", runId: started[0] }]);
  expect(paid).toEqual(["1"]);
  await idem.stop();
});

// #endregion

// #region time
test("feedback is asked for a week after shipping, once, also if the process was replaced meanwhile", async () => {
  const { idem, clock, client } = testIdem();
  defineFunctions(idem);
  await idem.start();
  await idem.send({ name: "cart/shipped", data: { cartId: 2 } });

  await clock.advance("6d"); // what comes due on the way happens, in order
  expect(carts).toEqual([]);
  await idem.stop();

  const next = client(); // another process: the same store, the same clock
  defineFunctions(next);
  await next.start();
  await clock.advance("1d");
  expect(carts).toEqual(["2"]);

  await clock.advanceToEnd(); // until nothing is left that waits for a time
  expect(carts).toEqual(["2"]);
  await next.stop();
});

// #endregion

// #region window
test("the day after tomorrow the same cart may be paid again", async () => {
  const { idem, clock } = testIdem();
  defineFunctions(idem);
  await idem.start();
  const event = { name: "cart/paid", data: { cartId: 5 } };
  await deliverTwice(idem, event, { how: "under-another-name", secondName: "cart/changed" });

  await clock.advance("25h"); // the key's window of 24 h is over
  const { decisions } = await idem.send(event);
  expect(decisions[0]!.kind).toBe("started");
  await idem.stop();
});

// #endregion

// #region execute
import { execute } from "idem/testing";

test("a confirmed cart says whether its mail was opened", async () => {
  const { confirm } = defineFunctions(new Idem({ id: "shop", store: "memory:" })); // not started: nothing of it runs
  const { state, output, timeline } = await execute(confirm, {
    event: { data: { cartId: 3 } },
    steps: { charge: { id: "ch_fake" }, opened: { name: "mail/opened", data: {} } },
  });
  expect(state).toBe("completed");
  expect(output).toEqual({ charge: "ch_fake", opened: true });
  expect(timeline.map(({ name }) => name)).toEqual(["charge", "cool-off", "opened"]); // the hour took no time
});

test("a charge that fails twice is charged by the third attempt", async () => {
  const { confirm } = defineFunctions(new Idem({ id: "shop", store: "memory:" }));
  let attempts = 0;
  const charge = () => {
    attempts++;
    if (attempts < 3) throw new Error("declined");
    return { id: "ch_fake" };
  };
  const { output } = await execute(confirm, { event: { data: { cartId: 4 } }, steps: { charge, opened: null } });
  expect(output).toEqual({ charge: "ch_fake", opened: false });
});

// #endregion

// #region fetch
test("stock is asked over HTTP", async () => {
  const { stock } = defineFunctions(new Idem({ id: "shop", store: "memory:" }));
  const { output } = await execute(stock, {
    event: {},
    fetch: async ({ url }) => ({ status: 200, headers: {}, body: JSON.stringify([url]) }),
  });
  expect(output).toEqual(["https://stock.example/items"]);
});
// #endregion
