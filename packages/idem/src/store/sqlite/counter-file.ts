// Recognizes a store's file that was replaced by an older copy while no process had it. The store's clock only grows, and each commit writes it.
// A small file next to the store, `<file>-counter`, says how far it was: written at closing, and once a minute while something is committed.
//
//   the file says                     the store's clock     then
//   -------------------------------   -------------------   --------------------------------------------------------------------------
//   nothing: there is none, or it     is anything           nothing can be known: a first start, a copy without it, or it was deleted
//   cannot be read
//   another store's id                is anything           another store is at this path now, for example a new one: it starts anew
//   clock n                           is n or more          the ordinary case; more after a crash, because the store is written first
//   clock n                           is less than n        the file was replaced by an older copy, or a copy was made file by file while a
//                                                           process wrote: an alert says from when to when writes are missing
//
// A commit is durable before the file is written, so no crash and no power cut makes the file say more than the store has. A process that is
// killed leaves a file that is up to a minute behind: a copy made in that minute is not recognized. Commands that only read write nothing, and
// a store in memory has no such file.

import { derivedUlid } from "../../model/ulid.ts";
import { readSmallFile, replacePrivate } from "../../platform/private-files.ts";
import type { NewAlert } from "../alerts.ts";
import { boundIds, type RollbackCause, rollbackKind, rollbackTitle } from "../history.ts";

export interface StoreCounter {
  readonly storeId: string;
  /** The store's clock as of its last commit. */
  readonly clock: number;
}

const bytesMax = 1_000;

export const counterPath = (path: string): string => `${path}-counter`;

/** Null where there is none, or nothing that we wrote. */
export function readCounterFile(path: string): StoreCounter | null {
  const text = readSmallFile(counterPath(path), bytesMax);
  if (text === null) return null;
  try {
    const { storeId, clock } = JSON.parse(text) as Partial<StoreCounter>;
    return typeof storeId === "string" && Number.isSafeInteger(clock) ? { storeId, clock: clock! } : null;
  } catch {
    return null;
  }
}

/** Where it cannot be written, a replaced file is not recognized; the store itself is as good as ever. */
export function writeCounterFile(path: string, counter: StoreCounter): void {
  try {
    replacePrivate(counterPath(path), `${JSON.stringify(counter)}\n`);
  } catch {
    // A folder that cannot be written to, or a full disk.
  }
}

// Each is a sync of the disk, for which the next commit may have to wait.
export const fileEveryMs = 60_000;

/** A store that is older than its counter says. */
export interface FileRollback {
  readonly cause: Exclude<RollbackCause, "failover">;
  /** The store's own clock, and the one the file knows of. */
  readonly from: number;
  readonly to: number;
}

export function fileRollbackAlert(
  { cause, from, to }: FileRollback,
  by: { readonly storeId: string; readonly env: string; readonly owner: string; readonly now: number },
): NewAlert {
  const incident = `file at ${from}, before ${to}`;
  const { survived, acknowledged } = boundIds(incident);
  const entity = JSON.stringify(by.owner);
  return {
    // Derived from the finding: it needs no random bytes.
    id: derivedUlid(by.now, `${by.storeId} ${by.env} ${incident}`),
    kind: rollbackKind,
    fn: "",
    about: incident,
    subject: "the store",
    facts: JSON.stringify({ of: "event", cause, foundAt: by.now }),
    pairs: [
      { entity, firstId: null, laterId: survived, at: from },
      { entity, firstId: null, laterId: acknowledged, at: to },
    ],
  };
}

export const fileRollbackText = (path: string, { cause, from, to }: FileRollback): string =>
  `${rollbackTitle(cause, { firstAt: from, lastAt: to })} (${path}). Nothing was paused. The alert is in idem radar and idem doctor until an operator acknowledges it`;
