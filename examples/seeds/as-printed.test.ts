// The articles' client as they would write it, on the default store: `new Idem({ id })`, real time, a file.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Idem, NonRetriableError } from "idem";
import { expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { EmailService } from "./fakes/email-service.ts";
import { Stripe } from "./fakes/stripe.ts";

async function storeInNewFolder(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "idem-seeds-"));
  vi.stubEnv("IDEM_STORE", `sqlite:${join(folder, "shop.db")}`);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  });
}

test("new Idem({ id }) runs a checkout sent five times once, and still after a restart", async () => {
  await storeInNewFolder();
  const emailService = new EmailService();
  const shop = () => {
    const inngest = new Idem({ id: "shop" });
    inngest.createFunction(
      { id: "send-checkout-email", idempotency: "event.data.cartId" },
      { event: "cart/checkout.completed" },
      async ({ event, step }) => {
        await step.run("send-email", async () => {
          await emailService.sendOrderConfirmation({ to: event.data.email, cartId: event.data.cartId });
        });
      },
    );
    return inngest;
  };
  const checkout = { name: "cart/checkout.completed", data: { cartId: "abc123", email: "user@example.com" } };

  const before = shop();
  await before.start();
  const first = await before.send(checkout);
  for (let again = 2; again <= 5; again++) await before.send(checkout);
  await before.runs.wait(first.decisions[0]!.runId!);
  await before.stop();

  const after = shop();
  await after.start();
  const late = await after.send(checkout);
  await after.idle();
  expect(late.decisions).toMatchObject([{ kind: "duplicate-key", runId: first.decisions[0]!.runId }]);
  await after.stop();
  expect(emailService.sent).toHaveLength(1);
});

test("a function thrown out by NonRetriableError has failed on the default store too", async () => {
  await storeInNewFolder();
  const inngest = new Idem({ id: "shop" });
  inngest.createFunction({ id: "find" }, { event: "user/subscription.cancelled" }, async ({ event }) => {
    throw new NonRetriableError(`Subscription ${event.data.subscriptionId} not found`);
  });
  await inngest.start();
  onTestFinished(() => inngest.stop());
  const sent = await inngest.send({ name: "user/subscription.cancelled", data: { subscriptionId: "sub_404" } });
  expect(await inngest.runs.wait(sent.decisions[0]!.runId!)).toMatchObject({
    state: "failed",
    error: { name: "NonRetriableError", message: "Subscription sub_404 not found" },
  });
});

test("a step's value has its callback's type as JSON carries it, and a schema types the event", async () => {
  const stripe = new Stripe(() => 0);
  const inngest = new Idem({
    id: "shop",
    store: "memory:",
    events: { "payment/requested": z.object({ userId: z.string(), amountCents: z.number() }) },
  });
  inngest.createFunction({ id: "typed" }, { event: "payment/requested" }, async ({ event, step }) => {
    expectTypeOf(event.data).toEqualTypeOf<{ userId: string; amountCents: number }>();
    const charge = await step.run("charge-card", async () => {
      return await stripe.charges.create({ amount: event.data.amountCents, currency: "usd", source: "tok_visa" });
    });
    expectTypeOf(charge.id).toEqualTypeOf<string>();
    // @ts-expect-error a charge has no such field
    charge.chargeId;
    const times = await step.run("times", async () => ({ at: new Date(0), until: undefined as Date | undefined }));
    expectTypeOf(times).toEqualTypeOf<{ at: string; until: string | undefined }>();
    const nothing = await step.run("nothing", async () => {
      await stripe.customers.list({ email: "user@example.com", limit: 1 });
    });
    expectTypeOf(nothing).toEqualTypeOf<null>();
    return [charge.amount, times.at, nothing];
  });
  await inngest.start();
  onTestFinished(() => inngest.stop());
  // @ts-expect-error amountCents is missing
  await expect(inngest.send({ name: "payment/requested", data: { userId: "usr_1" } })).rejects.toThrow("amountCents");
  const sent = await inngest.send({ name: "payment/requested", data: { userId: "usr_1", amountCents: 9900 } });
  expect(await inngest.runs.wait(sent.decisions[0]!.runId!)).toMatchObject({
    state: "completed",
    output: [9900, "1970-01-01T00:00:00.000Z", null],
  });
});
