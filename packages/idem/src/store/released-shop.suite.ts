// The shop whose stores are kept as they were under every schema that was on main (fixtures/released). Its functions are defined the same
// when a store is made, by the build of that day, and when it is carried forward: each must go on where it stood.

interface Client {
  createFunction(options: any, trigger: any, handler: (context: any) => unknown): unknown;
}

/** When the stores were made. */
export const madeAt = Date.UTC(2026, 0, 1);

export const paid = { name: "order/paid", id: "paid-7", data: { orderId: 7 } };
export const shipped = { name: "order/shipped", id: "shipped-7", data: { orderId: 7 } };
export const noted = { name: "order/noted", id: "noted-7", data: { orderId: 7 } };

export interface ShopDay {
  /** Steps that were entered. */
  readonly entered: string[];
  readonly isBankOpen: boolean;
}

export function defineShop(idem: Client, { entered, isBankOpen }: ShopDay): void {
  const enter = (name: string) => () => {
    entered.push(name);
    return name;
  };
  const key = { key: "event.data.orderId" };
  const order = { event: paid.name };
  idem.createFunction({ id: "charge", idempotency: key }, order, async ({ step }) => step.run("card", enter("card")));
  // Its key is held past the window as long as it waits.
  idem.createFunction({ id: "ship", idempotency: { ...key, window: "until-finished" } }, order, async ({ step }) => {
    await step.run("reserve", enter("reserve"));
    await step.waitForEvent("parcel", { event: shipped.name, timeout: "7d" });
    return step.run("thank", enter("thank"));
  });
  idem.createFunction({ id: "remind" }, order, async ({ step }) => {
    await step.run("note", enter("note"));
    await step.sleep("an-hour", "1h");
    return step.run("mail", enter("mail"));
  });
  // While the bank is closed an attempt fails; the next is an hour later.
  idem.createFunction({ id: "refund", retries: 2, backoff: () => 3_600_000 }, order, async ({ step }) =>
    step.run("pay-back", () => {
      entered.push("pay-back");
      if (!isBankOpen) throw Object.assign(new Error("the bank is closed"), { stack: "Error: the bank is closed" });
      return "paid back";
    }),
  );
}
