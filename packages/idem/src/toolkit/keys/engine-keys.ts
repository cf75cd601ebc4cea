// Keys in the engine's own store: for whoever has `new Idem({ id })` and no database beside it. Each record is a claim in the scope "http",
// under the record's id, so that `idem keys` and the API show it and a person can release it.
//
// Every call reads the claim with the store's time, decides as the other stores do (decide-key.ts), and amends the claim it decided upon.
// If somebody wrote meanwhile, it decides again. A replay is that one read, and writes nothing.
import { errors } from "../../model/errors.ts";
import type { Idem } from "../../sdk/client.ts";
import type { AmendInput } from "../../store/claims.ts";
import type { ClaimNow } from "../../store/reads.ts";
import type { Store } from "../../store/store.ts";
import { decideKey, diedReason, freshOf, runningWindowMs } from "./decide-key.ts";
import { changeTo, keyRowOf } from "./engine-keys-claim.ts";
import { findParked, UnfinishedKeys } from "./engine-keys-lists.ts";
import { type KeyRow, recordOf } from "./key-row.ts";
import type { Held, KeyAnswer, KeyAsk, KeyHolder, KeyOutcome, KeyStore, Resolution, Resolved } from "./key-store.ts";

/** The record's id already tells API, tenant, principal and route apart. */
export const httpScope = "http";

/** Each further round means that somebody else wrote: heartbeats of the same claimant, or other askers, of whom one wins each round. */
const roundsMax = 10;

/** An answer; and what has to be written before it is true. */
interface Decided<A> {
  readonly answer: A;
  readonly write?: AmendInput["to"];
  /** Of a person's decision. */
  readonly reason?: string;
}

/**
 * Keys in the store of this client, where its events and runs are.
 *
 * ```ts
 * const keys = engineKeys(new Idem({ id: "shop" }));
 * ```
 */
export function engineKeys(idem: Pick<Idem, "keeping">): KeyStore {
  const { env, store } = idem.keeping();

  const seeIn = (opened: Store, id: string): Promise<ClaimNow> => opened.reads.claimNow(env, httpScope, id);

  /** Decides upon what is there until it still is there when it is written. */
  const settle = async <A>(
    id: string,
    decide: (row: KeyRow | null, seen: ClaimNow) => Decided<A>,
    otherwise: (seen: ClaimNow) => A = crowded,
  ): Promise<A> => {
    const opened = await store();
    for (let round = 1; ; round++) {
      const seen = await seeIn(opened, id);
      const { answer, write, reason = null } = decide(keyRowOf(seen), seen);
      if (write === undefined) return answer;
      const amended = await opened.amend({ env, scope: httpScope, key: id, over: seen.claim, to: write, reason });
      if (amended === "amended") return answer;
      if (round === roundsMax) return otherwise(seen);
    }
  };

  /** A claimant's write: its own, or it does not happen. `already` is the state in which it was made before. */
  const write = (
    holder: KeyHolder,
    decide: (row: KeyRow, seen: ClaimNow) => AmendInput["to"] | "lost",
    already: KeyRow["state"] | null = null,
  ): Promise<Held> =>
    settle<Held>(holder.id, (row, seen) => {
      if (row === null || row.owner !== holder.owner || row.fence !== holder.fence) return { answer: "lost" };
      if (row.state === already) return { answer: "held" };
      const to = row.state === "running" ? decide(row, seen) : "lost";
      return to === "lost" ? { answer: "lost" } : { answer: "held", write: to };
    });

  const unfinished = new UnfinishedKeys(env, httpScope);

  return {
    claim: (ask) => settle<KeyAnswer>(ask.id, (row, seen) => decideClaim(ask, row, seen), inFlight),
    heartbeat: (holder, leaseMs) =>
      write(holder, (row, seen) => (row.leaseUntil > 0 ? changeTo(row, extended(seen, leaseMs)) : "lost")),
    reach: (holder, point, leaseMs) =>
      write(holder, (row, seen) =>
        row.leaseUntil > 0 ? changeTo({ ...row, point }, extended(seen, leaseMs)) : "lost",
      ),
    complete: (holder, outcome, windowMs) => write(holder, (row) => completed(row, outcome, windowMs), "completed"),
    leave: (holder, delayMs) =>
      write(holder, (row, { now }) =>
        changeTo({ ...row, leaseUntil: 0, dueAt: now + delayMs }, { leaseMs: 0, windowMs: null }),
      ),
    park: (holder, reason) => write(holder, (row) => parked(row, reason), "parked"),
    release: (holder) =>
      settle<Held>(holder.id, (row) => {
        if (row === null) return { answer: "held" };
        const isHolders = row.owner === holder.owner && row.fence === holder.fence && row.state === "running";
        return isHolders ? { answer: "held", write: null } : { answer: "lost" };
      }),

    async read(id) {
      const seen = await seeIn(await store(), id);
      const row = keyRowOf(seen);
      return row === null ? null : recordOf(row, seen.now);
    },
    async parked(page) {
      return findParked(await store(), env, httpScope, page);
    },
    async takeUnfinished({ work, owner, leaseMs, limit }) {
      const taken: KeyRow[] = [];
      for (const id of await unfinished.candidates(await store(), work)) {
        if (taken.length === limit) break;
        const row = await settle<KeyRow | null>(
          id,
          (found, { now }) => {
            const isDue = found?.state === "running" && found.leaseUntil <= now && found.dueAt <= now;
            if (!isDue || found.work?.name !== work) return { answer: null };
            const leaseUntil = now + leaseMs;
            const next = { ...takenOver(found), owner, leaseUntil, dueAt: leaseUntil };
            return { answer: next, write: changeTo(next, { leaseMs, windowMs: null }) };
          },
          () => null,
        );
        if (row !== null) taken.push(row);
      }
      return taken.map((row) => ({ record: recordOf(row, 0), fence: row.fence, attempt: row.attempts }));
    },
    resolve: (id, resolution) => settle<Resolved>(id, (row, { now }) => decideResolution(row, resolution, now)),
    // The store sweeps all its claims by when they ended; a client that is started does so by itself.
    async reap(limit) {
      return (await (await store()).sweep({ max: limit, repair: false })).reaped;
    },
  };
}

