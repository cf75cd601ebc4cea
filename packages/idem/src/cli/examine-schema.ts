// The version of a store's schema, read from the store itself whatever it is: the other commands read only the current one. Nothing is written.
import { processName } from "../platform/node-platform.ts";
import { loadDriver } from "../sdk/open-store.ts";
import { readAddress, withoutPassword } from "../store/postgres/address.ts";
import type { Migration, OurHistory } from "../store/schema-history.ts";
import { Connection } from "../store/sqlite/connection.ts";
import { readHistory } from "../store/sqlite/migrate.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { checkStoreFile, type StoreAddress } from "./find-store.ts";
import type { Io } from "./terminal.ts";

export interface ExaminedSchema {
  readonly where: string;
  readonly history: OurHistory;
  readonly migrations: readonly Migration[];
  readonly openRuns: number;
  /** Of workers that are not gone. */
  readonly nodes: readonly { readonly node: string | null; readonly version: string | null }[];
}

/** Refuses what is newer or has another history. */
export async function examineSchema(io: Io, address: StoreAddress): Promise<ExaminedSchema> {
  return address.kind === "file" ? ofFile(address.path, io.platform.wallMs()) : ofServer(io, address.url);
}

// The tables of the first version have both; what a worker says of itself came later.
const openSql = "select count(*) as count from jobs where kind = 'run'";
const nodesFrom = 5;
const nodesSql = "select node, version from workers where dead_at is null and until > ? order by node";

function ofFile(path: string, now: number): ExaminedSchema {
  checkStoreFile(path);
  const connection = new Connection(path, { readonly: true });
  try {
    const migrations = loadMigrations();
    const history = readHistory(connection, migrations);
    const found = versionOf(history, migrations);
    return {
      where: path,
      history,
      migrations,
      openRuns: found === 0 ? 0 : connection.one<{ count: number }>(openSql)!.count,
      nodes: found < nodesFrom ? [] : connection.all<ExaminedSchema["nodes"][number]>(nodesSql, now),
    };
  } finally {
    connection.close();
  }
}

async function ofServer(io: Io, url: string): Promise<ExaminedSchema> {
  const [{ Sessions }, { loadMigrations }, { readHistory }] = await Promise.all([
    import("../store/postgres/sessions.ts"),
    import("../store/postgres/migrations.ts"),
    import("../store/postgres/migrate.ts"),
  ]);
  const address = readAddress(url);
  const where = withoutPassword(url);
  const sessions = new Sessions({
    pg: await loadDriver(url),
    address,
    applicationName: `idem upgrade, ${processName()}`,
  });
  const pool = sessions.workers();
  const schema = `"${address.schema.replaceAll('"', '""')}"`;
  try {
    const migrations = loadMigrations();
    const history = await readHistory(pool, address.schema, migrations, where);
    const isMade = versionOf(history, migrations) > 0;
    const all = async <Row>(text: string) => (isMade ? ((await pool.query(text)).rows as Row[]) : []);
    const [open] = await all<{ count: string }>(`select count(*) as count from ${schema}.jobs where kind = 'run'`);
    const alive = "dead_at is null and until > extract(epoch from clock_timestamp()) * 1000";
    const nodes = await all<ExaminedSchema["nodes"][number]>(
      `select node, version from ${schema}.workers where ${alive} order by node`,
    );
    return { where, history, migrations, openRuns: Number(open?.count ?? 0), nodes };
  } finally {
    await sessions.close(io.platform);
  }
}

/** 0 where nothing is made yet. */
export function versionOf(history: OurHistory, migrations: readonly Migration[]): number {
  if (history.kind === "current") return migrations.at(-1)!.version;
  return history.kind === "empty" ? 0 : history.found;
}
