// "Running Functions Safely More Than Once", part 7: one upgrade, two POST requests, four layers.
import { expect, test } from "vitest";
import { openShop } from "./fakes/shop.ts";

const getPriceIdForPlan = (plan: string) => `price_${plan}`;

function shopWithUpgrades() {
  const shop = openShop();
  const { inngest, db, stripe, emailService } = shop;
  db.subscriptions.rows.push({
    id: "sub_1",
    userId: "usr_1",
    plan: "free",
    status: "active",
    stripeCustomerId: "cus_1",
  });

  // ── Producer: API route ────────────────────────────────────────────────────
  async function POST(request: Request) {
    const { userId, newPlan } = await request.json();

    await inngest.send({
      // Layer 3: event-level deduplication
      // If this exact upgrade fires twice, only the first triggers a function
      id: `subscription-upgraded-${userId}-${newPlan}`,
      name: "subscription/upgraded",
      data: { userId, newPlan, requestedAt: new Date().toISOString() },
    });

    return Response.json({ status: "upgrade queued" });
  }

  // ── Consumer: Inngest function ─────────────────────────────────────────────
  const handleSubscriptionUpgrade = inngest.createFunction(
    {
      id: "handle-subscription-upgrade",
      retries: 3,
      // Layer 4: function-level idempotency (belt and suspenders)
      idempotency: "event.data.userId + '-' + event.data.newPlan",
    },
    { event: "subscription/upgraded" },
    async ({ event, step }) => {
      // Layer 1: step memoisation (automatic)
      // If this step succeeds, it won't re-run on retry within this run

      // Layer 2: idempotent code — upsert instead of insert
      const subscription = await step.run("update-subscription-record", async () => {
        return await db.subscriptions.upsert(
          { userId: event.data.userId }, // conflict target
          { plan: event.data.newPlan, upgradedAt: new Date().toISOString() },
        );
      });

      // Layer 2: idempotency key on external API call
      await step.run("create-stripe-subscription", async () => {
        return await stripe.subscriptions.create(
          {
            customer: subscription.stripeCustomerId,
            items: [{ price: getPriceIdForPlan(event.data.newPlan) }],
          },
          {
            // event.id is unique per event — same key on every retry of this run
            idempotencyKey: `stripe-sub-${event.id}`,
          },
        );
      });

      await step.run("send-upgrade-confirmation", async () => {
        await emailService.sendUpgradeConfirmation({
          userId: event.data.userId,
          newPlan: event.data.newPlan,
        });
      });
    },
  );

  const click = (newPlan = "pro") =>
    POST(
      new Request("https://shop.example/api/upgrade", {
        method: "POST",
        body: JSON.stringify({ userId: "usr_1", newPlan }),
      }),
    );
  return { ...shop, click, handleSubscriptionUpgrade };
}

test("two POST requests, one answered before the other, are one upgrade: one subscription, one e-mail", async () => {
  const { inngest, clock, click, db, stripe, emailService } = shopWithUpgrades();
  await inngest.start();
  const first = await click();
  await clock.advance("2s");
  const second = await click();
  await inngest.idle();

  expect(await first.json()).toEqual({ status: "upgrade queued" });
  expect(await second.json()).toEqual({ status: "upgrade queued" });
  expect(db.subscriptions.rows).toMatchObject([{ userId: "usr_1", plan: "pro" }]);
  expect(stripe.subscriptions.all).toEqual([{ id: "sub_1", customer: "cus_1", items: [{ price: "price_pro" }] }]);
  expect(emailService.sent).toHaveLength(1);
});

test("two POST requests at once are one upgrade", async () => {
  const { inngest, click, stripe, emailService } = shopWithUpgrades();
  await inngest.start();
  await Promise.all([click(), click()]);
  await inngest.idle();
  expect(await inngest.runs.list()).toHaveLength(1);
  expect(stripe.subscriptions.all).toHaveLength(1);
  expect(emailService.sent).toHaveLength(1);
});

test("the first payload wins; the duplicate's decision names the run and lists data.requestedAt as differing", async () => {
  const { inngest, clock, click } = shopWithUpgrades();
  await inngest.start();
  await click();
  await clock.advance("2s");
  await click();
  await inngest.idle();
  const [run] = await inngest.runs.list({ function: "handle-subscription-upgrade" });
  const [second, first] = await inngest.events.list({ name: "subscription/upgraded" });
  expect(second.duplicateOf).toBe(first.internalId);
  expect(second.data).not.toEqual(first.data);
  expect((await inngest.events.get(second.internalId))!.decisions).toMatchObject([
    { kind: "duplicate-event", runId: run.id, differs: ["data.requestedAt"] },
  ]);
});

test("an upgrade to another plan on the same day is another upgrade", async () => {
  const { inngest, click, stripe, emailService } = shopWithUpgrades();
  await inngest.start();
  await click("pro");
  await click("team");
  await inngest.idle();
  expect(stripe.subscriptions.all).toHaveLength(2);
  expect(emailService.sent).toHaveLength(2);
});

test("an e-mail service that is down costs a retry of its own step, not a second subscription", async () => {
  const { inngest, clock, click, stripe, emailService } = shopWithUpgrades();
  await inngest.start();
  emailService.failNext("503");
  await click();
  await clock.advanceToEnd();
  expect(await inngest.runs.list({ state: "completed" })).toHaveLength(1);
  expect(stripe.subscriptions.requestCount).toBe(1);
  expect(emailService.sent).toHaveLength(1);
});

test("a rerun repeats the e-mail, the one step without a key; the record and the subscription converge", async () => {
  const { inngest, click, db, stripe, emailService } = shopWithUpgrades();
  await inngest.start();
  await click();
  await inngest.idle();
  const [run] = await inngest.runs.list();
  const { runId } = await inngest.runs.rerun(run.id);
  expect(await inngest.runs.wait(runId)).toMatchObject({ state: "completed" });
  expect(db.subscriptions.rows).toHaveLength(1);
  expect(stripe.subscriptions.requestCount).toBe(2);
  expect(stripe.subscriptions.all).toHaveLength(1);
  expect(emailService.sent).toHaveLength(2);
});

test.each([
  { layers: "memo and event.id as Stripe's key", id: undefined, idempotency: undefined, count: 2 },
  {
    layers: "and an event id",
    id: "subscription-upgraded-usr_1",
    idempotency: undefined,
    count: 1,
  },
  {
    layers: "and a function key",
    id: undefined,
    idempotency: "event.data.userId + '-upgrade'",
    count: 1,
  },
  {
    layers: "and both",
    id: "subscription-upgraded-usr_1",
    idempotency: "event.data.userId + '-upgrade'",
    count: 1,
  },
])("two sends with $layers: $count run(s), $count subscription(s)", async ({ id, idempotency, count }) => {
  const { inngest, stripe } = openShop();
  inngest.createFunction(
    { id: "upgrade", ...(idempotency === undefined ? {} : { idempotency }) },
    { event: "subscription/upgraded" },
    async ({ event, step }) => {
      await step.run("create-stripe-subscription", () =>
        stripe.subscriptions.create(
          { customer: "cus_1", items: [{ price: "price_pro" }] },
          { idempotencyKey: `stripe-sub-${event.id}` },
        ),
      );
    },
  );
  await inngest.start();
  for (let request = 1; request <= 2; request++) {
    await inngest.send({
      ...(id === undefined ? {} : { id }),
      name: "subscription/upgraded",
      data: { userId: "usr_1" },
    });
  }
  await inngest.idle();
  expect(await inngest.runs.list()).toHaveLength(count);
  expect(stripe.subscriptions.all).toHaveLength(count);
});
