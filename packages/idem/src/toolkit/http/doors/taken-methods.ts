// Methods of one object, replaced for a while. The earlier ones may be an object's own (compression and sessions wrap `write` and
// `end` so), and are put back as they were.
type Method = (...args: unknown[]) => unknown;

export interface TakenMethods {
  /** As it was before, on its object. */
  before(name: string): Method;
  putBack(...names: string[]): void;
}

export function takeMethods(object: object, replacements: Record<string, Method>): TakenMethods {
  const target = object as Record<string, Method | undefined>;
  const kept = new Map<string, { readonly method: Method; readonly isOwn: boolean }>();
  for (const [name, replacement] of Object.entries(replacements)) {
    const method = target[name];
    if (method === undefined) continue;
    kept.set(name, { method, isOwn: Object.hasOwn(target, name) });
    target[name] = replacement;
  }
  return {
    before: (name) => kept.get(name)!.method.bind(object),
    putBack(...names) {
      for (const name of names) {
        const was = kept.get(name);
        if (was === undefined || target[name] !== replacements[name]) continue;
        if (was.isOwn) target[name] = was.method;
        else delete target[name];
      }
    },
  };
}
