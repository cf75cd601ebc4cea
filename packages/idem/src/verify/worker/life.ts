// One process of a world, from its first module to its end. Dead, nothing it waits for comes and nothing it asks for is heard; nothing is thrown,
// no `finally` runs. Frozen, the same until it thaws.
import type { CrashPoint, Platform, Thread } from "../../platform/platform.ts";
import type { TakenClient } from "../../sdk/take-client.ts";
import type { Store } from "../../store/store.ts";
import type { Side } from "../schedules.ts";
import { Chance } from "./chance.ts";
import { realSetImmediate } from "./real.ts";
import type { World } from "./world.ts";
import type { WorldClock } from "./world-clock.ts";

export const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** A process, as the watchers of its code know it: a life of a thread's world, or the process itself that an app runs in. */
export interface WatchedProcess {
  readonly isDead: boolean;
  /** Its modules are being loaded: what it does then is no part of the world. */
  readonly isLoading: boolean;
  /** The world's time. */
  now(): number;
  /** Comes back at once while it lives, later while it is frozen, never once it is dead. */
  pass(): void | Promise<void>;
  /** Its statement waits for a lock that another process may hold. */
  waitsForLock(): void;
}

export interface LifeOptions {
  /** Its world. */
  readonly home: World;
  readonly index: number;
  readonly seed: number;
  readonly clock: WorldClock;
  /** Something happened: those that wait for quiet wait on. */
  readonly stir: () => void;
  readonly onPoint: (life: Life, name: CrashPoint) => void;
  /** Before and after each call of the store that answers later. */
  readonly onStoreCall: (life: Life, side: Side) => void;
  readonly fetch: (life: Life, request: Parameters<Platform["fetch"]>[0]) => ReturnType<Platform["fetch"]>;
}

export class Life implements WatchedProcess {
  isDead = false;
  isFrozen = false;
  isLoading = true;
  readonly index: number;
  readonly clients: TakenClient[] = [];
  /** The user's code draws from it. */
  readonly chance: Chance;
  /** Work of the machine for it. */
  underway = 0;
  private thawing: (() => void)[] = [];
  private readonly mourning: (() => void)[] = [];

  constructor(readonly options: LifeOptions) {
    this.index = options.index;
    this.chance = new Chance(options.seed * 7919 + options.index);
  }

  die(): void {
    this.isDead = true;
    for (const go of this.mourning.splice(0)) go();
  }

  /** Peers see their connection break. */
  onDeath(run: () => void): void {
    this.mourning.push(run);
  }

  freeze(): void {
    this.isFrozen = true;
  }

  thaw(): void {
    this.isFrozen = false;
    const { stir } = this.options;
    for (const go of this.thawing.splice(0)) {
      stir();
      go();
    }
  }

  now(): number {
    return this.options.clock.wallMs();
  }

  /** One that stands still in a transaction holds its locks: only when it goes on does anybody. */
  waitsForLock(): void {
    for (const other of this.options.home.lives) if (other.isFrozen && !other.isDead) other.thaw();
  }

  pass(): void | Promise<void> {
    if (this.isDead) return never();
    if (!this.isFrozen) return;
    return new Promise<void>((resolve) => this.thawing.push(resolve)).then(() => this.pass());
  }

  /** Calls back in a later turn, if it still may. */
  soon(run: () => void): void {
    this.options.stir();
    realSetImmediate(() => {
      this.options.stir();
      const wait = this.pass();
      if (wait === undefined) run();
      else void wait.then(run);
    });
  }

  platform(): Platform {
    const { clock, stir, onPoint, fetch, seed, index } = this.options;
    const ids = new Chance(seed * 104_729 + index);
    return {
      wallMs: () => clock.wallMs(),
      monoMs: () => clock.monoMs(),
      randomBytes: (count) => {
        const bytes = new Uint8Array(count);
        ids.fill(bytes);
        return bytes;
      },
      timer: (ms, run, options) => {
        stir();
        return clock.set(ms, run, this, options?.background ?? false);
      },
      soon: (run) => this.soon(run),
      fetch: (request) => fetch(this, request),
      startThread: (file): Thread => {
        throw new Error(`a world has no threads (${file})`);
      },
      point: (name) => {
        stir();
        if (!this.isLoading && !this.isDead) onPoint(this, name);
        return this.pass();
      },
    };
  }

  /** The world's store as this process sees it. */
  storeOf(store: Store): Store {
    const { stir, onStoreCall } = this.options;
    const gate = (target: object): object =>
      new Proxy(target, {
        get: (of, name) => {
          const value = Reflect.get(of, name) as unknown;
          if (name === "reads") return gate(value as object);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            stir();
            if (of === store) onStoreCall(this, "before");
            const call = () => (value as (...all: unknown[]) => unknown).apply(of, args);
            const wait = this.pass();
            const made = wait === undefined ? call() : wait.then(call);
            if (!(made instanceof Promise)) return made;
            // An answer that arrives after its death is not heard.
            return made.then(
              (answer) => {
                stir();
                if (of === store) onStoreCall(this, "after");
                const late = this.pass();
                return late === undefined ? answer : late.then(() => answer);
              },
              (error) => {
                const late = this.pass();
                if (late === undefined) throw error;
                return late.then(() => {
                  throw error;
                });
              },
            );
          };
        },
      });
    return gate(store) as Store;
  }
}
