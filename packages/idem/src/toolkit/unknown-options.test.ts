import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { destination } from "../dedup/destinations.ts";
import { startServer } from "../server/start-server.ts";
import { deliverTwice } from "../testing/deliver-twice.ts";
import { execute } from "../testing/execute.ts";
import { testIdem } from "../testing/test-idem.ts";
import { cronTick } from "./cron-tick/cron-tick.ts";
import { findOrCreateSync } from "./find-or-create.ts";
import { findOrCreateRemote } from "./find-or-create-remote.ts";
import { idempotency } from "./http/idempotency.ts";
import { idempotentFetch } from "./http/idempotent-fetch.ts";
import { completer } from "./http/modes/completer.ts";
import { keyReader } from "./http/modes/key-reader.ts";
import { phased } from "./http/modes/phased.ts";
import { phases } from "./http/modes/phases.ts";
import { respond } from "./http/modes/respond.ts";
import { runBacked } from "./http/modes/run-backed.ts";
import { sameTransaction } from "./http/modes/same-transaction.ts";
import { ANONYMOUS_SHARED } from "./http/read-request.ts";
import { inbox } from "./inbox.ts";
import { memoryKeys } from "./keys/memory-keys.ts";
import { sqlKeys } from "./keys/sql-keys.ts";
import { createOutbox } from "./outbox/create-outbox.ts";
import { createSentLog } from "./sent-log/create-sent-log.ts";
import { sqliteAdapter } from "./sql/better-sqlite3.ts";
import { pgAdapter } from "./sql/pg.ts";
import { transitionSync } from "./transition.ts";
import { upsertSync } from "./upsert.ts";
import { bullhornCoalesce } from "./webhooks/bullhorn/bullhorn-event.ts";
import { bullhornPoller } from "./webhooks/bullhorn/bullhorn-poller.ts";
import { webhookProcessor } from "./webhooks/processor.ts";
import { genericHmac } from "./webhooks/providers/generic-hmac.ts";
import { github } from "./webhooks/providers/github.ts";
import { svix } from "./webhooks/providers/standard-webhooks.ts";
import { stripe } from "./webhooks/providers/stripe.ts";
import { twilio } from "./webhooks/providers/twilio.ts";
import { signWebhook } from "./webhooks/sign-webhook.ts";
import { webhook } from "./webhooks/webhook.ts";
import { withTransactionLock } from "./with-lock/transaction-lock.ts";
import { withLock } from "./with-lock/with-lock.ts";

const db = new Database(":memory:");
const adapter = sqliteAdapter(db);
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const keys = () => idempotency({ keys: memoryKeys(), principal: ANONYMOUS_SHARED, logger });
const secrets = ["whsec_c2VjcmV0"];
const { idem } = testIdem();
const fn = idem.createFunction({ id: "fn" }, { event: "a/b" }, () => null);
const route = { onCrash: "park" } as const;
const list = phases("ride", { adapter, input: async () => null });
const nothing = () => null as never;

