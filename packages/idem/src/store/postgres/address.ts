// A store's address: what `pg` understands (user, host, TLS, and PG* variables for what is left out), and a few words of our own.
import { errors } from "../../model/errors.ts";
import { leaseTimes, sharedLeaseTermMs } from "../../model/lease-times.ts";
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
  /** Without them nobody listens and nobody notifies: nodes find each other's work by looking. */
  readonly hasHints: boolean;
  /** Several, of which sessions go to the first that fits; empty where the address names one, or leaves it to PGHOST. */
  readonly hosts: readonly Host[];
  /** Whether a server that cannot be written to fits. */
  readonly mayBeReadOnly: boolean;
  /** Instead of what the lease's term gives. */
  readonly queryTimeoutMs: number | null;
  /** Settings of sessions that the user wants beside our own. */
  readonly options: string | null;
}

export interface Host {
  readonly host: string;
  /** Null: PGPORT's, or the usual one. */
  readonly port: number | null;
}

// Operations, reads and a spare: more sessions did not make it faster (docs/reference/stores.md#batches).
const poolSizeDefault = 8;
const txPoolSizeDefault = 4;

const ownWords = ["schema", "pool", "txpool", "pooler", "hints"] as const;

/** Words of others that are taken here, as `pg` has no use for them or would let them win over what depends on them. */
const takenWords = ["target_session_attrs", "query_timeout", "options"] as const;

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

const words: readonly string[] = [...ownWords, ...takenWords, ...driverWords];

/** Words that other tools have for what is said differently here. */
const otherWords: Readonly<Record<string, string>> = {
  pgbouncer: "pooler=true",
  connection_limit: "pool",
  pool_max: "pool",
  search_path: "schema",
  currentschema: "schema",
  listen: "hints=false",
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
  const { hosts, single } = severalHosts(url);
  const isPort = (port: number | null) => port === null || (Number.isInteger(port) && port > 0 && port < 65_536);
  if (hosts.some(({ host, port }) => host === "" || !isPort(port)))
    throw refuse("each of its hosts must be written as host or host:port");
  let parsed: URL;
  try {
    parsed = new URL(single);
  } catch {
    throw refuse("it cannot be read as a URL");
  }
  const unknown = wordFault(parsed.searchParams);
  if (unknown !== null) throw refuse(unknown);
  if (parsed.searchParams.get("host")?.includes(","))
    throw refuse("several hosts are written before the path: postgres://user@a,b:5433/database");
  const own = (name: (typeof ownWords)[number] | (typeof takenWords)[number]): string | null => {
    const value = parsed.searchParams.get(name);
    parsed.searchParams.delete(name);
    return value;
  };
  const within = (name: "pool" | "txpool" | "query_timeout", unless: number, min: number, max: number, unit = "") => {
    const text = own(name);
    const value = text === null ? unless : Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw refuse(`${name} must be a number from ${min} to ${max}${unit}`);
    return value;
  };
  const schema = own("schema") ?? "idem";
  if (schema === "" || schema.length > 63) throw refuse("its schema's name must have 1 to 63 characters");
  const poolSize = within("pool", poolSizeDefault, 2, 100);
  const txPoolSize = within("txpool", txPoolSizeDefault, 1, 100);
  const yesOrNo = (name: "pooler" | "hints", unless: boolean): boolean => {
    const text = own(name) ?? String(unless);
    if (text !== "true" && text !== "false") throw refuse(`${name} must be "true" or "false"`);
    return text === "true";
  };
  const isPooled = yesOrNo("pooler", false);
  const hasHints = yesOrNo("hints", true);
  const sslFault = settleTls(parsed.searchParams);
  if (sslFault !== null) throw refuse(sslFault);
  const wanted = own("target_session_attrs") ?? "read-write";
  if (wanted !== "any" && wanted !== "read-write" && wanted !== "primary")
    throw refuse('target_session_attrs must be "read-write", "primary" or "any": a node writes');
  const { lockWaitMs, trustMs } = leaseTimes(sharedLeaseTermMs);
  const bound = ` milliseconds: longer than a lock is waited for, shorter than a lease is trusted (${sharedLeaseTermMs} × ¾)`;
  const hasTimeout = parsed.searchParams.has("query_timeout");
  const timeoutMs = within("query_timeout", trustMs, lockWaitMs + 1, trustMs, bound);
  return {
    schema,
    poolSize,
    txPoolSize,
    isPooled,
    hasHints,
    hosts,
    mayBeReadOnly: wanted === "any",
    queryTimeoutMs: hasTimeout ? timeoutMs : null,
    options: own("options"),
    connectionString: parsed.href,
  };
}

const sslModes: readonly string[] = ["disable", "no-verify", "prefer", "require", "verify-ca", "verify-full"];

/**
 * `prefer`, `require` and `verify-ca` are `verify-full` to `pg` 8, which says that they will be weaker one day; here they stay what they are.
 * With `uselibpqcompat=true` they are as weak as PostgreSQL's own library has them.
 */
function settleTls(parameters: URLSearchParams): string | null {
  const mode = parameters.get("sslmode");
  if (mode === null) return null;
  if (!sslModes.includes(mode))
    return `sslmode must be ${sslModes.slice(0, -1).join(", ")} or verify-full${didYouMean(mode, sslModes)}`;
  const isSure = mode === "prefer" || mode === "require" || mode === "verify-ca";
  if (isSure && parameters.get("uselibpqcompat") !== "true") parameters.set("sslmode", "verify-full");
  return null;
}

/** `pg` takes one host: several are taken out, each with a port of its own or the usual one, and the first is left. */
function severalHosts(url: string): { readonly hosts: readonly Host[]; readonly single: string } {
  const [, before, places, after] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(url) ?? [];
  if (places === undefined || !places.includes(",")) return { hosts: [], single: url };
  const hosts = places.split(",").map((place) => {
    const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place)!;
    return { host: host!.replace(/^\[|\]$/g, ""), port: port === undefined ? null : Number(port) };
  });
  return { hosts, single: `${before}${places.split(",")[0]!.replace(/:[^:\]]*$/, "")}${after}` };
}

// The only words of an address that are shown: `password` is one that `pg` understands, too.
const shownWords = /^(schema|pool|txpool|pooler|hints|sslmode|target_session_attrs)=/;

/** For people and logs. A password may hold every character, also those it should have escaped: up to the last @ nothing is shown. */
export function withoutPassword(url: string): string {
  const [place, ...words] = url.replace(/^([a-z][a-z0-9+.-]*:(?:\/\/)?)?.*@/is, "$1…@").split("?");
  const shown = words
    .join("?")
    .split("&")
    .filter((word) => shownWords.test(word));
  return shown.length === 0 ? place! : `${place}?${shown.join("&")}`;
}