function decideClaim(ask: KeyAsk, row: KeyRow | null, { claim, now }: ClaimNow): Decided<KeyAnswer> {
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
        write: parked({ ...row, owner: ask.owner }, diedReason),
      };
    case "resume":
      return take({ ...takenOver(row), ...leased(ask, now) }, ask);
    case "rerun":
      return take({ ...takenOver(row), ...leased(ask, now), work: ask.work, point: null }, ask);
  }
}

function begin(ask: KeyAsk, fence: number, now: number): Decided<KeyAnswer> {
  const row: KeyRow = {
    id: ask.id,
    about: ask.about,
    fingerprint: ask.fingerprints[0],
    state: "running",
    fence,
    attempts: 1,
    point: null,
    outcome: null,
    parkedReason: null,
    createdAt: now,
    completedAt: null,
    endsAt: now + runningWindowMs(ask),
    work: ask.work,
    ...leased(ask, now),
  };
  return take(row, ask, true);
}

const take = (row: KeyRow, ask: KeyAsk, opens = false): Decided<KeyAnswer> => ({
  answer: freshOf(row),
  write: changeTo(row, { leaseMs: ask.leaseMs, windowMs: runningWindowMs(ask), opens }),
});

const takenOver = (row: KeyRow): KeyRow => ({ ...row, fence: row.fence + 1, attempts: row.attempts + 1 });

const leased = ({ owner, onCrash, leaseMs }: KeyAsk, now: number) => ({
  owner,
  onCrash,
  leaseUntil: now + leaseMs,
  dueAt: now + leaseMs,
});

/** A window that would end before the lease ends with it: the store frees and reaps by windows, and somebody is alive. */
const extended = ({ claim, windowNow }: ClaimNow, leaseMs: number) => ({
  leaseMs,
  windowMs: claim!.endsAt - windowNow < leaseMs ? leaseMs : null,
});

const completed = (row: KeyRow, outcome: KeyOutcome, windowMs: number) =>
  changeTo({ ...row, state: "completed", outcome, parkedReason: null }, { leaseMs: null, windowMs });

const parked = (row: KeyRow, reason: string) =>
  changeTo({ ...row, state: "parked", parkedReason: reason }, { leaseMs: null, windowMs: null });

function decideResolution(row: KeyRow | null, resolution: Resolution, now: number): Decided<Resolved> {
  if (row === null) return { answer: "unknown" };
  if (row.state !== "parked") return { answer: "not-parked" };
  const resolved = { answer: "resolved", reason: resolution.kind } as const;
  if (resolution.kind === "response") {
    return { ...resolved, write: completed(row, { kind: "response", ...resolution.response }, resolution.windowMs) };
  }
  if (resolution.kind === "retry" && (row.work !== null || row.point !== null)) {
    const left: KeyRow = { ...row, state: "running", parkedReason: null, attempts: 1, leaseUntil: 0, dueAt: now };
    return { ...resolved, write: changeTo(left, { leaseMs: 0, windowMs: null }) };
  }
  return { ...resolved, write: null };
}

const inFlight = ({ now }: ClaimNow): KeyAnswer => ({ kind: "in-flight", since: now, leaseLeftMs: 0, ageMs: 0 });

function crowded(): never {
  throw errors.KEY_STORE_UNAVAILABLE({ why: "others wrote the record each time" });
}
