// Keys in the engine's own store: for users of `new Idem({ id })` without a database beside it. Each record is a claim in the scope "http",
// under the record's id, so that `idem keys` and the API show it and a person can release it.
//
// Every call reads the claim with the store's time, decides as the other stores do (decide-key.ts), and amends the claim it decided upon.
// If somebody wrote meanwhile, it decides again. A replay is that one read, and writes nothing.

import { errors } from "../../model/errors.ts";
import type { Idem } from "../../sdk/client.ts";
import { inside, type KeepingClient } from "../../sdk/inside.ts";
import type { Held } from "../claim/decide-claim.ts";
import { decideKey, diedReason, freshOf, runningWindowMs } from "./decide-key.ts";
import { changeTo, keyRowOf, type SeenKey } from "./engine-keys-claim.ts";
import { findParked, UnfinishedKeys } from "./engine-keys-lists.ts";
import { type KeyRow, recordOf } from "./key-row.ts";
import type { KeyAnswer, KeyAsk, KeyHolder, KeyOutcome, KeyStore, Resolution, Resolved } from "./key-store.ts";

/** The record's id already tells API, tenant, principal and route apart. */
export const httpScope = "http";

/** Each further round means that somebody else wrote: heartbeats of the same claimant, or other askers, of whom one wins each round. */
const roundsMax = 10;

/** An answer; and what has to be written before it is true. */
interface Decided<A> {
  readonly answer: A;
  readonly write?: KeyRow | null;
  readonly reason?: string;
}

/**
 * Keys in the store of this client, where its events and runs are.
 *
 * ```ts
 * const keys = engineKeys(new Idem({ id: "shop" }));
 * ```
 */
export const engineKeys = (idem: Idem): KeyStore => keysIn(idem[inside].keeping());

export function keysIn({ env, store }: KeepingClient): KeyStore {
  const unfinished = new UnfinishedKeys(env, httpScope);

  const see = async (id: string): Promise<SeenKey> => {
    const { claim, ...at } = await (await store()).reads.claimNow(env, httpScope, id);
    return { claim, now: at.now, row: keyRowOf({ claim, ...at }) };
  };

  /** Decides upon what is there until it still is there when it is written. */
  const settle = async <A>(
    id: string,
    decide: (seen: SeenKey) => Decided<A>,
    otherwise: (now: number) => A = crowded,
  ): Promise<A> => {
    for (let round = 1; ; round++) {
      const seen = await see(id);
      const { answer, write, reason = null } = decide(seen);
      if (write === undefined) return answer;
      const to = write === null ? null : changeTo(write, seen);
      const amended = await (await store()).amend({ env, scope: httpScope, key: id, over: seen.claim, to, reason });
      if (amended === "amended") return answer;
      if (round === roundsMax) return otherwise(seen.now);
    }
  };

  /** A claimant's write: its own, or it does not happen. `already` is the state in which it was made before. */
  const write = (
    holder: KeyHolder,
    change: (row: KeyRow, now: number) => KeyRow | "lost",
    already: KeyRow["state"] | null = null,
  ): Promise<Held> =>
    settle<Held>(holder.id, ({ row, now }) => {
      if (row === null || !isHeldBy(row, holder)) return { answer: "lost" };
      if (row.state === already) return { answer: "held" };
      const to = row.state === "running" ? change(row, now) : "lost";
      return to === "lost" ? { answer: "lost" } : { answer: "held", write: to };
    });

  return {
    claim: (ask) => settle<KeyAnswer>(ask.id, (seen) => decideClaim(ask, seen), inFlight),
    heartbeat: (holder, leaseMs) => write(holder, (row, now) => extended(row, now, leaseMs)),
    reach: (holder, point, leaseMs) => write(holder, (row, now) => extended({ ...row, point }, now, leaseMs)),
    complete: (holder, outcome, windowMs) =>
      write(holder, (row, now) => completed(row, outcome, now, windowMs), "completed"),
    leave: (holder, delayMs) => write(holder, (row, now) => ({ ...row, leaseUntil: 0, dueAt: now + delayMs })),
    park: (holder, reason) => write(holder, (row) => ({ ...row, state: "parked", parkedReason: reason }), "parked"),
    release: (holder) =>
      settle<Held>(holder.id, ({ row }) => {
        if (row === null) return { answer: "held" };
        const isTheirs = isHeldBy(row, holder) && row.state === "running";
        return isTheirs ? { answer: "held", write: null } : { answer: "lost" };
      }),
    read: async (id) => {
      const { row, now } = await see(id);
      return row === null ? null : recordOf(row, now);
    },
    parked: async (page) => findParked(await store(), env, httpScope, page),
    takeUnfinished: async ({ work, owner, leaseMs, limit }) => {
      const taken: KeyRow[] = [];
      for (const id of await unfinished.candidates(await store(), work)) {
        if (taken.length === limit) break;
        const row = await settle<KeyRow | null>(
          id,
          ({ row: found, now }) => {
            const isDue = found?.state === "running" && found.leaseUntil <= now && found.dueAt <= now;
            if (!isDue || found.work?.name !== work) return { answer: null };
            const leaseUntil = now + leaseMs;
            const next = { ...takenOver(found), owner, leaseUntil, dueAt: leaseUntil };
            return { answer: next, write: next };
          },
          () => null,
        );
        if (row !== null) taken.push(row);
      }
      return taken.map((row) => ({ record: recordOf(row, 0), fence: row.fence, attempt: row.attempts }));
    },
    resolve: (id, resolution) => settle<Resolved>(id, (seen) => decideResolution(seen, resolution)),
    // The store sweeps all its claims by when they ended; a client that is started does so by itself.
    reap: async (limit) => (await (await store()).sweep({ max: limit, repair: false })).reaped,
  };
}

