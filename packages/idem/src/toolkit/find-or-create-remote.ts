// One record in another system for one thing of ours: a customer at Stripe, a contact in a CRM. Found here first, then searched there, then
// created with a destination key, under a lease on its name; and remembered here, so that nobody searches twice.
//
// A search that finds nothing proves nothing while a creation from a moment ago may not be visible yet: then only what is remembered
// here is trusted, and the caller is told to ask again.

import { createHash } from "node:crypto";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { fromJson, toJson } from "../model/json.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { Refused } from "./sent-log/receipt.ts";
import type { Adapter } from "./sql/adapter.ts";
import { type Dialect, numberOrNull, type Operation, sqlOf } from "./sql/operation.ts";
import { type LockOptions, withLock } from "./with-lock/with-lock.ts";

export interface RemoteCreation {
  /** The destination key: the same whenever this record is created. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

export interface FindOrCreateRemote<R> extends LockOptions {
  /** What it is and where: "stripe customer". */
  readonly kind: string;
  /** The business key: "user-7". */
  readonly key: string;
  readonly find: () => Promise<R | null>;
  readonly create: (creation: RemoteCreation) => Promise<R>;
  /** Whether what `create` threw says that there is one already. */
  readonly isTaken?: (error: unknown) => boolean;
  /** How long after a creation the search may not show it. */
  readonly visibleAfter: string | number;
}

interface Remembered {
  readonly record: string | null;
  /** Since a creation began whose end nobody saw. */
  readonly triedForMs: number | null;
}

function* remembered(dialect: Dialect, kind: string, key: string): Operation<Remembered> {
  const { rows } = yield {
    text: `
      select record, ${sqlOf(dialect).now} - tried_at as tried_for_ms from idem_remote_records
       where kind = $1 and key = $2`,
    params: [kind, key],
  };
  if (rows[0] === undefined) return { record: null, triedForMs: null };
  return { record: rows[0].record as string | null, triedForMs: numberOrNull(rows[0].tried_for_ms) };
}

function* noteTry(dialect: Dialect, kind: string, key: string): Operation<void> {
  yield {
    text: `
      insert into idem_remote_records as known (kind, key, tried_at) values ($1, $2, ${sqlOf(dialect).now})
      on conflict (kind, key) do update set tried_at = excluded.tried_at where known.record is null`,
    params: [kind, key],
  };
}

function* forgetTry(kind: string, key: string): Operation<void> {
  yield {
    text: "delete from idem_remote_records where kind = $1 and key = $2 and record is null",
    params: [kind, key],
  };
}

/** The first that was remembered stays. */
function* remember(dialect: Dialect, kind: string, key: string, record: string): Operation<string> {
  yield {
    text: `
      insert into idem_remote_records as known (kind, key, record, known_at) values ($1, $2, $3, ${sqlOf(dialect).now})
      on conflict (kind, key) do update set record = excluded.record, known_at = excluded.known_at
       where known.record is null`,
    params: [kind, key, record],
  };
  return (yield* remembered(dialect, kind, key)).record ?? record;
}

/** `wasCreated` is true at most once: whoever sees it false may also be the one whose earlier attempt created it and died. */
export async function findOrCreateRemote<R>(
  adapter: Adapter<any>,
  asked: FindOrCreateRemote<R>,
): Promise<{ readonly record: R; readonly wasCreated: boolean }> {
  refuseUnknown<FindOrCreateRemote<R>>("findOrCreateRemote", asked, {
    kind: true,
    key: true,
    find: true,
    create: true,
    isTaken: true,
    visibleAfter: true,
    lease: true,
    wait: true,
    platform: true,
  });
  const { kind, key, find, create, isTaken = () => false, visibleAfter, ...lock } = asked;
  const { dialect } = adapter;
  const visibleAfterMs = parseDuration(visibleAfter, "visibleAfter");
  const unsettled = (retryAfterMs: number) => errors.REMOTE_UNSETTLED({ kind, retryAfterMs });
  const known = await adapter.perform(remembered(dialect, kind, key));
  if (known.record !== null) return { record: fromJson(known.record) as R, wasCreated: false };

  const keep = async (record: R, wasCreated: boolean) => {
    const kept = await adapter.perform(remember(dialect, kind, key, toJson(record, `The ${kind}`)));
    return { record: fromJson(kept) as R, wasCreated };
  };
  const hash = createHash("sha256").update(JSON.stringify([kind, key]));
  const idempotencyKey = `idem_${hash.digest("base64url").slice(0, 40)}`;
  const locked = await withLock(
    adapter,
    `remote:${idempotencyKey}`,
    { wait: "10s", ...lock },
    async ({ signal, recheck }) => {
      const { record, triedForMs } = await recheck(() => adapter.perform(remembered(dialect, kind, key)));
      if (record !== null) return { record: fromJson(record) as R, wasCreated: false };
      const found = await find();
      if (found !== null) return keep(found, false);
      if (triedForMs !== null && triedForMs < visibleAfterMs) throw unsettled(visibleAfterMs - triedForMs);
      await recheck(() => adapter.perform(noteTry(dialect, kind, key)));
      try {
        return await keep(await create({ idempotencyKey, signal }), true);
      } catch (error) {
        if (error instanceof Refused) await adapter.perform(forgetTry(kind, key));
        if (!isTaken(error)) throw error;
      }
      const taken = await find();
      if (taken === null) throw unsettled(visibleAfterMs);
      return keep(taken, false);
    },
  );
  if (locked.outcome === "taken") throw unsettled(locked.leaseLeftMs);
  return locked.value;
}
