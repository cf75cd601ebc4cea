/**
 * For tests of your own functions: a clock that moves when told, a store in memory, one function executed with mocked
 * steps, and the delivery no sandbox ever fires: the same event twice. And, for idempotency keys in a store of your own, every
 * promise such a store makes (`keyStoreConformance`).
 *
 * ```ts
 * const { idem, clock } = testIdem();
 * idem.createFunction({ id: "remind" }, { event: "trial/started" }, async ({ step }) => step.sleep("wait", "7d"));
 * await idem.start();
 * const sent = await idem.send({ name: "trial/started" });
 * await clock.advance("7d");
 * ```
 */

export { MemoryStore } from "./store/memory/store.ts";
export { type Delivered, type DeliverTwice, deliverTwice } from "./testing/deliver-twice.ts";
export { type Executed, type ExecuteOptions, execute } from "./testing/execute.ts";
export { type TestClock, type TestIdemOptions, type TestWorld, testIdem } from "./testing/test-idem.ts";
export type { KeyStoreConformance, OpenedKeyStore } from "./toolkit/keys/conformance/world.ts";
export { keyStoreConformance } from "./toolkit/keys/key-store-conformance.ts";
