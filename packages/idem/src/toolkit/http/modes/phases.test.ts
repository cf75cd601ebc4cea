import { expect, test } from "vitest";
import type { Reconciled } from "../../../execute/attempt-effect.ts";
import { nodePlatform } from "../../../platform/node-platform.ts";
import type { KeyStore } from "../../keys/key-store.ts";
import type { Adapter } from "../../sql/adapter.ts";
import { eachDatabase } from "../../sql/databases.suite.ts";
import { completer } from "./completer.ts";
import { phased } from "./phased.ts";
import { phases } from "./phases.ts";
import { Final, respond } from "./respond.ts";
import { after, ask, deferred, insertOrder, openShop, type Shop } from "./shop.suite.ts";

interface Order {
  readonly item: string;
}

/** A destination that honours keys: one charge for each, however often it is asked. */
function fakeStripe() {
  const charges = new Map<string, { readonly id: string }>();
  const asked: string[] = [];
  return {
    charges,
    asked,
    charge: async (key: string) => {
      asked.push(key);
      if (!charges.has(key)) charges.set(key, { id: `ch_${charges.size + 1}` });
      return charges.get(key)!;
    },
  };
}

const input = async (request: Request): Promise<Order> => (await request.json()) as Order;

/** Order, charge, receipt; `trouble` is what happens before a phase answers. */
const ordering = (
  adapter: Adapter<any>,
  stripe: ReturnType<typeof fakeStripe>,
  trouble: (at: string) => void | Promise<void> = () => {},
) =>
  phases("place-order", { adapter, input })
    .atomic("order", (tx, { input: { item } }) => after(insertOrder(tx, item), () => ({ ref: `o-${item}` })))
    .effect("charge", { destination: "stripe" }, async ({ key }) => {
      const charged = await stripe.charge(key);
      await trouble("charge");
      return charged;
    })
    .atomic("receipt", (tx, { order, charge }) =>
      after(insertOrder(tx, `receipt-${charge.id}`), () => {
        void trouble("receipt");
        return respond(201, { ref: order.ref, charge: charge.id });
      }),
    );

const silent = { error() {} };

/** Every lease has ended and every wait of a completer is over. */
const died = (shop: Shop) => shop.db.age("idempotency_keys", 3_600_000 * 2);

