// Keys in this process's memory: for tests and development. They are those of the engine over its store in memory; a second process knows
// nothing of it.
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { keysIn } from "./engine-keys.ts";
import type { KeyStore } from "./key-store.ts";

/**
 * ```ts
 * const keys = memoryKeys();
 * ```
 */
export function memoryKeys(options: { readonly platform?: Platform } = {}): KeyStore {
  refuseUnknown<{ platform: Platform }>("memoryKeys", options, { platform: true });
  const store = new MemoryStore(options.platform ?? nodePlatform);
  return keysIn({ env: "keys", store: async () => store });
}
