// Keys in this process's memory: for tests and development. A second process knows nothing of it.
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { isOlder, type KeyRow, recordOf } from "./key-row.ts";
import type { KeyStore } from "./key-store.ts";
import { keysOver, type SeenCell } from "./keys-over-cells.ts";

interface Seen extends SeenCell {
  /** The very row that was there. */
  readonly kept: KeyRow | undefined;
}

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
  const all = (which: (row: KeyRow, at: number) => boolean): KeyRow[] => {
    const at = now();
    return [...rows.values()].filter((row) => which(row, at));
  };

  return keysOver<Seen>({
    see: async (id) => {
      const kept = rows.get(id);
      return { now: now(), row: kept === undefined ? null : copyOf(kept), fence: kept?.fence ?? 0, kept };
    },
    amend: async (id, { kept }, to) => {
      if (rows.get(id) !== kept) return false;
      if (to === null) rows.delete(id);
      else rows.set(id, copyOf(to));
      return true;
    },
    unfinished: async (work) =>
      all((row, at) => row.work?.name === work && isDead(row, at))
        .sort((a, b) => a.dueAt - b.dueAt)
        .map(({ id }) => id),
    parked: async ({ limit, after }) => {
      const last = after === null ? undefined : rows.get(after);
      return all((row) => row.state === "parked" && (last === undefined || isOlder(last, row)))
        .sort((a, b) => (isOlder(a, b) ? -1 : 1))
        .slice(0, limit)
        .map((row) => recordOf(copyOf(row), now()));
    },
    reap: async (limit) => {
      const ended = all((row, at) => row.endsAt <= at && mayGo(row, at)).slice(0, limit);
      for (const { id } of ended) rows.delete(id);
      return ended.length;
    },
  });
}

const isDead = (row: KeyRow, at: number): boolean => row.state === "running" && row.leaseUntil <= at;

const mayGo = (row: KeyRow, at: number): boolean =>
  row.state === "completed" || (isDead(row, at) && row.onCrash === "rerun" && row.work === null);

/** Bytes can be written over; what was recorded is not the caller's to change. */
const copyOf = (row: KeyRow): KeyRow =>
  row.outcome?.kind === "response" && row.outcome.body !== null
    ? { ...row, outcome: { ...row.outcome, body: row.outcome.body.slice() } }
    : row;
