// Calls of a served app that a process has begun to execute, for all processes that share a database (docs/serving.md#replayed-calls). One claim
// for each call, which is never completed: it only has to outlive the call's signature.
import { nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { newOwner } from "./claim/claim-operations.ts";
import { claim, claimsIn, reap } from "./claim/claims.ts";
import type { Adapter } from "./sql/adapter.ts";

export interface SqlCalls {
  /** True for the first process that claims this signature. */
  claim(signature: string): Promise<boolean>;
}

const scope = "call";
// A signature holds for five minutes, and may be five minutes ahead of the app's clock.
const claimMs = 11 * 60_000;
const reapEveryMs = 60_000;
const reapBatch = 1_000;
// A minute's worth at 300 calls a second.
const reapBatchesMax = 20;

/** Remembers calls in the table `idem_claims`. Pass it to `serve(idem, { seenCalls })` in every process of the app. */
export function sqlCalls(
  adapter: Adapter<unknown>,
  { platform = nodePlatform }: { platform?: Platform } = {},
): SqlCalls {
  const claims = claimsIn(adapter);
  let reapedAt = platform.monoMs();
  const reapExpired = async () => {
    for (let batch = 0; batch < reapBatchesMax; batch++) {
      if ((await claims((sql) => reap(sql, scope, reapBatch))) < reapBatch) return;
    }
  };
  return {
    async claim(signature) {
      const request = {
        scope,
        key: signature,
        owner: newOwner(platform),
        leaseMs: claimMs,
        onCrash: "resume",
      } as const;
      const { kind } = await claims((sql) => claim(sql, { ...request, windowMs: claimMs, forgetMs: claimMs }));
      const now = platform.monoMs();
      if (now - reapedAt >= reapEveryMs) {
        reapedAt = now;
        // Rows that stay for longer are only rows.
        void reapExpired().catch(() => {});
      }
      return kind === "fresh";
    },
  };
}
