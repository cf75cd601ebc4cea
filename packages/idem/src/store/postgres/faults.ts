// What an error of the server or the network says about the operation it ended.
//
//   again    it did not happen: the server undid it in favour of another one. The same call may simply be made again.
//   unknown  the session is gone. It may have been committed: the same call is made again, and its ids tell.
//   fault    the call itself, or the server, is at fault; making it again would change nothing.

//   raced    it did not happen, and may not the next time: asked again a few times. Two made the same row at once, where the second finds
//            it unless the call itself names a row twice; or the server, or a person, stopped a statement that took too long, which
//            waited for a lock or would always take so long.

//
// A commit that waits for a standby can be told not to: it then succeeds with a warning. It is made here and perhaps nowhere else, which
// is as good as unknown.

export type Fault = "again" | "unknown" | "raced" | "fault";

const undone: ReadonlySet<string> = new Set([
  "40001", // serialization failure
  "40P01", // deadlock
  "55P03", // lock not available in time
]);

/** The server ended the session, is starting or stopping, or, after a failover, is one that can only be read. */
const ended = /^(08...|25006|57P0[1-5]|25P03|25P04|53300|XX000)$/;

const network: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ECONNABORTED",
  "EADDRNOTAVAIL",
]);

// What `pg` says of a session that ended has no code.
const endedMessages =
  /terminated|not queryable|read timeout|timeout expired|timeout (exceeded )?when trying to connect|connection timeout/i;

/** A session's commit did not wait for the standby as it should have. */
export class WaitCutShort extends Error {
  constructor() {
    super("the wait for the standby was cancelled: what was committed may not be there");
  }
}

/** Where the server's warning comes from; its words are in the server's language. */
export const cutsWaitShort = ({ routine }: { readonly routine?: string | undefined }): boolean =>
  routine === "SyncRepWaitForLSN";

export function faultOf(error: unknown): Fault {
  if (error instanceof WaitCutShort) return "unknown";
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === "string") {
    if (undone.has(code)) return "again";
    if (code === "23505" || code === "57014") return "raced";
    if (ended.test(code) || network.has(code)) return "unknown";
    if (/^[0-9A-Z]{5}$/.test(code)) return "fault";
  }
  return endedMessages.test(String(message)) ? "unknown" : "fault";
}

/** What it says. A name with several addresses, none of which answers, gives an error without words. */
export function wordsOf(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  return message === undefined || message === "" ? String(code ?? error) : String(message);
}