eachDatabase((open) => {
  test("phases run in order, see what those before them answered, and their end is replayed", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    const handler = phased(shop.keys, ordering(shop.adapter, stripe));
    expect(await ask(handler)).toMatchObject({ status: 201, body: { ref: "o-tea", charge: "ch_1" }, replayed: false });
    expect(await ask(handler)).toMatchObject({ status: 201, body: { ref: "o-tea", charge: "ch_1" }, replayed: true });
    expect(await ask(handler, { body: { item: "milk" } })).toMatchObject({ status: 422 });
    expect(await shop.orders()).toEqual(["receipt-ch_1", "tea"]);
    expect(stripe.asked).toHaveLength(1);
    expect(stripe.asked[0]).toMatch(/^[a-z0-9-]{1,45}$/);
  });

  // pitfall 5
  test("a retry goes on behind the last point: what was done is not done again, and the end is a success", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    let isDown = true;
    const trouble = (at: string) => {
      if (isDown && at === "receipt") throw new Error("printer is out of paper");
    };
    const handler = phased(shop.keys, ordering(shop.adapter, stripe, trouble));
    await expect(ask(handler)).rejects.toThrow("printer");
    expect(await shop.orders()).toEqual(["tea"]);
    isDown = false;
    expect(await ask(handler)).toMatchObject({ status: 201, replayed: false });
    expect(stripe.asked).toHaveLength(1);
    expect(await shop.orders()).toEqual(["receipt-ch_1", "tea"]);
  });

  test("an effect whose answer was lost is repeated with the same key, and only that one", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    let isLost = true;
    const keys: KeyStore = {
      ...shop.keys.keys,
      reach: async (holder, point, leaseMs) => {
        // The process dies here: after the call came back, before its answer is kept.
        if (isLost && point.name === "charge") throw new Error("died");
        return shop.keys.keys.reach(holder, point, leaseMs);
      },
      leave: async () => {
        throw new Error("died");
      },
    };
    const list = ordering(shop.adapter, stripe);
    await expect(ask(phased({ ...shop.keys, keys }, list))).rejects.toThrow("died");
    expect(await ask(phased(shop.keys, list))).toMatchObject({ status: 409, body: { retryable: true } });
    isLost = false;
    await died(shop);
    expect(await ask(phased(shop.keys, list))).toMatchObject({ status: 201 });
    expect(stripe.asked).toHaveLength(2);
    expect(new Set(stripe.asked).size).toBe(1);
    expect(stripe.charges.size).toBe(1);
    expect(await shop.orders()).toEqual(["receipt-ch_1", "tea"]);
  });

  test("whoever was taken over in the middle writes nothing more, and tells what the other one recorded", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    const inside = deferred();
    const goOn = deferred();
    let isFirst = true;
    const list = ordering(shop.adapter, stripe, async (at) => {
      if (at !== "charge" || !isFirst) return;
      isFirst = false;
      inside.resolve();
      await goOn.promise;
    });
    const first = ask(phased(shop.keys, list));
    await inside.promise;
    await died(shop);
    const other = shop.another();
    expect(await completer(other.keys, [ordering(other.adapter, stripe)], { logger: silent }).tick()).toMatchObject({
      ended: 1,
    });
    goOn.resolve();
    expect(await first).toMatchObject({ status: 201, replayed: true, body: { charge: "ch_1" } });
    expect(await shop.orders()).toEqual(["receipt-ch_1", "tea"]);
    expect(stripe.charges.size).toBe(1);
  });

  test("a record that nobody asks for any more is ended by one of several completers, exactly once", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    let isDown = true;
    const trouble = (at: string) => {
      if (isDown && at === "charge") throw new Error("timed out");
    };
    const handler = phased(shop.keys, ordering(shop.adapter, stripe, trouble));
    await expect(ask(handler)).rejects.toThrow("timed out");
    isDown = false;
    const completers = Array.from({ length: 4 }, () => {
      const { keys, adapter } = shop.another();
      return completer(keys, [ordering(adapter, stripe)], { logger: silent });
    });
    const none = await Promise.all(completers.map((each) => each.tick()));
    expect(none.every(({ ended }) => ended === 0)).toBe(true);
    await died(shop);
    const ticks = await Promise.all(completers.map((each) => each.tick()));
    expect(ticks.reduce((sum, { ended }) => sum + ended, 0)).toBe(1);
    expect(await shop.orders()).toEqual(["receipt-ch_1", "tea"]);
    expect(stripe.charges.size).toBe(1);
    expect(await ask(handler)).toMatchObject({ status: 201, replayed: true });
  });

  test("a completer gives up after so many attempts and leaves it to a person", async () => {
    const shop = await openShop(await open());
    const list = ordering(shop.adapter, fakeStripe(), () => {
      throw new Error("never works");
    });
    const handler = phased(shop.keys, list);
    await expect(ask(handler)).rejects.toThrow("never works");
    const told: string[] = [];
    const complete = completer(shop.keys, [list], {
      maxAttempts: 3,
      logger: { error: (text) => void told.push(text) },
    });
    const ends = [];
    for (let i = 0; i < 4; i++) {
      await died(shop);
      ends.push(await complete.tick());
    }
    expect(ends).toMatchObject([{ left: 1 }, { left: 1 }, { parked: 1 }, { parked: 0, left: 0 }]);
    expect(told.at(-1)).toContain("parked: it was not ended in 3 attempts");
    expect(await ask(handler)).toMatchObject({ status: 409, body: { retryable: false } });
    expect(await shop.keys.parked()).toMatchObject([{ parkedReason: "it was not ended in 3 attempts" }]);
  });

  test("phases that were renamed, removed or reordered park unfinished records instead of guessing", async () => {
    const shop = await openShop(await open());
    const build = (...names: string[]) =>
      names.reduce(
        (list, name) =>
          list.effect(name, { repeatable: true }, () => {
            if (name === "last") throw new Error("not yet");
            return name;
          }) as any,
        phases("steps", { adapter: shop.adapter, input }),
      );
    const changed: [string, string[], string][] = [
      ["renamed", ["one", "second", "last"], 'reached the point "two", which is none of the phases'],
      ["removed", ["two", "last"], 'has done the phase "one"'],
      ["reordered", ["two", "one", "last"], 'has done the phase "one"'],
      ["inserted", ["one", "new", "two", "last"], 'without the phase "new"'],
    ];
    for (const [key] of changed) {
      await expect(ask(phased(shop.keys, build("one", "two", "last")), { key })).rejects.toThrow("not yet");
    }
    for (const [key, names, reason] of changed) {
      const told = await ask(phased(shop.keys, build(...names)), { key });
      expect(told).toMatchObject({ status: 409, body: { retryable: false } });
      const parked = await shop.keys.parked();
      expect(parked.some(({ parkedReason }) => parkedReason?.includes(reason))).toBe(true);
    }
  });

  test("a final error and an early answer end the list and are stored; what their transaction wrote is undone", async () => {
    const shop = await openShop(await open());
    let reached = 0;
    const handler = phased(
      shop.keys,
      phases("refusals", { adapter: shop.adapter, input })
        .atomic("order", (tx, { input: { item } }) =>
          after(insertOrder(tx, item), () => {
            if (item === "poison") throw new Final(451, { error: "not for sale" });
            if (item === "gone") return respond(409, { error: "sold out" }, { rollback: true });
            return { item };
          }),
        )
        .effect("charge", { repeatable: true }, ({ order }) => {
          if (order.item === "gold") throw new Final(402, { error: "declined" });
          if (order.item === "gift") return respond(200, { price: 0 });
          return { paid: true };
        })
        .effect("ship", { repeatable: true }, () => void reached++),
    );
    const told = async (item: string) => {
      const first = await ask(handler, { key: item, body: { item } });
      const second = await ask(handler, { key: item, body: { item } });
      expect(second).toMatchObject({ status: first.status, body: first.body, replayed: true });
      return first.status;
    };
    expect(await told("poison")).toBe(451);
    expect(await told("gone")).toBe(409);
    expect(await told("gold")).toBe(402);
    expect(await told("gift")).toBe(200);
    expect(reached).toBe(0);
    expect(await told("tea")).toBe(204);
    expect(reached).toBe(1);
    expect(await shop.orders()).toEqual(["gift", "gold", "tea"]);
  });

  // pitfall 29
  test("an effect whose destination may have forgotten its key is looked up or parked, never sent blindly", async () => {
    let now = 1_800_000_000_000;
    const shop = await openShop(await open(), { ...nodePlatform, wallMs: () => now });
    const sent: string[] = [];
    let isDown = true;
    const list = (name: string, reconcile?: () => Reconciled<string>) =>
      phased(
        shop.keys,
        phases(name, { adapter: shop.adapter, input }).effect(
          "charge",
          { destination: "paypal/orders", ...(reconcile === undefined ? {} : { reconcile }) },
          async ({ key }) => {
            sent.push(`${name} ${key}`);
            if (isDown) throw new Error("timed out");
            return "sent";
          },
        ),
      );
    const cases = {
      within: list("within"),
      beyond: list("beyond"),
      found: list("found", () => ({ found: "was there" })),
      absent: list("absent", () => "absent"),
      unknown: list("unknown", () => "unknown"),
    };
    for (const [key, handler] of Object.entries(cases))
      await expect(ask(handler, { key })).rejects.toThrow("timed out");
    isDown = false;
    now += 3_600_000;
    expect(await ask(cases.within, { key: "within" })).toMatchObject({ status: 200, body: "sent" });
    now += 6 * 3_600_000;
    sent.length = 0;
    expect(await ask(cases.beyond, { key: "beyond" })).toMatchObject({ status: 409, body: { retryable: false } });
    expect(await ask(cases.found, { key: "found" })).toMatchObject({ status: 200, body: "was there" });
    expect(await ask(cases.unknown, { key: "unknown" })).toMatchObject({ status: 409, body: { retryable: false } });
    expect(sent).toEqual([]);
    expect(await ask(cases.absent, { key: "absent" })).toMatchObject({ status: 200, body: "sent" });
    expect(sent).toHaveLength(1);
    expect((await shop.keys.parked()).map(({ parkedReason }) => parkedReason?.slice(0, 19))).toEqual([
      'the effect "charge"',
      'the effect "charge"',
    ]);
  });

  test("without a destination's key the look-up comes before every repeat, and nothing is sent again before it could have been listed", async () => {
    let now = 1_800_000_000_000;
    const shop = await openShop(await open(), { ...nodePlatform, wallMs: () => now });
    const sent: number[] = [];
    const handler = phased(
      shop.keys,
      phases("mail", { adapter: shop.adapter, input }).effect(
        "mail",
        { reconcile: ({ attempt }) => (attempt < 5 ? "absent" : { found: "delivered" }) },
        async ({ attempt }): Promise<string> => {
          sent.push(attempt);
          throw new Error("timed out");
        },
      ),
    );
    await expect(ask(handler)).rejects.toThrow("timed out");
    await expect(ask(handler)).rejects.toThrow("may not be listed yet");
    expect(sent).toEqual([1]);
    now += 60_000;
    await expect(ask(handler)).rejects.toThrow("timed out");
    // Counted from the last try, not from the first.
    await expect(ask(handler)).rejects.toThrow("may not be listed yet");
    expect(await ask(handler)).toMatchObject({ status: 200, body: "delivered" });
    expect(sent).toEqual([1, 3]);
  });

  test("a later attempt works with the input of the first", async () => {
    const shop = await openShop(await open());
    let reads = 0;
    const seen: number[] = [];
    const list = phases("dated", { adapter: shop.adapter, input: () => ({ read: ++reads }) }).effect(
      "answer",
      { repeatable: true },
      ({ input: given, attempt }) => {
        seen.push(given.read);
        if (attempt === 1) throw new Error("not yet");
        return respond(200, given);
      },
    );
    const handler = phased(shop.keys, list);
    await expect(ask(handler)).rejects.toThrow("not yet");
    expect(await ask(handler)).toMatchObject({ status: 200, body: { read: 1 } });
    expect(seen).toEqual([1, 1]);
  });

  test("what cannot be read is refused before the claim, and spends no key", async () => {
    const shop = await openShop(await open());
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: any) =>
          typeof value?.item === "string" ? { value } : { issues: [{ message: "is required", path: ["item"] }] },
      },
    } as const;
    const list = phases("checked", { adapter: shop.adapter, input: schema }).effect(
      "answer",
      { repeatable: true },
      ({ input: given }) => respond(200, given),
    );
    const handler = phased(shop.keys, list);
    expect(await ask(handler, { body: {} })).toMatchObject({
      status: 400,
      body: { issues: [{ path: "item", message: "is required" }], retryable: false },
    });
    expect(await shop.records()).toEqual([]);
    expect(await ask(handler)).toMatchObject({ status: 200, body: { item: "tea" } });
    expect(await ask(handler, { key: "" })).toMatchObject({ status: 400 });
  });

  test("twenty concurrent duplicates make one order and one charge", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    const handler = phased(shop.keys, ordering(shop.adapter, stripe));
    const told = await Promise.all(Array.from({ length: 20 }, () => ask(handler)));
    expect(told.filter(({ status, replayed }) => status === 201 && !replayed)).toHaveLength(1);
    expect(told.every(({ status }) => status === 409 || status === 201)).toBe(true);
    expect(stripe.asked).toHaveLength(1);
    expect(await shop.orders()).toEqual(["receipt-ch_1", "tea"]);
  });

  test("a duplicate that may wait gets the first one's answer, and what an effect threw is the caller's to see", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    const inside = deferred();
    const goOn = deferred();
    const list = ordering(shop.adapter, stripe, async (at) => {
      if (at !== "charge") return;
      inside.resolve();
      await goOn.promise;
    });
    const handler = phased(shop.keys, list, { onDuplicate: "wait" });
    const first = ask(handler);
    await inside.promise;
    const second = ask(handler);
    goOn.resolve();
    expect(await first).toMatchObject({ status: 201, replayed: false });
    expect(await second).toMatchObject({ status: 201, replayed: true });
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const broken = ordering(shop.adapter, stripe, () => {
      throw reset;
    });
    await expect(ask(phased(shop.keys, broken), { key: "k-2" })).rejects.toBe(reset);
  });

  test("a started completer looks by itself, and a stopped one has ended what it took up", async () => {
    const shop = await openShop(await open());
    const stripe = fakeStripe();
    let isDown = true;
    const ended = deferred();
    const list = ordering(shop.adapter, stripe, (at) => {
      if (isDown) throw new Error("down");
      if (at === "receipt") ended.resolve();
    });
    await expect(ask(phased(shop.keys, list))).rejects.toThrow("down");
    isDown = false;
    await died(shop);
    const complete = completer(shop.keys, [list], { logger: silent });
    complete.start();
    await ended.promise;
    await complete.stop();
    expect(await shop.records()).toMatchObject([{ state: "completed", status: 201 }]);
  });
});

test("a list that cannot be right is refused when it is written", () => {
  const adapter = { bodies: "sync", dialect: "sqlite" } as unknown as Adapter<{ run(): void }>;
  const list = phases("rules", { adapter, input }).atomic("one", () => 1);
  expect(() => list.atomic("one", () => 2)).toThrow("two phases");
  expect(() => list.atomic("input", () => 2)).toThrow("cannot name");
  // pitfall 27
  expect(() => list.atomic("two", async () => 2)).toThrow("TRANSACTION_ASYNC");
  // @ts-expect-error an effect says why it may be repeated
  expect(() => list.effect("two", {}, () => 2)).toThrow("does not say why");
  // @ts-expect-error a destination without keys needs a look-up
  list.effect("two", { destination: "slack" }, () => 2);
  list.effect("two", { destination: "slack", reconcile: () => "absent" }, () => 2);
  list.atomic("two", (_tx, { one }) => {
    const known: number = one;
    return { known };
  });
  // @ts-expect-error a phase knows only those before it
  list.atomic("two", (_tx, { three }) => three);
});
