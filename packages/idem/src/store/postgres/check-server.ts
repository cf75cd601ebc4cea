// A server that may lose what it has acknowledged, or that cannot write, is refused before anything is accepted.
import type { Pool } from "pg";
import { errors, type IdemError } from "../../model/errors.ts";

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

export async function checkServer(pool: Pool, where: string): Promise<void> {
  const why = fault(await readSettings(pool));
  if (why !== null) throw errors.STORE_NOT_DURABLE({ path: where, why });
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
