// One record in another system for one thing of ours: a customer at Stripe, a contact in a CRM. Found here first, then searched there, then
// created with a destination key, under a claim of its name; and remembered here, by the same claim, so that nobody searches twice.
//
// A search that finds nothing proves nothing while a creation from a moment ago may not be visible yet: then only what is remembered
// here is trusted, and the caller has to ask again.

import { createHash } from "node:crypto";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { fromJson, toJson } from "../model/json.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { newOwner } from "./claim/claim-operations.ts";
import { claim, claimsIn, extend, leave, read, release, settleLate } from "./claim/claims.ts";
import { leaseMsOf } from "./claim/keep-lease.ts";
import { claimWithin, reasonOf, underLease } from "./claim/work-under-claim.ts";
import { Refused } from "./sent-log/receipt.ts";
import type { Adapter } from "./sql/adapter.ts";
import { plain } from "./sql/parts.ts";
import type { LockOptions } from "./with-lock/with-lock.ts";

export interface RemoteCreation {
  /** The destination key: the same whenever this record is created. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

export interface FindOrCreateRemote<R> extends LockOptions {
  /** The thing and its place: "stripe customer". */
  readonly kind: string;
  /** The business key: "user-7". */
  readonly key: string;
  readonly find: () => Promise<R | null>;
  readonly create: (creation: RemoteCreation) => Promise<R>;
  /** Whether an error of `create` says that there is one already. */
  readonly isTaken?: (error: unknown) => boolean;
  /** A search may not show a creation for this long. */
  readonly visibleAfter: string | number;
}

/** `wasCreated` is true at most once: false is also the answer after one's own earlier attempt created it and died. */
export async function findOrCreateRemote<R>(
  adapter: Adapter<unknown>,
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
  const { kind, key, find, create, isTaken = () => false, platform = nodePlatform } = asked;
  const claims = claimsIn(adapter);
  const leaseMs = leaseMsOf("findOrCreateRemote", asked.lease ?? "30s");
  const waitMs = parseDuration(asked.wait ?? "10s", "wait");
  const visibleAfterMs = parseDuration(asked.visibleAfter, "visibleAfter");
  const unsettled = (retryAfterMs: number) => errors.REMOTE_UNSETTLED({ kind, retryAfterMs });
  const at = { scope: `remote:${kind}`, key };
  const owner = newOwner(platform);
  const answer = await claimWithin(platform, waitMs, () =>
    claims((sql) => claim(sql, { ...at, owner, leaseMs, windowMs: null, onCrash: "resume" })),
  );
  if (answer.kind === "duplicate") return { record: fromJson(answer.row.outcome!) as R, wasCreated: false };
  if (answer.kind !== "fresh") throw unsettled(answer.kind === "in-flight" ? answer.leaseLeftMs : 0);
  const { row } = answer;

  /** The first that was remembered stays. */
  const keep = async (record: R, wasCreated: boolean) => {
    const text = toJson(record, `The ${kind}`);
    if (await claims((sql) => settleLate(sql, row, text, notSettled)))
      return { record: fromJson(text) as R, wasCreated };
    const kept = await claims((sql) => read(sql, at));
    return { record: fromJson(kept?.outcome ?? text) as R, wasCreated };
  };
  let isRefused = false;
  const findOrCreate = async (signal: AbortSignal) => {
    const found = await find();
    if (found !== null) return keep(found, false);
    const triedForMs = row.unknownForMs;
    if (triedForMs !== null && triedForMs < visibleAfterMs) throw unsettled(visibleAfterMs - triedForMs);
    if ((await claims((sql) => extend(sql, row, leaseMs, { unknown_at: plain(sql.now) }))) === "lost") {
      throw errors.LOCK_LOST({ name: `${kind} ${key}` });
    }
    const hash = createHash("sha256").update(JSON.stringify([kind, key]));
    const idempotencyKey = `idem_${hash.digest("base64url").slice(0, 40)}`;
    try {
      return await keep(await create({ idempotencyKey, signal }), true);
    } catch (error) {
      isRefused = error instanceof Refused;
      if (!isTaken(error)) throw error;
    }
    const taken = await find();
    if (taken === null) throw unsettled(visibleAfterMs);
    return keep(taken, false);
  };
  try {
    const extendIt = () => claims((sql) => extend(sql, row, leaseMs));
    return await underLease(platform, leaseMs, extendIt, findOrCreate);
  } catch (error) {
    // The lease ends by itself otherwise, only later.
    await claims((sql) => (isRefused ? release(sql, row) : leave(row, reasonOf(error)))).catch(() => "lost");
    throw error;
  }
}

const notSettled = plain("state <> 'settled'");
