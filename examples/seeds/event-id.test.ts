// "Running Functions Safely More Than Once", part 5: an id on send, its window, and the ways to get it wrong.
import { deliverTwice } from "idem/testing";
import { expect, test, vi } from "vitest";
import { openShop } from "./fakes/shop.ts";

function shopWithCheckout() {
  const shop = openShop();
  const { inngest } = shop;
  const confirmed: string[] = [];
  inngest.createFunction({ id: "confirm-checkout" }, { event: "cart/checkout.completed" }, async ({ event, step }) => {
    await step.run("confirm", async () => {
      confirmed.push(event.data.cartId);
    });
  });
  return { ...shop, confirmed };
}

test("a checkout sent twice without an id is two runs", async () => {
  const { inngest, confirmed } = shopWithCheckout();
  await inngest.start();
  for (let click = 1; click <= 2; click++) {
    await inngest.send({
      name: "cart/checkout.completed",
      data: { cartId: "abc123", email: "user@example.com" },
    });
  }
  await inngest.idle();
  expect(confirmed).toEqual(["abc123", "abc123"]);
});

test("a checkout sent twice with an id is one run; the second event is kept in the log and names the first", async () => {
  const { inngest, confirmed } = shopWithCheckout();
  await inngest.start();
  const cartId = "abc123";
  const checkout = () =>
    inngest.send({
      id: `checkout-completed-${cartId}`, // ← idempotency key
      name: "cart/checkout.completed",
      data: { cartId: "abc123", email: "user@example.com" },
    });
  const first = await checkout();
  const second = await checkout();
  await inngest.idle();
  expect(confirmed).toEqual(["abc123"]);
  expect(second.decisions).toMatchObject([{ kind: "duplicate-event", runId: first.decisions[0]!.runId }]);

  const log = await inngest.events.list({ name: "cart/checkout.completed" });
  expect(log).toHaveLength(2);
  expect(log.map(({ duplicateOf }) => duplicateOf).sort()).toEqual([first.decisions[0]!.eventId, null].sort());
});

test("two clicks before either is answered are one run", async () => {
  const { inngest, confirmed } = shopWithCheckout();
  await inngest.start();
  const { started, suppressed } = await deliverTwice(
    inngest,
    { id: "checkout-completed-abc123", name: "cart/checkout.completed", data: { cartId: "abc123" } },
    { how: "at-once" },
  );
  expect(started).toHaveLength(1);
  expect(suppressed).toMatchObject([{ kind: "duplicate-event", runId: started[0] }]);
  expect(confirmed).toEqual(["abc123"]);
});

test("an event id stops the duplicate for every function the event triggers", async () => {
  const { inngest } = shopWithCheckout();
  inngest.createFunction({ id: "update-stock" }, { event: "cart/checkout.completed" }, async () => {});
  await inngest.start();
  const { started, suppressed } = await deliverTwice(
    inngest,
    { id: "checkout-completed-abc123", name: "cart/checkout.completed", data: { cartId: "abc123" } },
    { how: "again" },
  );
  expect(started).toHaveLength(2);
  expect(suppressed.map((decision) => decision.function).sort()).toEqual(["confirm-checkout", "update-stock"]);
});

test.each([
  ["cart/checkout.completed", (cartId: string) => `checkout-completed-${cartId}`],
  ["account/created", (userId: string) => `account-created-${userId}`],
  ["invoice/paid", (invoiceId: string) => `invoice-paid-${invoiceId}`],
])("a good id for %s joins two sends of one entity and keeps two entities apart", async (name, idOf) => {
  const { inngest } = openShop();
  inngest.createFunction({ id: "react" }, { event: name }, async () => {});
  await inngest.start();
  const kinds: string[] = [];
  for (const entity of ["abc123", "abc123", "def456"]) {
    const sent = await inngest.send({ id: idOf(entity), name, data: { entity } });
    kinds.push(sent.decisions[0]!.kind);
  }
  expect(kinds).toEqual(["started", "duplicate-event", "started"]);
});

test("an id is global across event names: a bare cartId used for two events loses the second, visibly", async () => {
  const { inngest, confirmed } = shopWithCheckout();
  const deleted: string[] = [];
  inngest.createFunction({ id: "drop-item" }, { event: "cart/item.deleted" }, async ({ event }) => {
    deleted.push(event.data.cartId);
  });
  await inngest.start();
  const cartId = "abc123";
  const dropped = await inngest.send({ id: cartId, name: "cart/item.deleted", data: { cartId } });
  const checkout = await inngest.send({ id: cartId, name: "cart/checkout.completed", data: { cartId } });
  await inngest.idle();
  expect(deleted).toEqual(["abc123"]);
  expect(confirmed).toEqual([]);
  expect(checkout.decisions.find((decision) => decision.function === "confirm-checkout")).toMatchObject({
    kind: "duplicate-event",
    runId: null,
    firstEventId: dropped.decisions[0]!.eventId,
  });
});

test("an id with the time in it is never a duplicate", async () => {
  const { inngest, clock, confirmed } = shopWithCheckout();
  await inngest.start();
  await inngest.send({ id: `checkout-${Date.now()}`, name: "cart/checkout.completed", data: { cartId: "abc123" } });
  await clock.advance(1);
  await inngest.send({ id: `checkout-${Date.now()}`, name: "cart/checkout.completed", data: { cartId: "abc123" } });
  await inngest.idle();
  expect(confirmed).toHaveLength(2);
});

