// Why a store on PostgreSQL did not open, as an error with its own remedy. "Try again" is said only of what passes by itself.
//
//   the server or the driver says                        code
//   28P01, 28000, 42501; no password at hand             STORE_ACCESS_DENIED
//   28000 "no encryption", TLS and certificates          STORE_TLS_REFUSED
//   3D000                                                STORE_MISSING
//   ENOTFOUND                                            STORE_HOST_NOT_FOUND
//   53300                                                STORE_TOO_MANY_SESSIONS
//   08P01 "unsupported startup parameter"                STORE_URL_INVALID, with pooler=true
//   08P01 "statement pooling mode"                       STORE_URL_INVALID
//   a certificate's file that is not there               STORE_URL_INVALID
//   anything else                                        STORE_UNAVAILABLE
import type { Pool } from "pg";
import { errors, IdemError } from "../../model/errors.ts";
import { wordsOf } from "./faults.ts";

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;
const tlsWords = /does not support SSL|establishing an SSL connection|no encryption|SSL off|sslmode|sslnegotiation/i;

/** A pooler tells everything with one code. */
const poolerWords = {
  denied: /password authentication failed|no such user|authentication failed|not allowed to connect/i,
  missing: /no such database/i,
  full: /no more connections allowed|too many (clients|connections)/i,
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
      break;
    case "08P01":
      if (poolerWords.denied.test(why)) return errors.STORE_ACCESS_DENIED({ path, why }, cause);
      if (poolerWords.missing.test(why)) return errors.STORE_MISSING({ path, why }, cause);
      if (poolerWords.full.test(why)) return errors.STORE_TOO_MANY_SESSIONS({ path, why }, cause);
  }
  return errors.STORE_UNAVAILABLE({ why: `${where}: ${why}` }, cause);
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
