// A record of a key as a claim of the engine's store, and back. Facts without a place in a claim stand beside it, in its note while it runs
// and in its outcome once it is completed.
//
//   record      claim
//   running     in-flight, with a lease; held past its window unless it may simply run again
//   parked      in-flight, without a lease, held: nobody takes it over, and it is never reaped
//   completed   settled, until its window ends
//   absent      none, or one that a person released
import type { ClaimChange } from "../../model/amend-claim.ts";
import type { Claim } from "../../model/claim.ts";
import type { ClaimNow } from "../../store/reads.ts";
import type { KeyRow } from "./key-row.ts";
import type { Fingerprint, KeyAbout, KeyOutcome, KeyWork, OnCrash, Point } from "./key-store.ts";

type KeptOutcome =
  | (Omit<Extract<KeyOutcome, { kind: "response" }>, "body"> & { readonly base64: string | null })
  | Exclude<KeyOutcome, { kind: "response" }>;

interface Note {
  readonly version: 1;
  readonly about: KeyAbout;
  readonly onCrash: OnCrash;
  readonly attempts: number;
  readonly dueAt: number;
  readonly work: KeyWork | null;
  readonly point: Point | null;
  /** Given back on purpose. */
  readonly isLeft: boolean;
  readonly parked: string | null;
  /** Set once it is completed, with the window that began then. */
  readonly done: { readonly outcome: KeptOutcome; readonly windowMs: number } | null;
}

export interface SeenKey extends Pick<ClaimNow, "claim" | "now"> {
  readonly row: KeyRow | null;
}

/** Null where there is no record: nobody asked, or a person released it. */
export function keyRowOf({ claim, now, windowNow, leaseNow }: ClaimNow): KeyRow | null {
  if (claim === null || claim.state === "released") return null;
  const note = noteOf(claim);
  const { done } = note;
  return {
    id: claim.key,
    about: note.about,
    fingerprint: fingerprintOf(claim),
    state: done !== null ? "completed" : note.parked !== null ? "parked" : "running",
    owner: claim.holder,
    fence: claim.fence,
    attempts: note.attempts,
    onCrash: note.onCrash,
    leaseUntil: note.isLeft || claim.leaseUntil === null ? 0 : claim.leaseUntil + (now - leaseNow),
    dueAt: note.dueAt,
    point: note.point,
    work: note.work,
    outcome: done === null ? null : outcomeOf(done.outcome),
    parkedReason: note.parked,
    createdAt: claim.takenAt,
    completedAt: done === null ? null : claim.endsAt - done.windowMs,
    // Where the clock was set ahead the window lasts as long as it would have lasted without that, and so did the lease.
    endsAt: claim.endsAt + (now - windowNow),
  };
}

/** Times of a row that changed go to the store as durations: its clock says when they begin. The others stay as they are. */
export function changeTo(row: KeyRow, { now, row: seen }: SeenKey): ClaimChange {
  // A window that begins now is written also where it ends with the old one.
  const isSameWindow = row.endsAt === seen?.endsAt && row.state !== "completed";
  const windowMs = isSameWindow ? null : row.endsAt - now;
  const mayJustRerun = row.onCrash === "rerun" && row.work === null;
  const note: Note = {
    version: 1,
    about: row.about,
    onCrash: row.onCrash,
    attempts: row.attempts,
    dueAt: row.dueAt,
    work: row.work,
    point: row.point,
    isLeft: row.state === "running" && row.leaseUntil <= 0,
    parked: row.parkedReason,
    done: row.outcome === null ? null : { outcome: keptOutcome(row.outcome), windowMs: windowMs ?? 0 },
  };
  return {
    holder: row.owner,
    fence: row.fence,
    state: row.state === "completed" ? "settled" : "in-flight",
    fingerprint: `${row.fingerprint.version}:${row.fingerprint.value}`,
    leaseMs: row.state === "running" ? Math.max(0, row.leaseUntil - now) : null,
    windowMs,
    held: row.state === "parked" || (row.state === "running" && !mayJustRerun),
    outcome: JSON.stringify(note),
    // Another operation under an old key, or the first.
    opens: row.createdAt !== seen?.createdAt,
  };
}

/** An unreadable note is an error and no licence to execute. */
function noteOf({ key, outcome }: Claim): Note {
  const note = JSON.parse(outcome ?? "null") as Note | null;
  if (note?.version !== 1) {
    throw new Error(`the claim of key ${key.slice(0, 8)} has a note that this version does not know`);
  }
  return note;
}

function fingerprintOf({ fingerprint }: Claim): Fingerprint {
  const [version = "", value = ""] = (fingerprint ?? "").split(":");
  return { version: Number(version), value };
}

function keptOutcome(outcome: KeyOutcome): KeptOutcome {
  if (outcome.kind !== "response") return outcome;
  const { body, ...rest } = outcome;
  return { ...rest, base64: body === null ? null : Buffer.from(body).toString("base64") };
}

function outcomeOf(kept: KeptOutcome): KeyOutcome {
  if (kept.kind !== "response") return kept;
  const { base64, ...rest } = kept;
  return { ...rest, body: base64 === null ? null : new Uint8Array(Buffer.from(base64, "base64")) };
}
