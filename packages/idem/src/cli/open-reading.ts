// A store opened for reading: beside its owner if one lives, without it otherwise.
import { Idem } from "../sdk/client.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import { openReadOnlyStore } from "../store/sqlite/read-only-store.ts";
import type { Reading } from "./command.ts";
import { checkStoreFile } from "./find-store.ts";
import type { Io } from "./io.ts";

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Where one app has all functions, people mean its own names. */
export function onlyApp(functions: readonly { readonly app: string }[]): string | null {
  const apps = new Set(functions.map(({ app }) => app));
  return apps.size === 1 ? [...apps][0]! : null;
}

export async function readStore<T>(
  io: Io,
  options: { readonly path: string; readonly env: string; readonly app: string | undefined },
  body: (reading: Reading) => Promise<T>,
): Promise<T> {
  const { path, env } = options;
  checkStoreFile(path);
  const { store, connection, schemaVersion } = openReadOnlyStore({
    path,
    migrations: loadMigrations(),
    clock: io.platform,
  });
  try {
    const { functions } = await store.reads.functions(env);
    const app = options.app ?? onlyApp(functions);
    const byFn = new Map(functions.map((each) => [each.fn, each]));
    const idem = new Idem({ id: app ?? "idem", env, store, platform: io.platform, logger: silent });
    return await body({
      path,
      env,
      idem,
      reads: store.reads,
      connection,
      schemaVersion,
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
