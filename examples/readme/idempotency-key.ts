// docs/idempotency-key.md
// Every region is one block there.

// #region handler
import Database from "better-sqlite3";
import { idempotency, sqlKeys } from "idem/http";
import { ensureTables, sqliteAdapter } from "idem/sql";

const adapter = sqliteAdapter(new Database(process.env.SHOP_DB ?? "shop.db"));
await ensureTables(adapter, ["idempotency_keys"]);

const keys = idempotency({
  keys: sqlKeys(adapter),
  principal: (request) => accountOf(request), // who asks: an account's id, never a token
});

const charge = keys.handler({ onCrash: "park" }, async (request, { destinationKey }) => {
  const { amount } = (await request.json()) as { amount: number };
  const charged = await stripe.charge(amount, { idempotencyKey: destinationKey("charge") });
  return Response.json({ id: charged.id }, { status: 201 });
});
// #endregion

// #region before-effects
const transfer = keys.handler({ onCrash: "park" }, async (request, { beforeEffects, destinationKey }) => {
  const rate = await beforeEffects(() => readRate(request)); // throws: the key is free again, and a retry executes
  const sent = await stripe.charge(rate, { idempotencyKey: destinationKey("transfer") }); // throws: the 500 is kept
  return Response.json({ id: sent.id }, { status: 201 });
});
// #endregion

// #region route
const invite = keys.handler(
  {
    onCrash: "rerun",
    window: "72h", // a fault on Friday is retried on Monday
    onDuplicate: "wait", // a duplicate waits for the first one's answer, up to maxWait, instead of 409
    fingerprint: { omit: ["sentAt"] }, // may differ between retries
    store: ({ status }) => (status === 404 ? "release" : undefined),
    rebuild: {
      // the answer has a token in it that must not be kept
      reference: ({ bytes }) => (JSON.parse(new TextDecoder().decode(bytes!)) as { id: string }).id,
      rebuild: async (id) => JSON.stringify({ id, token: null }),
    },
  },
  async () => Response.json({ id: "inv_1", token: "tok_shown_once" }, { status: 201 }),
);
// #endregion

// #region parked
async function settleParked(): Promise<void> {
  for (const { id, about } of await keys.parked()) {
    const charged = await stripe.find(about.principal);
    // It did happen, and this is its answer; or it did not, and the next retry executes.
    const resolution = charged === null ? "retry" : { response: Response.json({ id: charged.id }, { status: 201 }) };
    await keys.resolve(id, resolution);
  }
}

// #endregion

// #region engine
import { Idem } from "idem";
import { engineKeys } from "idem/http";

const idem = new Idem({ id: "shop" });
const api = idempotency({ keys: engineKeys(idem), principal: (request) => accountOf(request) });
// #endregion

// #region process
keys.startReaper(); // deletes records whose window has ended, every ten minutes

process.once("SIGTERM", async () => {
  await keys.drain(); // takes nothing new, and waits for what is at work
  process.exit();
});
// #endregion

function accountOf(request: Request): string {
  return request.headers.get("x-account") ?? "";
}

const charges: { id: string; key: string }[] = [];
const stripe = {
  charges,
  async charge(_amount: number, { idempotencyKey: key }: { idempotencyKey: string }) {
    const charged = { id: `ch_${charges.length + 1}`, key };
    charges.push(charged);
    return charged;
  },
  async find(_account: string): Promise<{ id: string } | null> {
    return charges[0] ?? null;
  },
};
const readRate = async (_request: Request): Promise<number> => 100;

export { api, charge, idem, invite, keys, settleParked, stripe, transfer };
