// "Running Functions Safely More Than Once", part 8: a duplicate e-mail is noticed at once.
import { expect, test } from "vitest";
import { openShop } from "./fakes/shop.ts";

function shopWithSentLog() {
  const shop = openShop();
  const { inngest, db, emailService } = shop;
  const confirmUpgrade = inngest.createFunction(
    { id: "confirm-upgrade" },
    { event: "subscription/upgraded" },
    async ({ event, step }) => {
      return await step.run("send-upgrade-email", async () => {
        // Check before sending
        const alreadySent = await db.emailLog.findOne({
          userId: event.data.userId,
          template: "subscription-upgrade",
          // Only check within a reasonable window to avoid blocking legitimate
          // future emails of the same type
          sentAfter: new Date(Date.now() - 24 * 60 * 60 * 1000).toISOString(),
        });

        if (alreadySent) {
          return { status: "skipped", reason: "already sent within 24h" };
        }

        const result = await emailService.sendUpgradeConfirmation({
          userId: event.data.userId,
          newPlan: event.data.newPlan,
        });

        // Record the send within the same operation
        await db.emailLog.create({
          userId: event.data.userId,
          template: "subscription-upgrade",
          messageId: result.messageId,
          sentAt: new Date().toISOString(),
        });

        return { status: "sent", messageId: result.messageId };
      });
    },
  );
  const upgrade = async (userId: string) => {
    const sent = await inngest.send({ name: "subscription/upgraded", data: { userId, newPlan: "pro" } });
    return (await inngest.runs.wait(sent.decisions[0]!.runId!)).output;
  };
  return { ...shop, confirmUpgrade, upgrade };
}

test("the sent-log answers a second run within 24 hours: one e-mail", async () => {
  const { inngest, clock, upgrade, emailService } = shopWithSentLog();
  await inngest.start();
  expect(await upgrade("usr_1")).toEqual({ status: "sent", messageId: "msg_1" });
  await clock.advance("23h");
  expect(await upgrade("usr_1")).toEqual({ status: "skipped", reason: "already sent within 24h" });
  expect(emailService.sent).toHaveLength(1);
});

test("the sent-log's own window lets a later upgrade of the same kind send again, and never mixes up users", async () => {
  const { inngest, clock, upgrade, db, emailService } = shopWithSentLog();
  await inngest.start();
  await upgrade("usr_1");
  expect(await upgrade("usr_2")).toMatchObject({ status: "sent" });
  await clock.advance("25h");
  expect(await upgrade("usr_1")).toMatchObject({ status: "sent" });
  expect(emailService.sent).toHaveLength(3);
  expect(db.emailLog.rows).toHaveLength(3);
});

test("a function of one e-mail needs only a key: one e-mail per user and plan per 24 hours", async () => {
  const { inngest, clock, emailService } = openShop();
  inngest.createFunction(
    {
      id: "send-upgrade-email",
      // One email per userId+plan combination per 24 hours
      idempotency: "event.data.userId + '-' + event.data.newPlan",
    },
    { event: "subscription/upgraded" },
    async ({ event, step }) => {
      await step.run("send", async () => {
        await emailService.sendUpgradeConfirmation(event.data);
      });
    },
  );
  await inngest.start();
  const upgrade = async (userId: string, newPlan: string) => {
    await inngest.send({ name: "subscription/upgraded", data: { userId, newPlan } });
    await inngest.idle();
    return emailService.sent.length;
  };
  expect(await upgrade("usr_1", "pro")).toBe(1);
  expect(await upgrade("usr_1", "pro")).toBe(1);
  expect(await upgrade("usr_1", "team")).toBe(2);
  expect(await upgrade("usr_2", "pro")).toBe(3);
  await clock.advance("25h");
  expect(await upgrade("usr_1", "pro")).toBe(4);
});
