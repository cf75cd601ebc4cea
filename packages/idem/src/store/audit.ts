// Acts of people, done by hand: who did what to which thing, when and why. A store keeps an act in one commit with its effect where an
// operation of its own does it, and by itself where the thing was done elsewhere.

export type AuditAction =
  | "release-key"
  | "resolve-key"
  | "resolve-effect"
  | "pause-function"
  | "resume-function"
  | "change-limit"
  | "release-event"
  | "drop-event"
  | "send-events"
  | "raise-signal"
  | "cancel-run"
  | "rerun-run"
  | "release-run"
  | "start-bulk"
  | "cancel-bulk"
  | "add-app"
  | "change-setting"
  | "acknowledge-alert"
  | "mute-alert"
  | "close-alert"
  | "test-channel"
  | "prune-history"
  | "take-backup"
  | "sign-in"
  | "sign-in-refused"
  | "sign-out";

/** Callers that know who asked say so; the store keeps the words. */
export interface Audited {
  /** "operator session 3f9a", "signing key of staging", "cli on build-7"; "" when nobody said. */
  readonly actor?: string | undefined;
}

/** A person asks for something that programs ask for as well. A call that says so is kept in the audit, in the commit that did it. */
export interface ByHand extends Audited {
  /** Why, or what else there is to say; "" for nothing. */
  readonly reason: string;
}

// A person sends one or a few; of a thousand the reason says how many.
const idsKept = 5;

/** The audit's subject of a person who sent events. */
export const sentSubject = (events: readonly { readonly id: string }[]): string =>
  events
    .slice(0, idsKept)
    .map(({ id }) => id)
    .join(" ");

export interface AuditInput extends Audited {
  readonly env: string;
  readonly action: AuditAction;
  /** The thing it was done to, by its id. */
  readonly subject: string;
  readonly reason: string;
}

export type AuditAnswer = "kept";

export interface AuditRow {
  /** Grows from row to row. */
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
}

/** Any combination of these is found through an index. */
export interface AuditFilter {
  readonly limit: number;
  /** Only what is older than the row of this id. */
  readonly before?: string;
  readonly action?: string;
  /** Whole names, not parts of them. */
  readonly actor?: string;
  readonly subject?: string;
  /** Instants: from the one, until before the other. */
  readonly since?: number;
  readonly until?: number;
}

// More than a busy node runs ahead of its clock with stamps; the row's own time decides.
export const stampSlackMs = 60 * 60 * 1_000;
