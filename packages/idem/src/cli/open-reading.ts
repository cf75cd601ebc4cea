// A store opened for reading: a file beside its owner if one lives, without it otherwise; a server's store beside its nodes.
import { allNames, type NamedFunction, namedOf, recordedNames, shownApp, shownName } from "../model/function-names.ts";
import { processName } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { Idem } from "../sdk/client.ts";
import { sealingOf, sealStore } from "../sdk/sealed-store.ts";
import type { RegisteredFunction } from "../store/functions.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { openReadOnlyStore } from "../store/sqlite/read-only-store.ts";
import type { Store } from "../store/store.ts";
import type { Place, Reading } from "./command.ts";
import { unusable } from "./exit.ts";
import { checkStoreFile, type StoreAddress } from "./find-store.ts";
import type { ServerAddress } from "./server-line.ts";
import type { Io } from "./terminal.ts";
import { type ToolReads, toolReadsOfFile } from "./tool-reads.ts";

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A command's name for others: the owner of a file meanwhile, or a session of a server. */
export const commandName = (): string => `a command line, ${processName()}`;

/** The app whose own names people mean, by the name that rows have it under: the one they said, or the one that has all functions. */
export function appMeant(functions: readonly RegisteredFunction[], said: string | undefined): string | null {
  const apps = new Set(functions.map(({ app }) => app));
  if (said === undefined) return apps.size === 1 ? [...apps][0]! : null;
  return functions.map(namedOf).find((each) => shownApp(each) === said)?.app ?? said;
}

/** From rows to what people call a function, and back. `app` is the one whose own names they mean. */
export function functionNamesOf(
  functions: readonly RegisteredFunction[],
  app: string | null,
): Pick<Reading, "nameOf" | "slugOf"> {
  const byName = new Map<string, NamedFunction>();
  const ids = new Map<string, NamedFunction>();
  const isOwn = (each: NamedFunction) => each.app === app;
  const all = functions.map(namedOf);
  for (const each of all) for (const name of allNames(each)) byName.set(name, each);
  for (const each of all) byName.set(each.fn, each);
  for (const each of all.filter(isOwn)) {
    for (const name of recordedNames(each))
      if (name.startsWith(`${each.app}-`)) ids.set(name.slice(each.app.length + 1), each);
  }
  for (const each of all.filter(isOwn)) ids.set(each.config.id, each);
  return {
    nameOf: (fn) => {
      const found = byName.get(fn);
      if (found === undefined) return fn;
      return isOwn(found) ? found.config.id : shownName(found);
    },
    slugOf: (name) => (ids.get(name) ?? byName.get(name))?.fn ?? name,
  };
}

export interface Opened {
  readonly store: Store;
  readonly place: Place;
  readonly rows: ToolReads;
}

export async function readStore<T>(
  io: Io,
  options: { readonly address: ReadAddress; readonly env: string; readonly app: string | undefined },
  body: (reading: Reading) => Promise<T>,
): Promise<T> {
  const { address, env } = options;
  const { store, place, rows } = await openSealed(io, address, env);
  try {
    const { functions } = await store.reads.functions(env);
    const app = appMeant(functions, options.app);
    const names = functionNamesOf(functions, app);
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
        const what = place.kind === "server" ? "a PostgreSQL store" : "a server elsewhere";
        throw unusable(`${place.where} is ${what}, and this works on SQLite files.`);
      },
      ...names,
    });
  } finally {
    await store.close();
  }
}

/** A store on this machine or on PostgreSQL, or what a server elsewhere has. */
export type ReadAddress = StoreAddress | ({ readonly kind: "elsewhere" } & ServerAddress);

async function openSealed(io: Io, address: ReadAddress, env: string): Promise<Opened> {
  if (address.kind === "elsewhere") {
    const [{ lineTo }, { openRemoteReading }] = await Promise.all([
      import("./server-line.ts"),
      import("./open-remote-reading.ts"),
    ]);
    return openRemoteReading(lineTo(io, address, env));
  }
  // Refused, where the key is none, before anything is open.
  const sealing = sealingOf(io.platform, address.kind === "server", io.env);
  const opened = await open(address, io.platform);
  return { ...opened, store: sealStore(opened.store, sealing) };
}

async function open(address: StoreAddress, platform: Platform): Promise<Opened> {
  if (address.kind === "server") {
    // A command that looks into a file does not load what a server needs.
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
