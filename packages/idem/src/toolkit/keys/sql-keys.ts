// Keys in the user's own database. Never hangs and never guesses: a call the database did not answer in time is an error that the door answers
// as 503, and no handler runs.

import { parseDuration } from "../../model/duration.ts";
import { errors, IdemError } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Adapter } from "../sql/adapter.ts";
import { driverErrorOf, sqlFaultOf } from "../sql/faults.ts";
import { type Operation, sqlOf } from "../sql/operation.ts";
import { checkTables } from "../sql/ready-tables.ts";
import {
  claimKey,
  completeKey,
  heartbeatKey,
  leaveKey,
  listParked,
  parkKey,
  reachPoint,
  readKey,
  reapKeys,
  releaseKey,
  resolveKey,
  takeUnfinished,
} from "./key-operations.ts";
import type { KeyAnswer, KeyAsk, KeyStore } from "./key-store.ts";

export interface SqlKeysOptions {
  /** The longest any one call may take, with everything it tries. Default "2s". */
  readonly deadline?: string | number;
  readonly platform?: Platform;
}

/** A session that ended may have been an old one of the pool; the next is new, and one more is for a server that is just coming back. */
const claimTriesMax = 3;

/**
 * Keys in the table `idempotency_keys` (`npx idem sql` prints it).
 *
 * ```ts
 * const keys = sqlKeys(pgAdapter(pool));
 * ```
 */
export function sqlKeys(
  adapter: Pick<Adapter<unknown>, "dialect" | "perform">,
  options: SqlKeysOptions = {},
): KeyStore {
  refuseUnknown<SqlKeysOptions>("sqlKeys", options, { deadline: true, platform: true });
  const { deadline = "2s", platform = nodePlatform } = options;
  const sql = sqlOf(adapter.dialect);
  const deadlineMs = parseDuration(deadline);
  /** Claims that were not waited for any longer, by owner, until they are over and given back. */
  const abandoned = new Map<string, Promise<void>>();

  /** A refusal may be for want of the table. To ask about it before the first use would be a round trip for nothing. */
  const perform = async <T>(operation: Operation<T>): Promise<T> => {
    try {
      return await adapter.perform(operation);
    } catch (error) {
      if (sqlFaultOf(error) === "fault") {
        await checkTables(adapter, ["idempotency_keys"]).catch((why) => {
          if (isAboutTables(why)) throw why;
        });
      }
      throw error;
    }
  };

  const bounded = <T>(work: Promise<T>, onLate: () => void = () => {}): Promise<T> =>
    new Promise((resolve, reject) => {
      const timer = platform.timer(deadlineMs, () => {
        onLate();
        reject(errors.KEY_STORE_UNAVAILABLE({ why: `it did not answer within ${deadlineMs} ms` }));
      });
      work
        .finally(() => timer.cancel())
        .then(resolve, (error) => reject(isAboutTables(error) ? error : unavailable(error)));
    });

  /** A claim whose answer was lost may have been committed: asked again under the same owner, it is recognised and not refused. */
  const claimSurely = async (ask: KeyAsk): Promise<KeyAnswer> => {
    await abandoned.get(ask.owner);
    for (let tries = 1; ; tries++) {
      try {
        return await perform(claimKey(sql, ask));
      } catch (error) {
        const fault = sqlFaultOf(error);
        if (tries === claimTriesMax || (fault !== "unknown" && fault !== "again")) throw error;
      }
    }
  };

  /** Nobody executes for a claim that came too late; without this, its key would be in flight until the lease ends. */
  const giveBack = (ask: KeyAsk, claimed: Promise<KeyAnswer>): void => {
    const over = claimed
      .then(async (answer) => {
        if (answer.kind !== "fresh") return;
        const holder = { id: ask.id, owner: ask.owner, fence: answer.fence };
        // Of an earlier claimant's work nothing is thrown away.
        await perform(answer.attempt === 1 ? releaseKey(holder) : leaveKey(sql, holder, 0));
      })
      // The database is still away. The lease ends by itself.
      .catch(() => {})
      .finally(() => abandoned.delete(ask.owner));
    abandoned.set(ask.owner, over);
  };

  return {
    claim: (ask) => {
      const claimed = claimSurely(ask);
      return bounded(claimed, () => giveBack(ask, claimed));
    },
    heartbeat: (holder, leaseMs) => bounded(perform(heartbeatKey(sql, holder, leaseMs))),
    complete: (holder, outcome, windowMs) => bounded(perform(completeKey(sql, holder, outcome, windowMs))),
    reach: (holder, point, leaseMs) => bounded(perform(reachPoint(sql, holder, point, leaseMs))),
    release: (holder) => bounded(perform(releaseKey(holder))),
    leave: (holder, delayMs) => bounded(perform(leaveKey(sql, holder, delayMs))),
    park: (holder, reason) => bounded(perform(parkKey(sql, holder, reason))),
    read: (id) => bounded(perform(readKey(sql, id))),
    parked: (page) => bounded(perform(listParked(sql, page))),
    takeUnfinished: (input) => bounded(perform(takeUnfinished(sql, input))),
    resolve: (id, resolution) => bounded(perform(resolveKey(sql, id, resolution))),
    reap: (limit) => bounded(perform(reapKeys(sql, limit))),
  };
}

const isAboutTables = (error: unknown): boolean => error instanceof IdemError && error.code.startsWith("TABLES_");

/** In words of ours: callers of an API read this, and a driver's words would show them hosts and tables. Those are in the cause. */
function unavailable(error: unknown): IdemError {
  const fault = sqlFaultOf(error);
  const why =
    fault === "unknown"
      ? "its connection was lost"
      : fault === "lock-timeout"
        ? "somebody else held a lock for too long"
        : "it refused a statement";
  return errors.KEY_STORE_UNAVAILABLE({ why }, { cause: driverErrorOf(error) });
}