test("t=0h starts, t=0h again is suppressed, t=25h starts again", async () => {
  const { inngest, clock, confirmed } = shopWithCheckout();
  await inngest.start();
  const send = async () => {
    const sent = await inngest.send({
      id: "checkout-completed-abc123",
      name: "cart/checkout.completed",
      data: { cartId: "abc123" },
    });
    return sent.decisions[0]!.kind;
  };
  expect(await send()).toBe("started");
  expect(await send()).toBe("duplicate-event");
  await clock.advance("25h");
  expect(await send()).toBe("started");
  await inngest.idle();
  expect(confirmed).toHaveLength(2);
});

test("the window ends by itself: a process that only sends, with nobody reaping, is told the same", async () => {
  const { inngest, clock } = shopWithCheckout();
  const send = async () => {
    const sent = await inngest.send({ id: "checkout-completed-abc123", name: "cart/checkout.completed", data: {} });
    return sent.decisions[0]!.kind;
  };
  expect([await send(), await send()]).toEqual(["started", "duplicate-event"]);
  await clock.advance("25h");
  expect(await send()).toBe("started");
});

test("a duplicate does not move the window: t=23h is suppressed, t=25h still starts", async () => {
  const { inngest, clock } = shopWithCheckout();
  await inngest.start();
  const send = () =>
    inngest.send({ id: "checkout-completed-abc123", name: "cart/checkout.completed", data: { cartId: "abc123" } });
  await send();
  await clock.advance("23h");
  expect((await send()).decisions[0]!.kind).toBe("duplicate-event");
  await clock.advance("2h");
  expect((await send()).decisions[0]!.kind).toBe("started");
});

test("an id on only one of two sends deduplicates nothing", async () => {
  const { inngest, confirmed } = shopWithCheckout();
  await inngest.start();
  await inngest.send({ id: "my-key", name: "cart/checkout.completed", data: { cartId: "abc123" } }); // ✅ has id
  await inngest.send({ name: "cart/checkout.completed", data: { cartId: "abc123" } }); // ❌ no id → not deduplicated
  await inngest.idle();
  expect(confirmed).toHaveLength(2);
});

test("an id made once and used for both sends is one run", async () => {
  const { inngest, confirmed } = shopWithCheckout();
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  await inngest.start();
  const cartId = "abc123";
  for (let attempt = 1; attempt <= 2; attempt++) {
    const eventId = `checkout-completed-${cartId}`;
    console.log("Sending event with id:", eventId); // must be identical on both sends
    await inngest.send({ id: eventId, name: "cart/checkout.completed", data: { cartId } });
  }
  await inngest.idle();
  expect(confirmed).toEqual(["abc123"]);
  expect(log.mock.calls[0]).toEqual(log.mock.calls[1]);
  log.mockRestore();
});

test("two runs for one entity are two entries, a retry is one entry with two attempts", async () => {
  const { inngest, clock } = openShop();
  inngest.createFunction({ id: "flaky" }, { event: "cart/checkout.completed" }, async ({ step }) => {
    await step.run("once-in-two", async ({ attempt }) => {
      if (attempt === 1) throw new Error("503");
    });
  });
  await inngest.start();
  await inngest.send({ name: "cart/checkout.completed", data: { cartId: "abc123" } });
  await clock.advanceToEnd();
  const [run, ...others] = await inngest.runs.list({ function: "flaky" });
  expect(others).toEqual([]);
  expect((await inngest.runs.get(run.id))!.timeline[0]!.attempts).toHaveLength(2);
});

test.each([
  {
    id: "payment-<userId>",
    idOf: (userId: string) => `payment-${userId}`,
    second: "duplicate-event",
  },
  {
    id: "payment-<userId>-<paymentIntentId>",
    idOf: (userId: string, paymentIntentId: string) => `payment-${userId}-${paymentIntentId}`,
    second: "started",
  },
  {
    id: "payment-<userId>-<timestamp>",
    idOf: (userId: string, _: string, timestamp: number) => `payment-${userId}-${timestamp}`,
    second: "started",
  },
])("a second payment on the same day under $id: $second", async ({ idOf, second }) => {
  const { inngest, clock } = openShop();
  const paid: string[] = [];
  inngest.createFunction({ id: "pay" }, { event: "payment/requested" }, async ({ event }) => {
    paid.push(event.data.paymentIntentId);
  });
  await inngest.start();
  const pay = (paymentIntentId: string, timestamp: number) =>
    inngest.send({
      id: idOf("usr_1", paymentIntentId, timestamp),
      name: "payment/requested",
      data: { userId: "usr_1", paymentIntentId },
    });
  const morning = clock.now();
  await pay("pi_1", morning);
  await clock.advance("8h");
  const sent = await pay("pi_2", clock.now());
  await inngest.idle();
  expect(sent.decisions[0]!.kind).toBe(second);
  expect(paid).toEqual(second === "started" ? ["pi_1", "pi_2"] : ["pi_1"]);
  if (second === "duplicate-event") expect(sent.decisions[0]!.differs).toEqual(["data.paymentIntentId"]);
  // The same payment delivered again is a duplicate under each of them.
  expect((await pay("pi_1", morning)).decisions[0]!.kind).toBe("duplicate-event");
});
