// Sessions with the server: a bounded pool, and how their answers read. Statements of one session are sent one behind the other
// without waiting for each answer; the network must not be silently dead for longer than a query may take.
import type { CustomTypesConfig, Pool, PoolConfig } from "pg";
import type { PostgresAddress } from "./address.ts";
import { decodeText } from "./text.ts";

/** What is used of the driver, which the user installs. */
export type Pg = Pick<typeof import("pg"), "Pool" | "Client" | "types">;

// A session that does not answer for so long is given up, and what it was asked is asked again on another.
const queryTimeoutMs = 30_000;
const connectTimeoutMs = 5_000;

const oidOfInt8 = 20;
const textOids: ReadonlySet<number> = new Set([25, 1042, 1043]);

// Plans made when a table was empty must not outlive that: every statement here has its index.
const sessionOptions = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off";

export function poolFor(pg: Pg, address: PostgresAddress, applicationName: string): Pool {
  const config: PoolConfig & { pipeline: boolean } = {
    ...sessionConfig(pg, address, applicationName),
    max: address.poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    pipeline: true,
  };
  const pool = new pg.Pool(config);
  // A session the server ended while nobody used it: the pool makes another one when it is wanted.
  pool.on("error", () => {});
  // Between two statements of a transaction nobody waits for it; the next one is told that the session is gone.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** For code of users: sessions as they would open them themselves, with nothing set and every type as `pg` reads it. */
export function plainPoolFor(pg: Pg, address: PostgresAddress, applicationName: string): Pool {
  const pool = new pg.Pool({
    connectionString: address.connectionString,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    max: address.txPoolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
  });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function sessionConfig(pg: Pg, address: PostgresAddress, applicationName: string) {
  return {
    connectionString: address.connectionString,
    application_name: applicationName,
    types: typesOf(pg),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: queryTimeoutMs,
    ...(address.isPooled ? {} : { options: sessionOptions }),
  };
}

function typesOf(pg: Pg): CustomTypesConfig {
  return {
    getTypeParser: ((oid: number, format?: "text" | "binary") => {
      if (oid === oidOfInt8) return Number;
      if (textOids.has(oid)) return decodeText;
      return format === undefined ? pg.types.getTypeParser(oid) : pg.types.getTypeParser(oid, format as "text");
    }) as CustomTypesConfig["getTypeParser"],
  };
}
