// A process begins without what another one kept on the global object. Frameworks load a module more than once, so programs keep clients and pools there; found
// by the process that takes over, they would belong to a dead one. Names only: what packages keep under symbols they make again where it is gone, or share on purpose.

let known: ReadonlySet<string> = new Set();

/** Once, before the first module of the user's. */
export function noteGlobals(): void {
  known = new Set(Object.getOwnPropertyNames(globalThis));
}

/** Before each process. One that stands still meanwhile had what it needs when it was loaded. */
export function forgetGlobals(): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!known.has(name)) Reflect.deleteProperty(globalThis, name);
  }
}
