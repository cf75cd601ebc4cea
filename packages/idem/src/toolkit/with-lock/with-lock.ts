// Work under a lease on a name. Mutual exclusion holds while the lease is alive, by the database's clock. Writes through `transaction` are
// refused once somebody else has the name; a stalled holder that ignores its signal can still act on another system, and only a destination
// key, or a fence which that system checks, prevents it.

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { keepLease, leaseMsOf } from "../keep-lease.ts";
import { openWith } from "../open-with.ts";
import { newOwner } from "../owner-name.ts";
import type { Adapter } from "../sql/adapter.ts";
import { claimLock, extendLock, holdLock, type LockClaim, reapLockRows, releaseLock } from "./lock-row.ts";

export interface LockOptions {
  /** A heartbeat goes out every third of it. Default "30s". */
  readonly lease?: string | number;
  /** How long to wait for whoever has it. Default 0: "taken" at once. */
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
  | { readonly outcome: "done"; readonly value: T }
  /** Somebody else has it, also after `wait`. */
  | { readonly outcome: "taken"; readonly leaseLeftMs: number }
  /** The body ran to its end, but the lease did not hold until then: somebody else may have been at work beside it. */
  | { readonly outcome: "lost"; readonly value: T };

// Soon enough for work of milliseconds, seldom enough for many who wait.
const lookFirstMs = 20;
const lookMaxMs = 500;

/** Not re-entrant, and in no order of arrival. */
export async function withLock<Tx, T>(
  adapter: Adapter<Tx>,
  name: string,
  options: LockOptions,
  body: (context: LockContext<Tx>) => Promise<T> | T,
): Promise<Locked<T>> {
  refuseUnknown<LockOptions>("withLock", options, { lease: true, wait: true, platform: true });
  const { platform = nodePlatform } = options;
  const { dialect } = adapter;
  const leaseMs = leaseMsOf("withLock", options.lease ?? "30s");
  const waitMs = parseDuration(options.wait ?? 0, "wait");
  checkLockName(name);
  const owner = newOwner(platform);
  const claim = await claimWithin(platform, waitMs, () => adapter.perform(claimLock(dialect, name, owner, leaseMs)));
  if (claim.kind === "taken") return { outcome: "taken", leaseLeftMs: claim.leaseLeftMs };
  const { fence } = claim;
  const holder = { name, owner, fence };
  const extend = () => adapter.perform(extendLock(dialect, holder, leaseMs));
  const lease = keepLease(platform, leaseMs, extend);
  const lost = () => errors.LOCK_LOST({ name });
  // Under such a transaction the row is locked, and nobody can take the name over; nor can another session of ours extend it.
  let openCount = 0;
  let value: T;
  try {
    value = await body({
      fence,
      signal: lease.signal,
      recheck: async (check) => {
        if (openCount === 0 && !(await extend())) throw lost();
        return check();
      },
      transaction: async (given) => {
        let isOpen = false;
        const opening = openWith(adapter, {
          call: "withLock transaction",
          begin: () => holdLock(dialect, holder),
          body: (tx, isHeld) => {
            if (!isHeld) throw lost();
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
    await adapter.perform(releaseLock(dialect, holder)).catch(() => false);
    throw error;
  }
  lease.end();
  const wasHeld = await adapter.perform(releaseLock(dialect, holder));
  return { outcome: wasHeld && !lease.signal.aborted ? "done" : "lost", value };
}

export function checkLockName(name: unknown): void {
  if (typeof name === "string" && name !== "" && name.length <= 512) return;
  throw errors.TOOLKIT_OPTION_INVALID({ call: "withLock", option: "name", why: "it must be 1 to 512 characters" });
}

async function claimWithin(platform: Platform, waitMs: number, claim: () => Promise<LockClaim>): Promise<LockClaim> {
  const until = platform.monoMs() + waitMs;
  for (let pauseMs = lookFirstMs; ; pauseMs = Math.min(pauseMs * 2, lookMaxMs)) {
    const claimed = await claim();
    const leftMs = until - platform.monoMs();
    if (claimed.kind === "held" || leftMs <= 0) return claimed;
    await new Promise<void>((resolve) => platform.timer(Math.min(pauseMs, leftMs), resolve));
  }
}

/** Deletes at most `limit` names that nobody has had for a day. */
export const reapLocks = (adapter: Adapter<any>, limit = 1_000): Promise<number> =>
  adapter.perform(reapLockRows(adapter.dialect, limit));
