// Every promise of key-store.ts, for any store and any test runner. Each test opens a store of its own; names carry the transition (T1 …
// T21) or the pitfall they stand for.
import { testClaims } from "./conformance/claims.ts";
import { testDeadClaims } from "./conformance/dead-claims.ts";
import { testHolders } from "./conformance/holders.ts";
import { testParked } from "./conformance/parked.ts";
import { testRaces } from "./conformance/races.ts";
import { testUnfinished } from "./conformance/unfinished.ts";
import type { KeyStoreConformance } from "./conformance/world.ts";

/**
 * ```ts
 * keyStoreConformance({ test, open: async () => ({ keys: redisKeys(), another: () => redisKeys(), pass: (ms) => age(ms) }) });
 * ```
 */
export function keyStoreConformance(conformance: KeyStoreConformance): void {
  testClaims(conformance);
  testDeadClaims(conformance);
  testHolders(conformance);
  testParked(conformance);
  testUnfinished(conformance);
  testRaces(conformance);
}
