// A store's address: what `pg` understands (user, host, TLS, and PG* variables for what is left out), and a few words of our own.
import { errors } from "../../model/errors.ts";
import { didYouMean } from "../../model/nearest-word.ts";

export interface PostgresAddress {
  /** For `pg`, without our own words. */
  readonly connectionString: string;
  readonly schema: string;
  /** How many sessions this process may hold for its work; one more listens. */
  readonly poolSize: number;
  /** How many more for steps that are transactions: as long as their bodies take. */
  readonly txPoolSize: number;
  /** A transaction pooler is between: no named statements, no LISTEN, no session settings. */
  readonly isPooled: boolean;
}

// Operations, reads and a spare: more sessions did not make it faster (store.md §4.1).
const poolSizeDefault = 8;
const txPoolSizeDefault = 4;

const ownWords = ["schema", "pool", "txpool", "pooler"] as const;

/** What `pg` understands, and what providers write into their addresses for other drivers without harm to this one. */
const driverWords = [
  "application_name",
  "channel_binding",
  "client_encoding",
  "connect_timeout",
  "encoding",
  "fallback_application_name",
  "gssencmode",
  "host",
  "idle_in_transaction_session_timeout",
  "lock_timeout",
  "options",
  "password",
  "port",
  "ssl",
  "sslcert",
  "sslkey",
  "sslmode",
  "sslnegotiation",
  "sslrootcert",
  "statement_timeout",
  "uselibpqcompat",
  "user",
];

const words: readonly string[] = [...ownWords, ...driverWords];

/** Words that other tools have for what is said differently here. */
const otherWords: Readonly<Record<string, string>> = {
  pgbouncer: "pooler=true",
  connection_limit: "pool",
  pool_max: "pool",
  search_path: "schema",
  currentschema: "schema",
};

/** Why a parameter cannot be meant; a wrong one that is passed over is a store in another place. */
function wordFault(parameters: URLSearchParams): string | null {
  const seen = new Set<string>();
  for (const word of parameters.keys()) {
    if (seen.has(word)) return `"${word}" is given twice`;
    seen.add(word);
    if (words.includes(word)) continue;
    const other = otherWords[word.toLowerCase()];
    const meant = other === undefined ? didYouMean(word, words) : `; did you mean "${other}"?`;
    return `"${word}" is not a parameter of an address${meant || ` (there are ${ownWords.join(", ")}, and those of pg)`}`;
  }
  return null;
}

export function readAddress(url: string): PostgresAddress {
  const refuse = (why: string) => errors.STORE_URL_INVALID({ url: withoutPassword(url), why });
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw refuse("it cannot be read as a URL");
  }
  const unknown = wordFault(parsed.searchParams);
  if (unknown !== null) throw refuse(unknown);
  const own = (name: (typeof ownWords)[number]): string | null => {
    const value = parsed.searchParams.get(name);
    parsed.searchParams.delete(name);
    return value;
  };
  const schema = own("schema") ?? "idem";
  if (schema === "" || schema.length > 63) throw refuse("its schema's name must have 1 to 63 characters");
  const pool = own("pool");
  const poolSize = pool === null ? poolSizeDefault : Number(pool);
  if (!Number.isInteger(poolSize) || poolSize < 2 || poolSize > 100)
    throw refuse("pool must be a number from 2 to 100");
  const txPool = own("txpool");
  const txPoolSize = txPool === null ? txPoolSizeDefault : Number(txPool);
  if (!Number.isInteger(txPoolSize) || txPoolSize < 1 || txPoolSize > 100)
    throw refuse("txpool must be a number from 1 to 100");
  const pooler = own("pooler");
  if (pooler !== null && pooler !== "true" && pooler !== "false") throw refuse('pooler must be "true" or "false"');
  return { connectionString: parsed.href, schema, poolSize, txPoolSize, isPooled: pooler === "true" };
}

// The only words of an address that are shown: `password` is one that `pg` understands, too.
const shownWords = /^(schema|pool|txpool|pooler|sslmode)=/;

/** For people and logs. A password may hold every character, also those it should have escaped: up to the last @ nothing is shown. */
export function withoutPassword(url: string): string {
  const [place, ...words] = url.replace(/^([a-z][a-z0-9+.-]*:(?:\/\/)?)?.*@/is, "$1…@").split("?");
  const shown = words
    .join("?")
    .split("&")
    .filter((word) => shownWords.test(word));
  return shown.length === 0 ? place! : `${place}?${shown.join("&")}`;
}
