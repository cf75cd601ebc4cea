// A store opened for reading: a file beside its owner if one lives, without it otherwise; a server's store beside its nodes.
import { processName } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { Idem } from "../sdk/client.ts";
import { sealingOf, sealStore } from "../sdk/sealed-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { openReadOnlyStore } from "../store/sqlite/read-only-store.ts";
import type { Store } from "../store/store.ts";
import type { Place, Reading } from "./command.ts";
import { unusable } from "./exit.ts";
import { checkStoreFile, type StoreAddress } from "./find-store.ts";
import type { Io } from "./terminal.ts";
import { type ToolReads, toolReadsOfFile } from "./tool-reads.ts";

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** How a command is named to others: the owner of a file meanwhile, or a session of a server. */
export const commandName = (): string => `a command line, ${processName()}`;

/** Where one app has all functions, people mean its own names. */
export function onlyApp(functions: readonly { readonly app: string }[]): string | null {
  const apps = new Set(functions.map(({ app }) => app));
  return apps.size === 1 ? [...apps][0]! : null;
}

export interface Opened {
  readonly store: Store;
  readonly place: Place;
  readonly rows: ToolReads;
}

export async function readStore<T>(
  io: Io,
  options: { readonly address: StoreAddress; readonly env: string; readonly app: string | undefined },
  body: (reading: Reading) => Promise<T>,
): Promise<T> {
  const { address, env } = options;
  // Refused, where the key is none, before anything is open.
  const sealing = sealingOf(io.platform, address.kind === "server", io.env);
  const opened = await open(address, io.platform);
  const { place, rows } = opened;
  const store = sealStore(opened.store, sealing);
  try {
    const { functions } = await store.reads.functions(env);
    const app = options.app ?? onlyApp(functions);
    const byFn = new Map(functions.map((each) => [each.fn, each]));
    const idem = new Idem({ id: app ?? "idem", env, store, platform: io.platform, logger: silent });
    return await body({
      store: place.kind === "file" ? place.path : place.where,
      env,
      idem,
      reads: store.reads,
      rows,
      place,
      get connection() {
        if (place.kind === "file") return place.connection;
        throw unusable(`${place.where} is a PostgreSQL store, and this works on SQLite files.`);
      },
      nameOf: (fn) => {
        const found = byFn.get(fn);
        return found !== undefined && found.app === app ? found.id : fn;
      },
      slugOf: (name) => (app !== null && byFn.has(`${app}-${name}`) ? `${app}-${name}` : name),
    });
  } finally {
    await store.close();
  }
}

async function open(address: StoreAddress, platform: Platform): Promise<Opened> {
  if (address.kind === "server") {
    // Whoever looks into a file does not load what a server needs.
    const { openServerReading } = await import("./open-server-reading.ts");
    return openServerReading(address.url, platform);
  }
  const { path } = address;
  checkStoreFile(path);
  const { store, connection, schemaVersion } = openReadOnlyStore({
    path,
    migrations: loadMigrations(),
    clock: platform,
  });
  return { store, place: { kind: "file", path, connection, schemaVersion }, rows: toolReadsOfFile(connection) };
}
