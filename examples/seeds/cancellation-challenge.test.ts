// "Running Functions Safely More Than Once", the hands-on challenge: four effects of one cancellation, each safe to repeat.
import { NonRetriableError } from "idem";
import { deliverTwice } from "idem/testing";
import { expect, test } from "vitest";
import type { Subscription } from "./fakes/db.ts";
import { MirroredTable } from "./fakes/mirrored-table.ts";
import { PermissionsService } from "./fakes/permissions-service.ts";
import { openShop } from "./fakes/shop.ts";

const active: Subscription = {
  id: "sub_1",
  userId: "usr_1",
  plan: "pro",
  status: "active",
  stripeCustomerId: "cus_1",
};

function shopWithCancellations() {
  const shop = openShop();
  const { inngest, emailService } = shop;
  const db = { ...shop.db, subscriptions: new MirroredTable<Subscription>([{ ...active }]) };
  const permissionsService = new PermissionsService(["usr_1", "usr_2"]);

  const handleSubscriptionCancelled = inngest.createFunction(
    {
      id: "handle-subscription-cancelled",
      retries: 3,
      // Function-level deduplication: only run once per subscription per 24h
      idempotency: "event.data.subscriptionId",
    },
    { event: "user/subscription.cancelled" },
    async ({ event, step }) => {
      // Step 1: Upsert the cancellation status — idempotent by nature
      const subscription = await step.run("update-subscription-status", async () => {
        return await db.subscriptions.upsert(
          { id: event.data.subscriptionId },
          {
            status: "cancelled",
            cancelledAt: event.data.cancelledAt,
            cancellationReason: event.data.reason,
          },
        );
      });

      if (!subscription) {
        throw new NonRetriableError(`Subscription ${event.data.subscriptionId} not found`);
      }

      // Step 2: Revoke access — most permissions services are idempotent for revoke
      // (revoking already-revoked access is a no-op)
      await step.run("revoke-access", async () => {
        await permissionsService.revoke({
          userId: event.data.userId,
          // Using event.id ensures the same revocation key on every retry
          idempotencyKey: `revoke-${event.id}`,
        });
      });

      // Step 3: Send cancellation email — check sent log to prevent duplicates
      await step.run("send-cancellation-email", async () => {
        const alreadySent = await db.emailLog.findOne({
          userId: event.data.userId,
          template: "subscription-cancelled",
          subscriptionId: event.data.subscriptionId,
        });

        if (alreadySent) return { status: "already-sent" };

        const result = await emailService.sendCancellationConfirmation({
          to: event.data.userEmail,
          subscriptionId: event.data.subscriptionId,
        });

        await db.emailLog.create({
          userId: event.data.userId,
          template: "subscription-cancelled",
          subscriptionId: event.data.subscriptionId,
          messageId: result.messageId,
          sentAt: new Date().toISOString(),
        });

        return { status: "sent", messageId: result.messageId };
      });

      // Step 4: Create win-back task — upsert to avoid duplicate tasks
      await step.run("create-winback-task", async () => {
        const dueDate = new Date();
        dueDate.setDate(dueDate.getDate() + 7);

        await db.tasks.upsert(
          {
            type: "winback",
            userId: event.data.userId,
            subscriptionId: event.data.subscriptionId,
          },
          {
            dueAt: dueDate.toISOString(),
            status: "pending",
            createdAt: new Date().toISOString(),
          },
        );
      });

      return {
        status: "cancellation processed",
        subscriptionId: event.data.subscriptionId,
      };
    },
  );

  const cancelled = {
    name: "user/subscription.cancelled",
    data: {
      subscriptionId: "sub_1",
      userId: "usr_1",
      userEmail: "user@example.com",
      cancelledAt: "2026-01-01T00:00:00.000Z",
      reason: "too expensive",
    },
  };
  return { ...shop, db, permissionsService, handleSubscriptionCancelled, cancelled };
}

