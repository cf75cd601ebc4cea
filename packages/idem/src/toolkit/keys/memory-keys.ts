// Keys in this process's memory: for tests and development. The smallest honest store, and the reference for the others; a second process
// knows nothing of it.
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { decideKey, diedReason, freshOf, runningWindowMs } from "./decide-key.ts";
import { type KeyRow, recordOf } from "./key-row.ts";
import type { Held, KeyAnswer, KeyAsk, KeyHolder, KeyOutcome, KeyStore, Resolved } from "./key-store.ts";

/**
 * ```ts
 * const keys = memoryKeys();
 * ```
 */
export function memoryKeys(options: { readonly platform?: Platform } = {}): KeyStore {
  refuseUnknown<{ platform: Platform }>("memoryKeys", options, { platform: true });
  const { platform = nodePlatform } = options;
  const rows = new Map<string, KeyRow>();
  // Begins with the wall's time and then only passes: a person who sets the clock ends no lease.
  const beganAt = platform.wallMs() - platform.monoMs();
  const now = (): number => Math.round(beganAt + platform.monoMs());

  /** Every later write is the claimant's own, or does not happen. */
  const write = (holder: KeyHolder, change: (row: KeyRow) => KeyRow | "gone" | "unheld"): Held => {
    const row = rows.get(holder.id);
    if (row === undefined || !isHeldBy(row, holder) || row.state !== "running") return "lost";
    const changed = change(row);
    if (changed === "unheld") return "lost";
    if (changed === "gone") rows.delete(row.id);
    else rows.set(row.id, changed);
    return "held";
  };
  const isAlready = (holder: KeyHolder, state: KeyRow["state"]): boolean => {
    const row = rows.get(holder.id);
    return row !== undefined && isHeldBy(row, holder) && row.state === state;
  };

  const claim = (ask: KeyAsk): KeyAnswer => {
    const at = now();
    const row = rows.get(ask.id);
    if (row === undefined) return begin(ask, 1, at);
    const move = decideKey(ask, row, at);
    switch (move.kind) {
      case "answer":
        return move.answer.kind === "duplicate"
          ? { ...move.answer, outcome: copyOf(move.answer.outcome) }
          : move.answer;
      case "overwrite":
        return begin(ask, row.fence + 1, at);
      case "park":
        rows.set(row.id, { ...row, state: "parked", owner: ask.owner, parkedReason: diedReason });
        return { kind: "parked", reason: diedReason, ageMs: at - row.createdAt };
      case "resume":
        return take({ ...row, ...leased(ask, at) }, row);
      case "rerun":
        return take({ ...row, ...leased(ask, at), work: ask.work, point: null }, row);
    }
  };
  const begin = (ask: KeyAsk, fence: number, at: number): KeyAnswer => {
    const row: KeyRow = {
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
      createdAt: at,
      completedAt: null,
      ...leased(ask, at),
    };
    rows.set(row.id, row);
    return freshOf(row);
  };
  const take = (taken: KeyRow, from: KeyRow): KeyAnswer => {
    const row = { ...taken, fence: from.fence + 1, attempts: from.attempts + 1 };
    rows.set(row.id, row);
    return freshOf(row);
  };

  return {
    claim: async (ask) => claim(ask),
    heartbeat: async (holder, leaseMs) =>
      write(holder, (row) => (row.leaseUntil > 0 ? { ...row, leaseUntil: now() + leaseMs } : "unheld")),
    complete: async (holder, outcome, windowMs) => {
      if (isAlready(holder, "completed")) return "held";
      return write(holder, (row) => completed(row, outcome, windowMs, now()));
    },
    reach: async (holder, point, leaseMs) =>
      write(holder, (row) => (row.leaseUntil > 0 ? { ...row, point, leaseUntil: now() + leaseMs } : "unheld")),
    release: async (holder) => (rows.has(holder.id) ? write(holder, () => "gone") : "held"),
    leave: async (holder, delayMs) => write(holder, (row) => ({ ...row, leaseUntil: 0, dueAt: now() + delayMs })),
    park: async (holder, reason) => {
      if (isAlready(holder, "parked")) return "held";
      return write(holder, (row) => ({ ...row, state: "parked", parkedReason: reason }));
    },
    read: async (id) => {
      const row = rows.get(id);
      return row === undefined ? null : copiedRecord(row, now());
    },
    parked: async ({ limit, after }) => {
      const last = after === null ? undefined : rows.get(after);
      return [...rows.values()]
        .filter((row) => row.state === "parked" && (last === undefined || isOlder(last, row)))
        .sort((a, b) => (isOlder(a, b) ? -1 : 1))
        .slice(0, limit)
        .map((row) => copiedRecord(row, now()));
    },
    takeUnfinished: async ({ work, owner, leaseMs, limit }) => {
      const at = now();
      return [...rows.values()]
        .filter((row) => row.work?.name === work && isDead(row, at) && row.dueAt <= at)
        .sort((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit)
        .map((row) => {
          take({ ...row, owner, leaseUntil: at + leaseMs, dueAt: at + leaseMs }, row);
          const record = copiedRecord(rows.get(row.id)!, at);
          return { record, fence: record.fence, attempt: record.attempts };
        });
    },
    resolve: async (id, resolution): Promise<Resolved> => {
      const row = rows.get(id);
      if (row === undefined) return "unknown";
      if (row.state !== "parked") return "not-parked";
      if (resolution.kind === "response") {
        const outcome = { kind: "response", ...resolution.response } as const;
        rows.set(id, completed({ ...row, parkedReason: null }, outcome, resolution.windowMs, now()));
      } else if (resolution.kind === "retry" && (row.work !== null || row.point !== null)) {
        rows.set(id, { ...row, state: "running", parkedReason: null, attempts: 1, leaseUntil: 0, dueAt: now() });
      } else {
        rows.delete(id);
      }
      return "resolved";
    },
    reap: async (limit) => {
      const at = now();
      const ended = [...rows.values()].filter((row) => row.endsAt <= at && mayGo(row, at)).slice(0, limit);
      for (const { id } of ended) rows.delete(id);
      return ended.length;
    },
  };
}

const leased = (ask: KeyAsk, at: number) => ({
  owner: ask.owner,
  onCrash: ask.onCrash,
  leaseUntil: at + ask.leaseMs,
  dueAt: at + ask.leaseMs,
  endsAt: at + runningWindowMs(ask),
});

const completed = (row: KeyRow, outcome: KeyOutcome, windowMs: number, at: number): KeyRow => ({
  ...row,
  state: "completed",
  outcome: copyOf(outcome),
  completedAt: at,
  endsAt: at + windowMs,
});

const isHeldBy = (row: KeyRow, { owner, fence }: KeyHolder): boolean => row.owner === owner && row.fence === fence;

const isDead = (row: KeyRow, at: number): boolean => row.state === "running" && row.leaseUntil <= at;

const isOlder = (a: KeyRow, b: KeyRow): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);

const mayGo = (row: KeyRow, at: number): boolean =>
  row.state === "completed" || (isDead(row, at) && row.onCrash === "rerun" && row.work === null);

const copiedRecord = (row: KeyRow, at: number) => {
  const record = recordOf(row, at);
  return record.outcome === null ? record : { ...record, outcome: copyOf(record.outcome) };
};

/** Bytes can be written over; what was recorded is not the caller's to change. */
const copyOf = (outcome: KeyOutcome): KeyOutcome =>
  outcome.kind === "response" && outcome.body !== null ? { ...outcome, body: outcome.body.slice() } : outcome;
