// The meaning of a driver's error for a transaction of the toolkit's, whichever driver threw it.
import { faultOf, wordsOf } from "../../store/postgres/faults.ts";

export type SqlFault =
  /** Undone by the database in favour of another one: the whole may simply be done again. */
  | "again"
  /** Somebody else held a lock for longer than was allowed. */
  | "lock-timeout"
  /** The session is gone; what was committed, is. */
  | "unknown"
  /** A statement before this one failed, and so nothing more of this transaction can succeed. */
  | "aborted"
  | "fault";

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  /** Of Prisma, which keeps what its driver threw in here. */
  readonly meta?: { readonly driverAdapterError?: unknown };
  readonly originalCode?: unknown;
  readonly originalMessage?: unknown;
}

/** ORMs wrap what their driver threw; from the outside in. */
function causesOf(error: unknown): Thrown[] {
  const causes: Thrown[] = [];
  for (let each = error; each !== null && typeof each === "object" && causes.length < 5; ) {
    const thrown = each as Thrown;
    const isTold = thrown.originalCode !== undefined;
    causes.push(
      isTold ? Object.assign(new Error(String(thrown.originalMessage)), { code: thrown.originalCode }) : thrown,
    );
    each = thrown.cause ?? thrown.meta?.driverAdapterError;
  }
  return causes;
}

export function sqlFaultOf(error: unknown): SqlFault {
  let fault: SqlFault = "fault";
  for (const cause of causesOf(error)) {
    const code = String(cause.code);
    if (code === "25P02") return "aborted";
    // A reader that would write, after somebody else wrote: what it read is old, and waiting would not help.
    if (code === "40001" || code === "40P01" || code === "SQLITE_BUSY_SNAPSHOT") return "again";
    if (code === "55P03" || /^SQLITE_(BUSY|LOCKED)/.test(code)) return "lock-timeout";
    // postgres.js has codes of its own for a session that ended.
    if (/^CONNECTION_(CLOSED|ENDED|DESTROYED)$|^CONNECT_TIMEOUT$/.test(code)) return "unknown";
    if (faultOf(cause) === "unknown") fault = "unknown";
  }
  return fault;
}

/** The server's own codes have five characters; the others are of SQLite, and of postgres.js for what it never sent. */
const saysNo = /^[0-9A-Z]{5}$|^SQLITE_|^(UNDEFINED_VALUE|NOT_TAGGED_CALL|MAX_PARAMETERS_EXCEEDED|UNSAFE_TRANSACTION)$/;

/** Of an error that came instead of the answer to a commit: whether somebody said no. An error without a code is nobody's answer. */
export const isRefusal = (error: unknown): boolean =>
  sqlFaultOf(error) !== "unknown" && causesOf(error).some(({ code }) => saysNo.test(String(code)));

/** The driver's own error, without what an ORM put around it: Drizzle's message repeats every parameter, keys and bodies too. */
export const driverErrorOf = (error: unknown): unknown => causesOf(error).at(-1) ?? error;

export const wordsOfFault = (error: unknown): string => wordsOf(driverErrorOf(error));
