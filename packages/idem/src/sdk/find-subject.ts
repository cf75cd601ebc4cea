// Functions and keys as people name them: a function by its id in this app, or by its full name.
import type { Engine } from "../engine/engine.ts";
import { canonicalJson, fromJson } from "../model/json.ts";

export const nameIn = (engine: Engine) => (fn: string) => engine.registry.displayName(fn);

/** The full name; an unregistered name is given back as it is. */
export async function slugIn({ registry }: Engine, name: string): Promise<string> {
  // Another process may have registered it since.
  if (registry.find(name) === null) await registry.refresh();
  return registry.slugOf(name);
}

/** A key as people have it at hand: the value itself, or the text a decision showed. */
export function keyText(key: unknown): string {
  if (typeof key === "string" && /^["[{]/.test(key)) {
    try {
      return canonicalJson(fromJson(key));
    } catch {
      // Not JSON after all: a plain string that happens to begin like it.
    }
  }
  return canonicalJson(key);
}
