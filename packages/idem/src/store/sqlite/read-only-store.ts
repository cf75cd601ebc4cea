// A store for looking: opened read-only beside whoever owns the file, or on a file nobody has open. It takes no lock, writes
// nothing and sees every commit up to the moment it reads.
import type { Instant } from "../../model/claim.ts";
import { errors } from "../../model/errors.ts";
import { StoreClock } from "../clock.ts";
import type { StoreReads } from "../reads.ts";
import type { Store } from "../store.ts";
import { Connection } from "./connection.ts";
import { operationNames } from "./core.ts";
import { type Migration, schemaVersion } from "./migrate.ts";
import { readsOver } from "./reads.ts";

export interface ReadOnlyStore {
  readonly store: Store;
  /** For reads that only tools need. */
  readonly connection: Connection;
  readonly schemaVersion: number;
}

export function openReadOnlyStore(options: {
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly clock: { wallMs(): number; monoMs(): number };
}): ReadOnlyStore {
  const { path, migrations } = options;
  const known = migrations.at(-1)!.version;
  let connection: Connection | null = null;
  try {
    connection = new Connection(path, { readonly: true });
    const found = schemaVersion(connection);
    if (found > known) throw errors.STORE_NEWER({ path, found, known });
    if (found < known) {
      const why =
        found === 0
          ? `${path} is a SQLite file without Idem's tables`
          : `${path} has schema version ${found}, older than ${known}; the next process that opens it for writing brings it up to date`;
      throw errors.STORE_URL_INVALID({ url: `sqlite:${path}`, why });
    }
    const clock = new StoreClock(options.clock);
    return { store: storeOver(connection, () => clock.read()), connection, schemaVersion: found };
  } catch (error) {
    connection?.close();
    const code = String((error as { code?: unknown }).code);
    if (code.startsWith("SQLITE_")) {
      // A log must be shared even for reading: SQLite makes its index file beside the store where nobody has it open.
      const hint = /^SQLITE_(CANTOPEN|READONLY)/.test(code) ? "; reading needs write access to the store's folder" : "";
      throw errors.STORE_UNAVAILABLE({ why: `${path}: ${(error as Error).message} (${code})${hint}` });
    }
    throw error;
  }
}

function storeOver(connection: Connection, at: () => Instant): Store {
  const store: Record<string, unknown> = {
    shared: null,
    outbox: null,
    transactional: null,
    close: async () => connection.close(),
  };
  for (const name of operationNames) {
    store[name] = async () => {
      throw errors.STORE_UNAVAILABLE({ why: `it is open for reading only, and "${name}" writes` });
    };
  }
  const reads: Record<string, unknown> = {};
  const sync = readsOver(connection, at);
  for (const name of Object.keys(sync) as (keyof StoreReads)[]) {
    reads[name] = async (...input: unknown[]) => (sync[name] as (...input: readonly unknown[]) => unknown)(...input);
  }
  store.reads = reads;
  return store as unknown as Store;
}
