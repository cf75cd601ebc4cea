// docs/agents.md
import { deliverTwice, execute, testIdem } from "idem/testing";

/** The payment provider of the page: keeps what it was asked for under its key. */
const charges = new Map<string, { id: string }>();
const payments = {
  charge: async (order: string, cents: number, options: { idempotencyKey: string; signal: AbortSignal }) => {
    options.signal.throwIfAborted();
    const charge = charges.get(options.idempotencyKey) ?? { id: `ch_${order}_${cents}` };
    charges.set(options.idempotencyKey, charge);
    return charge;
  },
};
const mails: string[] = [];
const mail = async (to: string, text: string): Promise<void> => void mails.push(`${to}: ${text}`);

// #region whole
import { Idem, NonRetriableError, RetryAfterError, StepError } from "idem";
import { z } from "zod";

export const events = {
  "order/placed": z.object({ orderId: z.string(), cents: z.number(), email: z.string() }),
  "order/shipped": z.object({ orderId: z.string() }),
  "warehouse/pick": z.object({ orderId: z.string() }),
};

/** Functions are defined on a client that is handed in: the application's, or a test's. */
export function defineShop(idem: Idem<typeof events>) {
  const charge = idem.createFunction(
    { id: "charge-order", triggers: [], idempotency: "event.data.orderId", retries: 5, timeouts: { step: "30s" } },
    async ({ event, step }) => {
      const { orderId, cents } = event.data;
      if (cents <= 0) throw new NonRetriableError("nothing to charge"); // no retry can help
      return step.run("charge", async ({ key, signal }) => {
        try {
          return await payments.charge(orderId, cents, { idempotencyKey: key, signal }); // key: the same on every attempt
        } catch (error) {
          if ((error as { status?: number }).status === 429) throw new RetryAfterError("busy", "1m");
          throw error; // tried again
        }
      });
    },
  );

  idem.createFunction(
    {
      id: "fulfil-order",
      idempotency: "event.data.orderId", // one run for an order, whoever sends the event how often
      concurrency: { limit: 20 },
      onFailure: async ({ error, event, step }) => {
        await step.run("tell", () => mail("ops", `${event.data.event.data.orderId}: ${error.message}`));
      },
    },
    { event: "order/placed" },
    async ({ event, step, logger }) => {
      const { orderId, cents, email } = event.data;
      try {
        await step.invoke("charge", { function: charge, data: { orderId, cents } });
      } catch (error) {
        if (!(error instanceof StepError)) throw error; // never swallow what is not a step's failure
        await step.run("decline", () => mail(email, "your card was declined"));
        return "declined";
      }
      await step.sendEvent("tell-warehouse", { name: "warehouse/pick", data: { orderId } });
      const shipped = await step.waitForEvent("shipped", {
        event: "order/shipped",
        match: "data.orderId",
        timeout: "14d",
      });
      logger.info(shipped === null ? "never shipped" : "shipped");
      await step.run("mail", () => mail(email, shipped === null ? "we are late" : "it is on its way"));
      return shipped === null ? "late" : "shipped";
    },
  );

  return { charge };
}
// #endregion

// #region app
export async function startShop() {
  const idem = new Idem({ id: "shop", events }); // the id never changes: it is part of every function's name
  defineShop(idem);
  await idem.start(); // opens .idem/shop.db (or IDEM_STORE) and executes
  process.once("SIGTERM", () => idem.stop());
  return idem;
}

// #endregion

// #region tests
import { expect, test } from "vitest";

test("an order that is delivered twice is charged once", async () => {
  const { idem, clock } = testIdem({ events }); // a store in memory, a clock that moves when told
  defineShop(idem);
  await idem.start();
  const order = { name: "order/placed", data: { orderId: "o-1", cents: 900, email: "ann@example.com" } } as const;
  const { started, suppressed } = await deliverTwice(idem, order, { how: "at-once" });
  expect(started).toHaveLength(1);
  expect(suppressed[0]).toMatchObject({ kind: "duplicate-key", runId: started[0] });
  expect(charges.size).toBe(1);

  await clock.advance("14d"); // nobody ships
  expect(await idem.runs.wait(started[0]!)).toMatchObject({ state: "completed", output: "late" });
  await idem.stop();
});

test("a charge of nothing fails without a retry", async () => {
  const { charge } = defineShop(new Idem({ id: "shop", events, store: "memory:" })); // not started: nothing of it runs
  const { state, error } = await execute(charge, { event: { data: { orderId: "o-2", cents: 0 } } });
  expect([state, error!.message]).toEqual(["failed", "nothing to charge"]);
});
// #endregion
