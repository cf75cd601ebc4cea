// From a store's address to a store.
import { limits } from "../engine/limits.ts";
import { errors, IdemError } from "../model/errors.ts";
import { didYouMean } from "../model/nearest-word.ts";
import { lookAtPath } from "../platform/look-at-path.ts";
import { processName } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { prepareFolder } from "../platform/private-files.ts";
import { withoutPassword } from "../store/postgres/address.ts";
import type { PostgresStoreOptions } from "../store/postgres/postgres-store.ts";
import type { Pg } from "../store/postgres/sessions.ts";
import { openingFault } from "../store/sqlite/opening-fault.ts";
import { openThreadStore, type ThreadStoreOptions } from "../store/sqlite/thread-store.ts";
import type { Store } from "../store/store.ts";
import { sealingOf, sealStore } from "./sealed-store.ts";

export interface OpenedStore {
  readonly store: Store;
  readonly leaseTermMs: number;
  /** The file this process now owns, if it is one. */
  readonly file: string | null;
}

export interface OpenStoreOptions extends Pick<ThreadStoreOptions, "onCommit" | "onTrouble"> {
  /** How long a call is retried while a server does not answer. */
  readonly retryMs?: number;
  /** Called while calls are retried. */
  readonly onRetrying?: PostgresStoreOptions["onRetrying"];
  /** Aborted, opening ends at once. */
  readonly signal?: AbortSignal;
}

/** Whether the store may be ready later: a server that starts or fails over (store/postgres/opening-fault.ts). A file is there or not. */
export const isNotReady = (address: string, error: unknown): boolean =>
  isServer(address) && error instanceof IdemError && error.retry === "later";

const isServer = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

const kinds: readonly string[] = ["sqlite", "postgres", "postgresql", "memory"];

export async function openStore(
  address: string,
  platform: Platform,
  { retryMs, onRetrying, signal, ...watch }: OpenStoreOptions = {},
): Promise<OpenedStore> {
  // Each kind is loaded when it is wanted, and SQLite itself in its thread: an app whose store is at a server brings no native module along. The thread is started before
  // anything is awaited: the caller loads the rest meanwhile.
  if (address === "memory:") {
    const { MemoryStore } = await import("../store/memory/store.ts");
    return { store: new MemoryStore(platform), leaseTermMs: limits.leaseTermOwnedMs, file: null };
  }
  if (isServer(address)) {
    const { openPostgresStore } = await import("../store/postgres/postgres-store.ts");
    const pg = await loadDriver(address);
    const sealing = sealingOf(platform, true);
    const leaseTermMs = limits.leaseTermSharedMs;
    const owner = processName();
    const retrying = { retryMs, onRetrying, signal };
    const store = await openPostgresStore({ url: address, pg, platform, owner, leaseTermMs, ...retrying });
    return { store: sealStore(store, sealing), leaseTermMs, file: null };
  }
  if (kinds.includes(address)) {
    const why = `it names a kind and no place; did you mean "${address}:${address === "memory" ? "" : "…"}"?`;
    throw errors.STORE_URL_INVALID({ url: address, why });
  }
  const path = address.startsWith("sqlite:") ? address.slice("sqlite:".length) : address;
  if (path === "" || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    const kind = path.slice(0, path.indexOf(":"));
    const why = `its kind is not known${didYouMean(kind, kinds)}`;
    throw errors.STORE_URL_INVALID({ url: withoutPassword(address), why });
  }
  if (path === ":memory:") {
    const { openInlineStore } = await import("../store/sqlite/inline-store.ts");
    const { loadMigrations } = await import("../store/sqlite/migrations.ts");
    try {
      const store = openInlineStore({ path, migrations: loadMigrations(), clock: platform, owner: processName() });
      return { store, leaseTermMs: limits.leaseTermOwnedMs, file: null };
    } catch (error) {
      throw openingFault(error, path, lookAtPath(path));
    }
  }
  try {
    prepareFolder(path);
  } catch (error) {
    throw openingFault(error, path, lookAtPath(path));
  }
  const sealing = sealingOf(platform, false);
  const store = sealStore(await openThreadStore({ ...watch, path, owner: processName(), platform }), sealing);
  return { store, leaseTermMs: limits.leaseTermOwnedMs, file: path };
}

/** The driver is the user's: SQLite does not need it installed. */
export async function loadDriver(address: string): Promise<Pg> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw errors.STORE_URL_INVALID({
      url: withoutPassword(address),
      why: 'PostgreSQL needs its driver; install it with "npm install pg"',
    });
  }
}