// Each is given with a word that is nearly right; what it would be without that word is never begun.
test.each<[string, string, (given: any) => unknown]>([
  ["idempotency", "pricipal", (o) => idempotency({ keys: memoryKeys(), principal: ANONYMOUS_SHARED, logger, ...o })],
  [
    "idempotency, replayCache",
    "entrie",
    (o) => idempotency({ keys: memoryKeys(), principal: ANONYMOUS_SHARED, logger, replayCache: { entries: 1, ...o } }),
  ],
  ["a route's options", "oncrash", (o) => keys().handler({ ...route, ...o }, nothing)],
  ["a route's options, key", "heder", (o) => keys().handler({ ...route, key: o }, nothing)],
  ["a route's options, fingerprint", "omits", (o) => keys().handler({ ...route, fingerprint: o }, nothing)],
  ["startReaper", "evry", (o) => keys().startReaper(o)],
  ["idempotentFetch", "kye", (o) => idempotentFetch("http://localhost/", o)],
  ["completer", "evry", (o) => completer(keys(), [], o)],
  ["keyReader", "tenat", (o) => keyReader({ principal: ANONYMOUS_SHARED, ...o })],
  ["phases", "adaptr", (o) => phases("ride", { adapter, input: nothing, ...o })],
  ["phased", "leese", (o) => phased(keys(), list, o)],
  ["respond", "rollbck", (o) => respond(200, null, o)],
  ["runBacked", "locaton", (o) => runBacked(keys(), idem, { function: fn, event: nothing, toResponse: nothing, ...o })],
  ["sameTransaction", "maxTxx", (o) => sameTransaction(keys(), adapter, o, nothing)],
  ["memoryKeys", "plattform", (o) => memoryKeys(o)],
  ["sqlKeys", "deadlin", (o) => sqlKeys(adapter, o)],
  ["webhook", "busines_key", (o) => webhook({ source: "s", provider: stripe({ secrets }), idem, ...o })],
  [
    "coalesce",
    "expect",
    (o) =>
      webhook({ source: "s", provider: stripe({ secrets }), idem, coalesce: { key: nothing, windowMs: 5_000, ...o } }),
  ],
  ["webhookProcessor", "procces", (o) => webhookProcessor({ store: adapter, source: "s", process: nothing, ...o })],
  ["signWebhook", "headrs", (o) => signWebhook(stripe({ secrets }), secrets[0]!, "{}", o)],
  ["stripe", "tolerence", (o) => stripe({ secrets, ...o })],
  ["github", "secret", (o) => github({ secrets, ...o })],
  ["svix", "tolerence", (o) => svix({ secrets, ...o })],
  ["twilio", "publicURI", (o) => twilio({ secrets, ...o })],
  ["genericHmac", "algoritm", (o) => genericHmac({ secrets, header: "x", ...o })],
  [
    "bullhornPoller",
    "subscripton",
    (o) => bullhornPoller({ client: {} as never, subscription: "s", into: adapter, ...o }),
  ],
  ["bullhornCoalesce", "windowMS", (o) => bullhornCoalesce(o)],
  ["cronTick", "shedule", (o) => cronTick(adapter, { id: "t", schedule: "0 9 * * *", onCrash: "park", ...o }, nothing)],
  ["findOrCreate", "uniqe", (o) => findOrCreateSync(adapter, db, { table: "t", unique: { id: 1 }, ...o })],
  [
    "findOrCreateRemote",
    "visibleafter",
    (o) => findOrCreateRemote(adapter, { kind: "k", key: "k", find: nothing, create: nothing, visibleAfter: 1, ...o }),
  ],
  ["inbox.process", "consumr", (o) => inbox.process(adapter, { source: "s", id: "1", ...o }, nothing)],
  ["createOutbox", "ondead", (o) => createOutbox(adapter, o)],
  ["outbox.send", "dedupkey", (o) => createOutbox(adapter).sendSync(db, { name: "a/b" }, o)],
  ["outbox.dispatch", "concurency", (o) => createOutbox(adapter).dispatch({ a: nothing }, o)],
  ["outbox.relayTo", "topic", (o) => createOutbox(adapter).relayTo(idem as never, o)],
  ["createSentLog", "onUnkown", (o) => createSentLog(adapter, { onUnknown: "park", ...o })],
  [
    "sentLog.once",
    "recipent",
    (o) =>
      createSentLog(adapter, { onUnknown: "park" }).once(
        { template: "t", recipient: "r", window: "1d", ...o },
        nothing,
      ),
  ],
  ["transition", "too", (o) => transitionSync(adapter, db, { table: "t", id: 1, from: "a", to: "b", ...o })],
  ["upsert", "sett", (o) => upsertSync(adapter, db, { table: "t", unique: { id: 1 }, set: { a: 1 }, ...o })],
  ["withLock", "leese", (o) => withLock(adapter, "n", o, nothing)],
  ["withTransactionLock", "wiat", (o) => withTransactionLock(adapter, "n", o, nothing)],
  ["pgAdapter", "prepar", (o) => pgAdapter({} as never, o)],
  ["destination", "remebers", (o) => destination({ name: "crm", ...o })],
  ["execute", "step", (o) => execute(fn, { event: {}, ...o })],
  ["deliverTwice", "secondname", (o) => deliverTwice(idem, { name: "a/b" }, { how: "again", ...o })],
  ["new Idem", "stroe", (o) => testIdem(o)],
  ["startServer", "prot", (o) => startServer({ port: 0, store: "memory:", discovery: false, ...o })],
])("%s refuses an option that is mistyped, as %s, with the word that was meant", async (where, option, ask) => {
  const refusal: any = await (async () => ask({ [option]: "x" }))().catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "OPTION_UNKNOWN", facts: { option } });
  expect(refusal.message.startsWith(where)).toBe(true);
  expect(refusal.message).toMatch(/did you mean "\w+"\?/);
});

test("a mode's own options are known where its requests are read", async () => {
  const handler = sameTransaction(keys(), adapter, { maxTx: "5s", maxWait: "1s" }, nothing);
  const request = new Request("http://localhost/orders", {
    method: "POST",
    headers: { "idempotency-key": "bad key, " },
  });
  expect((await handler(request)).status).toBe(400);
});
