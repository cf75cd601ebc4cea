// Why a store on PostgreSQL did not open. A server that is not ready yet is waited for: its error's `retry` is "later", and `start()` retries
// until it is stopped. What waiting does not change fails at once, with a remedy of its own.
//
//   not ready yet                                                                    code
//   no connection: refused, reset, timed out, no route to it, no socket file         STORE_UNAVAILABLE
//   the connection ended, also during the TLS handshake: a proxy without a backend   STORE_UNAVAILABLE
//   another reply than yes or no to the request for TLS: it had no process to spare  STORE_UNAVAILABLE
//   EAI_AGAIN: the name server did not reply                                         STORE_UNAVAILABLE
//   57P03 (starting up, shutting down, in recovery), 57P01, 57P02                    STORE_UNAVAILABLE
//   25006, or a server in recovery or for reading only: a standby (check-server.ts)  STORE_UNAVAILABLE
//   53xxx: no memory, no disk                                                        STORE_UNAVAILABLE
//   40001, 40P01, 55P03, 57014, 23505: another node that migrates                    STORE_UNAVAILABLE
//   any other 08xxx, and XX000: a pooler that has no server behind it                STORE_UNAVAILABLE
//   53300; 08P01 or XX000 "no more connections", "max client"                        STORE_TOO_MANY_SESSIONS
//
//   final                                                                            code
//   28P01, 28000, 42501, SASL; 08P01 or XX000 "authentication", "no such user"       STORE_ACCESS_DENIED
//   28000 "no encryption", TLS that was refused, certificates                        STORE_TLS_REFUSED
//   3D000; 08P01 "no such database"                                                  STORE_MISSING
//   ENOTFOUND: no such name                                                          STORE_HOST_NOT_FOUND
//   08P01 "unsupported startup parameter"                                            STORE_URL_INVALID, with pooler=true
//   08P01 "statement pooling mode"; a certificate's file that is missing             STORE_URL_INVALID
//   errors of Idem: the schema's version, the kind of server, its settings           as they are
//   any other SQLSTATE, and what is no error of the server or the network            STORE_REFUSED
//
// Of several hosts one that is not ready yet is enough to be waited for (hosts.ts).
import type { Pool } from "pg";
import { errors, IdemError } from "../../model/errors.ts";
import { faultOf, wordsOf } from "./faults.ts";

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;
const tlsWords = /does not support SSL|no encryption|SSL off|sslmode|sslnegotiation/i;
// A server says yes or no in one byte. Any other reply is an error it had before it came to that (PostgreSQL's protocol, "SSL Session Encryption").
const beforeTls = /There was an error establishing an SSL connection/;

/** A pooler tells everything with one code. */
const poolerWords = {
  denied: /password authentication failed|no such user|user not found|authentication failed|not allowed to connect/i,
  missing: /no such database/i,
  full: /no more connections allowed|too many (clients|connections)|max client/i,
} as const;

const behindPooler =
  'a transaction pooler such as PgBouncer is between, which takes no settings of a session; add "pooler=true" to the address (docs/postgres.md)';

const byStatement =
  "the pooler between hands sessions out by statement, where no transaction can be made; set its pool_mode to transaction or session (docs/postgres.md)";

export function openingFault(error: unknown, where: string): IdemError {
  if (error instanceof IdemError) return error;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  const why = wordsOf(error);
  const cause = { cause: error };
  const path = where;
  if (/unsupported startup parameter/i.test(why))
    return errors.STORE_URL_INVALID({ url: where, why: behindPooler }, cause);
  if (/statement pooling mode/i.test(why)) return errors.STORE_URL_INVALID({ url: where, why: byStatement }, cause);
  if (tlsWords.test(why) || (typeof code === "string" && tlsCodes.test(code)))
    return errors.STORE_TLS_REFUSED({ path, why: `${why}${whatToTrust(String(code))}` }, cause);
  if (/^SASL: .*password must be a (non-empty )?string/.test(why))
    return errors.STORE_ACCESS_DENIED({ path, why: "the server asks for a password, and none was given" }, cause);
  if (why.startsWith("SASL: ")) return errors.STORE_ACCESS_DENIED({ path, why }, cause);
  switch (code) {
    case "28P01":
    case "28000":
    case "42501":
      return errors.STORE_ACCESS_DENIED({ path, why }, cause);
    case "3D000":
      return errors.STORE_MISSING({ path, why }, cause);
    case "53300":
      return errors.STORE_TOO_MANY_SESSIONS({ path, why }, cause);
    case "ENOTFOUND":
      return errors.STORE_HOST_NOT_FOUND({ path, why }, cause);
    case "ENOENT":
    case "EACCES":
      // A file the address names; a server's own socket that is not there is a server that is not up.
      if (syscall !== "connect") return errors.STORE_URL_INVALID({ url: where, why }, cause);
      return errors.STORE_UNAVAILABLE({ why: `${where}: ${why}` }, cause);
    case "08P01":
    case "XX000":
      if (poolerWords.denied.test(why)) return errors.STORE_ACCESS_DENIED({ path, why }, cause);
      if (poolerWords.missing.test(why)) return errors.STORE_MISSING({ path, why }, cause);
      if (poolerWords.full.test(why)) return errors.STORE_TOO_MANY_SESSIONS({ path, why }, cause);
  }
  const isReadySoon = faultOf(error) !== "fault" || /^53...$/.test(String(code)) || beforeTls.test(why);
  return isReadySoon
    ? errors.STORE_UNAVAILABLE({ why: `${where}: ${why}` }, cause)
    : errors.STORE_REFUSED({ path, why }, cause);
}

/** The words of TLS say what was found, not what was wanted. */
function whatToTrust(code: string): string {
  if (/ALTNAME|HOSTNAME_MISMATCH/.test(code))
    return "; the certificate is of a server of another name: the address must name the host as its certificate does";
  if (/^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED)/.test(code))
    return "; its authority is not known here: sslrootcert=<file> in the address, or NODE_EXTRA_CA_CERTS, makes it known";
  return "";
}

/** A pooler may also pass over what a session asked for: then its plans would be others, and nobody would hear hints. */
export async function refuseUnsetSession(pool: Pick<Pool, "query">, where: string): Promise<void> {
  const { rows } = await pool.query("select current_setting('enable_seqscan') as seqscan");
  if ((rows[0] as { seqscan: string }).seqscan === "off") return;
  throw errors.STORE_URL_INVALID({ url: where, why: behindPooler });
}

/** A pooler that hands sessions out by statement says so when a transaction begins, which is otherwise long after the start. */
export async function tryTransaction(pool: Pool): Promise<void> {
  const client = await pool.connect();
  let isSound = false;
  try {
    await client.query("begin");
    await client.query("commit");
    isSound = true;
  } finally {
    client.release(!isSound);
  }
}
