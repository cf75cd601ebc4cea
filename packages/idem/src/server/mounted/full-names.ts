// A client calls its own functions by their ids; pages and API call every function by its full name, as at a server, whose engine belongs to
// no app. The engine is the same one: only the name it shows is another.
import type { Engine } from "../../engine/engine.ts";

export function withFullNames(engine: Engine): Engine {
  const { registry } = engine;
  return over(engine, { registry: over(registry, { displayName: (fn: string) => fn }) });
}

/** Everything but `own` is the target's, asked of the target itself. */
function over<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
