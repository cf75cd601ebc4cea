// What people did by hand: who did what to which thing, when and why. A store keeps it in one commit with what was done where an
// operation of its own does it, and by itself where the thing was done elsewhere.

export type AuditAction =
  | "release-key"
  | "resolve-key"
  | "resolve-effect"
  | "pause-function"
  | "resume-function"
  | "release-event"
  | "drop-event"
  | "send-events"
  | "raise-signal"
  | "cancel-run"
  | "rerun-run"
  | "start-bulk"
  | "cancel-bulk"
  | "add-app"
  | "change-setting"
  | "acknowledge-alert"
  | "mute-alert"
  | "close-alert"
  | "test-channel"
  | "sign-in"
  | "sign-in-refused"
  | "sign-out";

/** Whoever can say who asked does so; the store keeps the words. */
export interface Audited {
  /** "operator session 3f9a", "signing key of staging", "cli on build-7"; "" when nobody said. */
  readonly actor?: string | undefined;
}

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

export interface AuditFilter {
  readonly limit: number;
  /** Only what is older than the row of this id. */
  readonly before?: string;
}
