// A server that may lose what it has acknowledged is refused before anything is accepted; and so is one that only speaks PostgreSQL's
// protocol and could not keep what is promised. One that cannot write yet is not ready (opening-fault.ts). What it keeps with a condition
// is told when a process starts.
import type { Pool } from "pg";
import { errors, type IdemError } from "../../model/errors.ts";
import type { PostgresAddress } from "./address.ts";
import { type RecognisedServer, recogniseServer, type ServerAbout } from "./recognise-server.ts";
import { countStandbysSql } from "./server-reads.ts";

const settingsSql = `
  select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
         current_setting('synchronous_commit') as synchronous_commit, pg_is_in_recovery() as in_recovery,
         current_setting('synchronous_standby_names') as synchronous_standby_names,
         current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`;

export interface Settings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly synchronous_standby_names: string;
  readonly in_recovery: boolean;
  readonly version: number;
  readonly encoding: string;
}

const versionMin = 140_000;

/**
 * Of a transaction's own session, whether its commit will be as safe as `fault` asks: settings change while nodes run. It keeps the one it
 * saw for the rest of the transaction, which a reload of the configuration could otherwise change before the commit.
 */
export const isDurableSql = `
  current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on'
  and set_config('synchronous_commit', current_setting('synchronous_commit'), true) <> 'off'
  and (current_setting('synchronous_commit') <> 'local' or current_setting('synchronous_standby_names') = '')`;

/** For what would have been committed there. The session is to be closed: another one may have other settings. */
export async function durabilityLost(session: Pick<Pool, "query">, where: string): Promise<IdemError> {
  const why = fault(await readSettings(session)) ?? "its settings were changed a moment ago";
  return errors.STORE_DURABILITY_LOST({ path: where, why });
}

export async function checkServer(pool: Pool, where: string): Promise<RecognisedServer> {
  const server = await whichServer(pool);
  if (server.refusal !== null) throw errors.STORE_SERVER_UNSUITABLE({ path: where, why: server.refusal });
  await refuseStandby(pool, where);
  const why = fault(await readSettings(pool));
  if (why !== null) throw errors.STORE_NOT_DURABLE({ path: where, why });
  return server;
}

const standbySql = `
  select pg_is_in_recovery() as "isInRecovery", current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** A proxy may lead to a standby until it knows the new primary, and a standby that is promoted is one: this is not final. */
async function refuseStandby(pool: Pick<Pool, "query">, where: string): Promise<void> {
  const { rows } = await pool.query<{ isInRecovery: boolean; isReadOnly: boolean }>(standbySql);
  const { isInRecovery, isReadOnly } = rows[0]!;
  if (!isInRecovery && !isReadOnly) return;
  const what = isInRecovery
    ? "the server is in recovery: it is a standby, or not promoted yet"
    : "the server takes no writes (default_transaction_read_only is on)";
  throw errors.STORE_UNAVAILABLE({ why: `${where}: ${what}` });
}

const versionSql = "select version() as version";
const aboutSql = `
  select (select extversion from pg_extension where extname = 'citus') as citus,
         current_setting('yb_effective_transaction_isolation_level', true) as "ybIsolation",
         (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'sys' and c.relname in ('jobs', 'iam_pg_role_mappings')) = 2 as "hasDsqlViews"`;
const nothingElse = { citus: null, ybIsolation: null, hasDsqlViews: false };

/** Its version first: not every server that has one has what else is asked. */
export async function whichServer(pool: Pick<Pool, "query">): Promise<RecognisedServer> {
  const { version } = (await pool.query<{ version: string }>(versionSql)).rows[0]!;
  const first = recogniseServer({ version, ...nothingElse });
  if (first.kind === "CockroachDB") return first;
  return recogniseServer({ version, ...(await pool.query<Omit<ServerAbout, "version">>(aboutSql)).rows[0]! });
}

// Local ones that Citus only knows of have no colocation (pg_dist_partition).
const distributedSql = `
  select c.relname as name from pg_dist_partition p
    join pg_class c on c.oid = p.logicalrelid join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = $1 and not (p.partmethod = 'n' and p.repmodel <> 't' and p.colocationid = 0)
   order by name limit 3`;

/** Settings are looked at where the session is; what other nodes of the cluster would do to a commit is not. */
export async function refuseDistributed(
  { kind }: RecognisedServer,
  pool: Pick<Pool, "query">,
  schema: string,
  where: string,
): Promise<void> {
  if (kind !== "Citus") return;
  const { rows } = await pool.query<{ name: string }>({ text: distributedSql, values: [schema] });
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(", ");
  throw errors.STORE_SERVER_UNSUITABLE({
    path: where,
    why: `tables of schema "${schema}" are distributed by Citus (${names}): make them local with undistribute_table or citus_schema_undistribute, or use another schema (docs/postgres-distributed.md)`,
  });
}

/** What whoever starts a process should know of the server, as sentences; the same is in `idem doctor`. */
export async function tellServer(
  server: RecognisedServer,
  pool: Pick<Pool, "query">,
  { hosts }: PostgresAddress,
): Promise<string[]> {
  const { synchronous_standby_names } = await readSettings(pool);
  const lines = server.note === null ? [] : [`idem: ${server.note}`];
  if (synchronous_standby_names !== "") return lines;
  // Where a provider hides them, the address may tell.
  const found = await pool.query<{ count: number }>(countStandbysSql).catch(() => ({ rows: [] }));
  const asynchronous = standbysText(found.rows[0]?.count ?? 0, hosts.length);
  return asynchronous === null ? lines : [...lines, asynchronous];
}

function standbysText(standbys: number, hosts: number): string | null {
  if (standbys === 0 && hosts < 2) return null;
  const who =
    standbys > 0
      ? `${standbys} ${standbys === 1 ? "standby follows" : "standbys follow"} this server asynchronously`
      : `the address names ${hosts} hosts, and commits wait for none but the first: others follow it asynchronously`;
  return `idem: ${who}. Where one takes over, what was acknowledged last may be lost: accepted events are gone, taken keys free, and recorded steps run again. Name it in synchronous_standby_names, and commits wait for it; one that is only read from may stay as it is (docs/failover.md#asynchronous-and-synchronous-replication)`;
}

export const readSettings = async (pool: Pick<Pool, "query">): Promise<Settings> =>
  (await pool.query<Settings>({ text: settingsSql })).rows[0]!;

export function fault(settings: Settings): string | null {
  if (settings.in_recovery) return "the server is in recovery (a standby): give the address of the primary";
  if (settings.fsync !== "on") return "fsync is off: a power cut would lose what was acknowledged";
  if (settings.full_page_writes !== "on") return "full_page_writes is off: a power cut could tear its pages";
  if (settings.synchronous_commit === "off")
    return "synchronous_commit is off: a crash would lose what was acknowledged";
  if (settings.synchronous_commit === "local" && settings.synchronous_standby_names !== "")
    return "synchronous_commit is local beside synchronous_standby_names: a standby that takes over would lack what was acknowledged";
  if (settings.encoding !== "UTF8") return `its encoding is ${settings.encoding} instead of UTF8`;
  if (settings.version < versionMin) return `PostgreSQL ${settings.version} is older than 14`;
  return null;
}
