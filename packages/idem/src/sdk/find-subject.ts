// What people call a function: its id in this app, or its full name.
import type { Engine } from "../engine/engine.ts";

export const nameIn = (engine: Engine) => (fn: string) => engine.registry.displayName(fn);

/** The full name; what nobody registered is given back as it is. */
export async function slugIn({ registry }: Engine, name: string): Promise<string> {
  // Another process may have registered it since.
  if (registry.find(name) === null) await registry.refresh();
  return registry.slugOf(name);
}