test.each(["again", "at-once"] as const)(
  "a cancellation delivered twice (%s) has its four effects once",
  async (how) => {
    const { inngest, cancelled, db, permissionsService, emailService } = shopWithCancellations();
    await inngest.start();
    const { started, suppressed } = await deliverTwice(inngest, cancelled, { how });

    expect(started).toHaveLength(1);
    expect(suppressed).toMatchObject([{ kind: "duplicate-key", key: '"sub_1"', runId: started[0] }]);
    expect(await inngest.runs.wait(started[0])).toMatchObject({
      state: "completed",
      output: { status: "cancellation processed", subscriptionId: "sub_1" },
    });
    expect(db.subscriptions.rows).toMatchObject([{ status: "cancelled", cancellationReason: "too expensive" }]);
    expect([...permissionsService.granted]).toEqual(["usr_2"]);
    expect(permissionsService.keys).toHaveLength(1);
    expect(emailService.sent).toHaveLength(1);
    expect(db.tasks.rows).toMatchObject([{ type: "winback", dueAt: "2026-01-08T00:00:00.000Z" }]);
  },
);

test("a webhook that comes back 25 hours later runs again, and the sent-log still holds the e-mail to one", async () => {
  const { inngest, clock, cancelled, db, permissionsService, emailService } = shopWithCancellations();
  await inngest.start();
  await inngest.send(cancelled);
  await clock.advance("25h");
  const late = await inngest.send(cancelled);
  expect(late.decisions).toMatchObject([{ kind: "started" }]);
  const { runId } = late.decisions[0]!;
  expect(await inngest.runs.wait(runId!)).toMatchObject({ state: "completed" });

  const step = (await inngest.runs.get(runId!))!.timeline.find(({ name }) => name === "send-cancellation-email");
  expect(step!.output).toEqual({ status: "already-sent" });
  expect(emailService.sent).toHaveLength(1);
  expect(db.subscriptions.rows).toHaveLength(1);
  expect([...permissionsService.granted]).toEqual(["usr_2"]);
  expect(db.tasks.rows).toHaveLength(1);
});

test("a rerun repeats the revocation under the same event.id, sends no second e-mail and adds no second task", async () => {
  const { inngest, cancelled, db, permissionsService, emailService } = shopWithCancellations();
  await inngest.start();
  const sent = await inngest.send(cancelled);
  await inngest.idle();
  const { runId } = await inngest.runs.rerun(sent.decisions[0]!.runId!);
  expect(await inngest.runs.wait(runId)).toMatchObject({ state: "completed" });
  expect(permissionsService.keys).toHaveLength(2);
  expect(new Set(permissionsService.keys).size).toBe(1);
  expect(emailService.sent).toHaveLength(1);
  expect(db.tasks.rows).toHaveLength(1);
});

test("a task table that is down for a moment costs one step's retry: nothing before it happens again", async () => {
  const { inngest, clock, cancelled, db, permissionsService, emailService } = shopWithCancellations();
  await inngest.start();
  db.tasks.failNextWrite("connection reset");
  const sent = await inngest.send(cancelled);
  await clock.advanceToEnd();
  expect(await inngest.runs.wait(sent.decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  expect(permissionsService.keys).toHaveLength(1);
  expect(emailService.sent).toHaveLength(1);
  expect(db.tasks.rows).toHaveLength(1);
});

test("a subscription that is not found fails the run at once: NonRetriableError, no retry, no effect", async () => {
  const { inngest, cancelled, db, permissionsService, emailService } = shopWithCancellations();
  await inngest.start();
  const sent = await inngest.send({ ...cancelled, data: { ...cancelled.data, subscriptionId: "sub_404" } });
  // Not one tick of the clock: a retry would still be waiting for its time.
  await inngest.idle();
  expect(await inngest.runs.get(sent.decisions[0]!.runId!)).toMatchObject({
    state: "failed",
    error: { name: "NonRetriableError", message: "Subscription sub_404 not found" },
  });
  expect(permissionsService.keys).toEqual([]);
  expect(emailService.sent).toEqual([]);
  expect(db.tasks.rows).toEqual([]);
});
