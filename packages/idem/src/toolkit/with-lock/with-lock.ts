// Work under a lease on a name. Mutual exclusion holds while the lease is alive, by the database's clock. Writes through `transaction` are
// refused once somebody else has the name; a stalled holder that ignores its signal can still act on another system, and only a destination
// key, or a fence which that system checks, prevents it.

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { newOwner } from "../claim/claim-operations.ts";
import { claim, claimsIn, extend, hold, reap, release } from "../claim/claims.ts";
import type { InFlight } from "../claim/decide-claim.ts";
import { keepLease, leaseMsOf } from "../claim/keep-lease.ts";
import { claimWithin } from "../claim/work-under-claim.ts";
import { openWith } from "../open-with.ts";
import type { Adapter } from "../sql/adapter.ts";
import { sqlOf } from "../sql/operation.ts";

export interface LockOptions {
  /** A heartbeat goes out every third of it. Default "30s". */
  readonly lease?: string | number;
  /** Longest wait for the present holder. Default 0: "in-flight" at once. */
  readonly wait?: string | number;
  readonly platform?: Platform;
}

export interface LockContext<Tx> {
  /** Grows with every holder: hand it to whatever takes a version or a fencing token. */
  readonly fence: number;
  /** Aborts with reason "lease-lost". */
  readonly signal: AbortSignal;
  /** Has it been done? Asked under the lease, which is confirmed first. Throws LOCK_LOST. */
  recheck<T>(check: () => Promise<T> | T): Promise<T>;
  /** Writes that count only while the name is ours: until they are committed, nobody can take it over. Throws LOCK_LOST. */
  transaction<T>(body: (tx: Tx) => T | Promise<T>): Promise<T>;
}

export type Locked<T> =
  | { readonly kind: "done"; readonly value: T }
  /** Somebody else has it, also after `wait`. */
  | InFlight
  /** The body ran to its end, but the lease did not hold until then: somebody else may have been at work beside it. */
  | { readonly kind: "lost"; readonly value: T };

const scope = "lock";
/** A name that nobody has is remembered for this long. */
const keptMs = 86_400_000;

/** Not re-entrant, and in no order of arrival. */
export async function withLock<Tx, T>(
  adapter: Adapter<Tx>,
  name: string,
  options: LockOptions,
  body: (context: LockContext<Tx>) => Promise<T> | T,
): Promise<Locked<T>> {
  refuseUnknown<LockOptions>("withLock", options, { lease: true, wait: true, platform: true });
  const { platform = nodePlatform } = options;
  const claims = claimsIn(adapter);
  const leaseMs = leaseMsOf("withLock", options.lease ?? "30s");
  const waitMs = parseDuration(options.wait ?? 0, "wait");
  checkLockName(name);
  const ask = { scope, key: name, owner: newOwner(platform), leaseMs, windowMs: keptMs, forgetMs: leaseMs + keptMs };
  const answer = await claimWithin(platform, waitMs, () => claims((sql) => claim(sql, { ...ask, onCrash: "resume" })));
  if (answer.kind !== "fresh") return answer.kind === "in-flight" ? answer : { kind: "in-flight", leaseLeftMs: 0 };
  const { row: holder } = answer;
  const extendIt = () => claims((sql) => extend(sql, holder, leaseMs));
  const lease = keepLease(platform, leaseMs, extendIt);
  const lost = () => errors.LOCK_LOST({ name });
  // Under such a transaction the row is locked, and nobody can take the name over; nor can another session of ours extend it.
  let openCount = 0;
  let value: T;
  try {
    value = await body({
      fence: holder.fence,
      signal: lease.signal,
      recheck: async (check) => {
        if (openCount === 0 && (await extendIt()) === "lost") throw lost();
        return check();
      },
      transaction: async (given) => {
        let isOpen = false;
        const opening = openWith(adapter, {
          call: "withLock transaction",
          begin: () => hold(sqlOf(adapter.dialect), holder),
          body: (tx, held) => {
            if (held === "lost") throw lost();
            isOpen = true;
            openCount++;
            return given(tx);
          },
          given,
        });
        try {
          return await opening;
        } finally {
          if (isOpen) openCount--;
        }
      },
    });
  } catch (error) {
    lease.end();
    // The lease ends by itself otherwise, only later.
    await claims((sql) => release(sql, holder)).catch(() => "lost");
    throw error;
  }
  lease.end();
  const held = await claims((sql) => release(sql, holder));
  return { kind: held === "held" && !lease.signal.aborted ? "done" : "lost", value };
}

export function checkLockName(name: unknown): void {
  if (typeof name === "string" && name !== "" && name.length <= 512) return;
  throw errors.TOOLKIT_OPTION_INVALID({ call: "withLock", option: "name", why: "it must be 1 to 512 characters" });
}

/** Deletes at most `limit` names that nobody has had for a day. */
export const reapLocks = (adapter: Adapter<unknown>, limit = 1_000): Promise<number> =>
  claimsIn(adapter)((sql) => reap(sql, scope, limit));
