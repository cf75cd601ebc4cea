// A store for looking: opened read-only beside the owner of the file, or on a file nobody has open. It takes no lock, writes
// nothing and sees every commit up to the moment it reads.
import type { Instant } from "../../model/claim.ts";
import { errors, type IdemError } from "../../model/errors.ts";
import { lookAtPath } from "../../platform/look-at-path.ts";
import { StoreClock } from "../clock.ts";
import type { StoreReads } from "../reads.ts";
import type { Migration, OurHistory } from "../schema-history.ts";
import { operationNames, type Store } from "../store.ts";
import { Connection } from "./connection.ts";
import { readHistory } from "./migrate.ts";
import { openingFault } from "./opening-fault.ts";
import { readsOver } from "./reads.ts";

export interface ReadOnlyStore {
  readonly store: Store;
  /** For reads that only tools need. */
  readonly connection: Connection;
  readonly schemaVersion: number;
}

/** Of why it did not open: what a reader meets as its owner does. */
const passesNever: ReadonlySet<string> = new Set(["STORE_NOT_A_DATABASE", "STORE_DAMAGED", "STORE_DRIVER_UNUSABLE"]);

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
    const history = readHistory(connection, migrations);
    if (history.kind !== "current") throw refusalToRead(history, path, known);
    const clock = new StoreClock(options.clock);
    return { store: storeOver(connection, () => clock.read()), connection, schemaVersion: known };
  } catch (error) {
    connection?.close();
    const code = String((error as { code?: unknown }).code);
    const fault = openingFault(error, path, lookAtPath(path));
    if (passesNever.has(fault.code)) throw fault;
    if (code.startsWith("SQLITE_")) {
      // A log must be shared even for reading: SQLite makes its index file beside the store where nobody has it open.
      const hint = /^SQLITE_(CANTOPEN|READONLY)/.test(code) ? "; reading needs write access to the store's folder" : "";
      throw errors.STORE_UNAVAILABLE({ why: `${path}: ${(error as Error).message} (${code})${hint}` });
    }
    throw error;
  }
}

/** A file that this build has not had in its hands yet: only who owns it may change it. */
function refusalToRead(history: Exclude<OurHistory, { kind: "current" }>, path: string, known: number): IdemError {
  const brings = "the next process that opens it for writing brings it up to date";
  const refuse = (why: string) => errors.STORE_URL_INVALID({ url: `sqlite:${path}`, why: `${path} ${why}` });
  switch (history.kind) {
    case "empty":
      return refuse("is a SQLite file without Idem's tables");
    case "behind":
      return refuse(`has schema version ${history.found}, older than ${known}; ${brings}`);
    case "unrecorded":
      return refuse(`is of a build that kept no checksums of its migrations; ${brings}`);
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
