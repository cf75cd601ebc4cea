// Keys in the engine's own store: for whoever has `new Idem({ id })` and no database beside it. Each record is a claim in the scope "http",
// under the record's id, so that `idem keys` and the API show it and a person can release it. Every call reads the claim with the store's time
// and amends the claim it decided upon.
import type { Idem } from "../../sdk/client.ts";
import type { ClaimNow } from "../../store/reads.ts";
import { changeTo, keyRowOf } from "./engine-keys-claim.ts";
import { findParked, UnfinishedKeys } from "./engine-keys-lists.ts";
import type { KeyStore } from "./key-store.ts";
import { keysOver, type SeenCell } from "./keys-over-cells.ts";

/** The record's id already tells API, tenant, principal and route apart. */
export const httpScope = "http";

/**
 * Keys in the store of this client, where its events and runs are.
 *
 * ```ts
 * const keys = engineKeys(new Idem({ id: "shop" }));
 * ```
 */
export function engineKeys(idem: Pick<Idem, "keeping">): KeyStore {
  const { env, store } = idem.keeping();
  const unfinished = new UnfinishedKeys(env, httpScope);
  return keysOver<SeenCell & Pick<ClaimNow, "claim">>({
    async see(id) {
      const seen = await (await store()).reads.claimNow(env, httpScope, id);
      return { now: seen.now, row: keyRowOf(seen), fence: seen.claim?.fence ?? 0, claim: seen.claim };
    },
    async amend(id, seen, row, reason) {
      const to = row === null ? null : changeTo(row, seen);
      const input = { env, scope: httpScope, key: id, over: seen.claim, to, reason };
      return (await (await store()).amend(input)) === "amended";
    },
    async unfinished(work) {
      return unfinished.candidates(await store(), work);
    },
    async parked(page) {
      return findParked(await store(), env, httpScope, page);
    },
    // The store sweeps all its claims by when they ended; a client that is started does so by itself.
    async reap(limit) {
      return (await (await store()).sweep({ max: limit, repair: false })).reaped;
    },
  });
}