function decideClaim(ask: KeyAsk, { claim, row, now }: SeenKey): Decided<KeyAnswer> {
  // A key that was released by hand was somebody's: their fence must not be used again.
  if (row === null) return begin(ask, (claim?.fence ?? 0) + 1, now);
  const move = decideKey(ask, row, now);
  switch (move.kind) {
    case "answer":
      return { answer: move.answer };
    case "overwrite":
      return begin(ask, row.fence + 1, now);
    case "park":
      // The fence stays: nobody executes. The owner does not, so that a claimant which was only slow learns that it lost.
      return {
        answer: { kind: "parked", reason: diedReason, ageMs: Math.max(0, now - row.createdAt) },
        write: { ...row, state: "parked", owner: ask.owner, parkedReason: diedReason },
      };
    case "resume":
      return take({ ...takenOver(row), ...leased(ask, now) });
    case "rerun":
      return take({ ...takenOver(row), ...leased(ask, now), work: ask.work, point: null });
  }
}

const begin = (ask: KeyAsk, fence: number, now: number): Decided<KeyAnswer> =>
  take({
    id: ask.id,
    about: ask.about,
    fingerprint: ask.fingerprints[0],
    state: "running",
    fence,
    attempts: 1,
    point: null,
    work: ask.work,
    outcome: null,
    parkedReason: null,
    createdAt: now,
    completedAt: null,
    ...leased(ask, now),
  });

const take = (row: KeyRow): Decided<KeyAnswer> => ({ answer: freshOf(row), write: row });

const takenOver = (row: KeyRow): KeyRow => ({ ...row, fence: row.fence + 1, attempts: row.attempts + 1 });

const leased = (ask: KeyAsk, now: number) => ({
  owner: ask.owner,
  onCrash: ask.onCrash,
  leaseUntil: now + ask.leaseMs,
  dueAt: now + ask.leaseMs,
  endsAt: now + runningWindowMs(ask),
});

/** A window that would end before the lease ends with it: the engine's store frees and reaps by windows, and somebody is alive. */
const extended = (row: KeyRow, now: number, leaseMs: number): KeyRow | "lost" =>
  row.leaseUntil <= 0 ? "lost" : { ...row, leaseUntil: now + leaseMs, endsAt: Math.max(row.endsAt, now + leaseMs) };

const completed = (row: KeyRow, outcome: KeyOutcome, now: number, windowMs: number): KeyRow => ({
  ...row,
  state: "completed",
  outcome,
  parkedReason: null,
  completedAt: now,
  endsAt: now + windowMs,
});

const isHeldBy = (row: KeyRow, { owner, fence }: KeyHolder): boolean => row.owner === owner && row.fence === fence;

function decideResolution({ row, now }: SeenKey, resolution: Resolution): Decided<Resolved> {
  if (row === null) return { answer: "unknown" };
  if (row.state !== "parked") return { answer: "not-parked" };
  const resolved = { answer: "resolved", reason: resolution.kind } as const;
  if (resolution.kind === "response") {
    const outcome = { kind: "response", ...resolution.response } as const;
    return { ...resolved, write: completed(row, outcome, now, resolution.windowMs) };
  }
  const isWorkLeft = row.work !== null || row.point !== null;
  if (resolution.kind === "forget" || !isWorkLeft) return { ...resolved, write: null };
  return {
    ...resolved,
    write: { ...row, state: "running", parkedReason: null, attempts: 1, leaseUntil: 0, dueAt: now },
  };
}

const inFlight = (now: number): KeyAnswer => ({ kind: "in-flight", since: now, leaseLeftMs: 0, ageMs: 0 });

function crowded(): never {
  throw errors.KEY_STORE_UNAVAILABLE({ why: "others wrote the record each time" });
}
