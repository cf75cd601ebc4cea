import { describe, expect, test } from "vitest";
import { destination } from "./destinations.ts";
import { mayResend, resendsWithinMs } from "./retention-guard.ts";

const minute = 60_000;
const hour = 60 * minute;
const now = 1_000 * hour;
const after = (to: { readonly remembersMs: number | null }, ageMs: number, hasReconcile = false) =>
  mayResend({ destination: to, firstTriedAt: now - ageMs, now, hasReconcile });

describe("an effect that was tried before", () => {
  test("is sent again while its key is surely remembered: a tenth of the memory, at least a minute, is left", () => {
    const orders = destination("paypal/orders");
    expect(after(orders, 0)).toBe("send");
    expect(after(orders, 5.4 * hour - 1)).toBe("send");
    expect(after(orders, 5.4 * hour)).toBe("park");
    expect(after(orders, 5.4 * hour, true)).toBe("reconcile");
    expect(resendsWithinMs({ remembersMs: 5 * minute })).toBe(4 * minute);
  });

  test("is sent again for an hour where the memory is not published, and for ever where it is for ever", () => {
    const square = destination("square");
    expect([after(square, hour - 1), after(square, hour), after(square, hour, true)]).toEqual([
      "send",
      "park",
      "reconcile",
    ]);
    expect(after(destination("paypal/orders-v1"), 1_000 * hour)).toBe("send");
  });

  test("is never sent again blindly where there is no key, or the memory is shorter than what is left of it", () => {
    for (const to of [destination("slack"), { remembersMs: minute }]) {
      expect([after(to, 0), after(to, 0, true)]).toEqual(["park", "reconcile"]);
    }
  });

  test("counts as tried just now when its first try lies ahead of this clock", () => {
    expect(after(destination("stripe"), -hour)).toBe("send");
  });
});
