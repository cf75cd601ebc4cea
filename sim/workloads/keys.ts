// Functions with a key: one run per order and window, by any sender and however often. Windows end inside the world.
import type { Context } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

const windowMs = 12_000;

export const keys: Workload = {
  functions: [
    {
      id: "keyed",
      event: "keys/go",
      key: { of: ({ order }: Data) => order, windowMs, releasedOnFailure: false, held: false },
      ends: ({ fails }: Data) => (fails ? "failed" : "completed"),
      steps: () => ["charge"],
    },
    {
      id: "keyed-released",
      event: "keys/go",
      key: { of: ({ order }: Data) => order, windowMs: 20_000, releasedOnFailure: true, held: false },
      ends: ({ fails }: Data) => (fails ? "failed" : "completed"),
      steps: () => ["charge"],
    },
    {
      id: "keyed-held",
      event: "keys/held",
      key: { of: ({ order }: Data) => order, windowMs: 86_400_000, releasedOnFailure: false, held: true },
      ends: () => "completed",
      steps: () => ["first", "second"],
    },
  ],

  define(idem, kit) {
    const charge = (fn: string) => async (context: Context) => {
      const { n, fails } = context.event.data;
      const made = await kit.run(context, fn, "charge", { failures: fails ? 9 : 0 });
      return { n, values: { charge: made } };
    };
    const key = "event.data.order";
    idem.createFunction(
      { id: "keyed", retries: 0, idempotency: { key, window: windowMs } },
      { event: "keys/go" },
      charge("keyed"),
    );
    idem.createFunction(
      { id: "keyed-released", retries: 0, idempotency: { key, window: 20_000, afterFailure: "release" } },
      { event: "keys/go" },
      charge("keyed-released"),
    );
    idem.createFunction(
      { id: "keyed-held", idempotency: { key, window: "until-finished" } },
      { event: "keys/held" },
      async (context: Context) => {
        const first = await kit.run(context, "keyed-held", "first");
        await kit.sleep(context, "nap", 4_000);
        const second = await kit.run(context, "keyed-held", "second");
        return { n: context.event.data.n, values: { first, second } };
      },
    );
  },

  messages(random, n) {
    const id = random.chance(0.3) ? `keys-${n}` : null;
    const order = random.int(1, 2);
    if (random.chance(0.25)) return [{ name: "keys/held", id, data: { n, order } }];
    return [{ name: "keys/go", id, data: { n, order, fails: random.chance(0.3) } }];
  },
};
