// Several processes on one store, on one clock. A process can be lost: the store hears no more of it, and it nothing of the store.
import type { Engine } from "../engine/engine.ts";
import { errors } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import type { Store } from "../store/store.ts";
import type { stores } from "./one-run.suite.ts";
import { type TestClock, type TestWorld, testIdem } from "./test-idem.ts";

export interface OneStore {
  readonly clock: TestClock;
  readonly store: Store;
  /** A process of its own; stopping it does not close the store. */
  process(options?: Partial<IdemOptions<any>>): { readonly idem: Idem; lose(): void; isLost(): boolean };
}

export function oneStore(kind: (typeof stores)[number]): OneStore {
  const world = testIdem<any>();
  const { platform } = world.idem as unknown as { platform: Platform };
  const store =
    kind === "memory:"
      ? new MemoryStore(platform)
      : openInlineStore({ path: ":memory:", migrations: loadMigrations(), clock: platform, owner: "a test" });
  return { clock: world.clock, store, process: processesOn({ ...world, store }) };
}

export const processesOn =
  (world: TestWorld<any>): OneStore["process"] =>
  (options = {}) => {
    let isLost = false;
    const idem = world.client({ store: reach(world.store as Store, () => isLost), ...options });
    return {
      idem,
      lose: () => {
        isLost = true;
      },
      isLost: () => isLost,
    };
  };

function reach(store: Store, isLost: () => boolean): Store {
  const through = (of: any): any =>
    new Proxy(of, {
      get: (target, name) => {
        const value = target[name];
        if (name === "reads") return through(value);
        if (name === "close") return async () => {};
        if (typeof value !== "function") return value;
        return async (...input: unknown[]) => {
          if (isLost()) throw errors.STORE_UNAVAILABLE({ why: "the process is lost" });
          return value.apply(target, input);
        };
      },
    });
  return through(store);
}

/** Acts of people on an engine, as through the server: pause, release, invoke. */
export const engineOf = (idem: Idem): Promise<Engine> => idem["embedded"].engine();
