// A store for looking: it makes, migrates and writes nothing, so a role that may only select will do, and so will a standby. What a
// node would refuse to start on is looked at all the same; that is what the doctor is for.
import { errors } from "../../model/errors.ts";
import { operationNames, type Store } from "../store.ts";
import { readAddress, withoutPassword } from "./address.ts";
import { readSettings, type Settings, whichServer } from "./check-server.ts";
import { Connection } from "./connection.ts";
import { checkSchema } from "./migrate.ts";
import { loadMigrations } from "./migrations.ts";
import { refuseHalfMoved } from "./moving-mark.ts";
import { openingFault } from "./opening-fault.ts";
import { type PostgresStoreOptions, repeated } from "./postgres-store.ts";
import { readsOver } from "./reads.ts";
import type { RecognisedServer } from "./recognise-server.ts";
import { Sessions } from "./sessions.ts";
import { Statements } from "./statement.ts";
import { Transactions } from "./transactions.ts";

export interface ReadOnlyStore {
  readonly store: Store;
  /** For reads that only tools need. */
  readonly connection: Connection;
  readonly schema: string;
  readonly schemaVersion: number;
  readonly settings: Settings;
  readonly server: RecognisedServer;
  /** Its address without what is secret. */
  readonly where: string;
  /** Asks again when the session was lost. */
  untilKnown<T>(attempt: () => Promise<T>): Promise<T>;
}

const nowSql = `
  select greatest((extract(epoch from clock_timestamp()) * 1000)::bigint,
                  (select cast(value as bigint) from meta where name = 'clock')) as now`;

export async function openReadOnlyStore(options: PostgresStoreOptions): Promise<ReadOnlyStore> {
  const address = readAddress(options.url);
  const where = withoutPassword(options.url);
  const { schema } = address;
  const sessions = new Sessions({ ...options, address, applicationName: `idem ${options.owner}` });
  const pool = sessions.workers();
  try {
    const server = await whichServer(pool);
    // There is nothing to look at where the tables cannot be.
    if (server.kind === "CockroachDB" && server.refusal !== null)
      throw errors.STORE_SERVER_UNSUITABLE({ path: where, why: server.refusal });
    const settings = await readSettings(pool);
    const schemaVersion = await checkSchema(pool, schema, loadMigrations(), where);
    await refuseHalfMoved(pool, schema, where);
    const connection = new Connection(pool, new Statements(schema), !address.isPooled).forReads();
    const { platform } = options;
    const transactions = new Transactions({
      pool,
      connection,
      schema,
      platform,
      lockWaitMs: sessions.lockWaitMs,
      where,
    });
    const at = async () => {
      const now = options.wallMs?.() ?? (await connection.one<{ now: number }>(nowSql))!.now;
      return { now, windowNow: () => now, leaseNow: now };
    };
    const store: Record<string, unknown> = {
      reads: repeated(readsOver(connection, at), transactions),
      shared: null,
      outbox: null,
      transactional: null,
      close: async () => {
        transactions.close();
        await sessions.close(options.platform);
      },
    };
    for (const name of operationNames) {
      store[name] = async () => {
        throw errors.STORE_UNAVAILABLE({ why: `it is open for reading only, and "${name}" writes` });
      };
    }
    return {
      store: store as unknown as Store,
      connection,
      schema,
      schemaVersion,
      settings,
      server,
      where,
      untilKnown: (attempt) => transactions.untilKnown(attempt),
    };
  } catch (error) {
    await sessions.close(options.platform);
    throw openingFault(error, where);
  }
}
