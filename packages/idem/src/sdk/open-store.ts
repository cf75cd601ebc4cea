// From a store's address to a store.
import { limits } from "../engine/limits.ts";
import { errors } from "../model/errors.ts";
import { prepareFolder, processName } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import type { ThreadStoreOptions } from "../store/sqlite/thread-store.ts";
import type { Store } from "../store/store.ts";

export interface OpenedStore {
  readonly store: Store;
  readonly leaseTermMs: number;
  /** The file this process now owns, if it is one. */
  readonly file: string | null;
}

export async function openStore(
  address: string,
  platform: Platform,
  watch: Pick<ThreadStoreOptions, "onCommit"> = {},
): Promise<OpenedStore> {
  if (address === "memory:")
    return { store: new MemoryStore(platform), leaseTermMs: limits.leaseTermOwnedMs, file: null };
  if (address.startsWith("postgres://") || address.startsWith("postgresql://")) {
    throw errors.STORE_URL_INVALID({
      url: withoutPassword(address),
      why: "PostgreSQL is not available in this version",
    });
  }
  const path = address.startsWith("sqlite:") ? address.slice("sqlite:".length) : address;
  if (path === "" || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    throw errors.STORE_URL_INVALID({ url: withoutPassword(address), why: "its kind is not known" });
  }
  // SQLite is loaded when it is wanted: an app whose store is at a server brings no native module along.
  if (path === ":memory:") {
    const { openInlineStore } = await import("../store/sqlite/inline-store.ts");
    const { loadMigrations } = await import("../store/sqlite/migrations.ts");
    const store = openInlineStore({ path, migrations: loadMigrations(), clock: platform, owner: processName() });
    return { store, leaseTermMs: limits.leaseTermOwnedMs, file: null };
  }
  const { openThreadStore } = await import("../store/sqlite/thread-store.ts");
  prepareFolder(path);
  const store = await openThreadStore({ ...watch, path, owner: processName(), platform });
  return { store, leaseTermMs: limits.leaseTermOwnedMs, file: path };
}

const withoutPassword = (url: string): string => url.replace(/\/\/[^@/]*@/, "//…@");
