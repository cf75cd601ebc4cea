// Time and chance as the user's code sees them: those of the world it lives in. Replaced once for the thread, before the first of the user's modules is
// loaded; code that belongs to no world has the machine's own.
import { AsyncResource } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { promisify } from "node:util";
import type { Timer } from "../../platform/platform.ts";
import { currentCaller } from "./caller.ts";
import type { Chance } from "./chance.ts";
import type { Life } from "./life.ts";
import { dateBy, RealDate } from "./real.ts";

const lifeHere = (): Life | null => currentCaller()?.life ?? null;

/** `lost` is the world that is being played, for code whose context was lost. */
export function replaceGlobals(lost: () => Life | null): void {
  const life = (): Life | null => lifeHere() ?? lost();
  replaceDate(life);
  replaceChance(life);
  replaceTimers();
  syncBuiltinESMExports();
}

function replaceDate(life: () => Life | null): void {
  const now = (): number => {
    const here = life();
    if (here === null) return RealDate.now();
    return here.options.home.simulation.timeHere() ?? here.options.clock.wallMs();
  };
  globalThis.Date = dateBy(now);
  const { performance } = globalThis;
  const steady = performance.now.bind(performance);
  Object.defineProperty(performance, "now", {
    configurable: true,
    value: () => life()?.options.clock.monoMs() ?? steady(),
  });
}

function replaceChance(life: () => Life | null): void {
  const chance = (): Chance | null => {
    const here = life();
    return here === null ? null : (here.options.home.simulation.chanceHere() ?? here.chance);
  };
  const random = Math.random.bind(Math);
  Math.random = () => chance()?.fraction() ?? random();
  const real = {
    randomUUID: crypto.randomUUID,
    randomBytes: crypto.randomBytes,
    randomInt: crypto.randomInt,
    randomFillSync: crypto.randomFillSync,
  };
  const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const replaced = {
    randomUUID: (options?: object) => chance()?.uuid() ?? real.randomUUID(options),
    randomBytes: (size: number, done?: (error: Error | null, bytes: Buffer) => void) => {
      const drawn = chance();
      if (drawn === null) return done === undefined ? real.randomBytes(size) : real.randomBytes(size, done);
      const bytes = Buffer.alloc(size);
      drawn.fill(bytes);
      if (done === undefined) return bytes;
      process.nextTick(done, null, bytes);
      return undefined;
    },
    randomInt: (...args: [number, number?, ...unknown[]]) => {
      const drawn = chance();
      const done = args.find((each) => typeof each === "function") as ((e: null, n: number) => void) | undefined;
      if (drawn === null) return (real.randomInt as (...all: unknown[]) => number)(...args);
      const [low, high] = typeof args[1] === "number" ? [args[0], args[1]] : [0, args[0]];
      const value = low + Math.floor(drawn.fraction() * (high - low));
      if (done === undefined) return value;
      process.nextTick(done, null, value);
      return undefined;
    },
    randomFillSync: (view: ArrayBufferView, ...rest: number[]) => {
      const drawn = chance();
      if (drawn === null) return (real.randomFillSync as (...all: unknown[]) => unknown)(view, ...rest);
      drawn.fill(bytesOf(view));
      return view;
    },
  };
  Object.assign(crypto, replaced);
  const web = globalThis.crypto;
  const fill = web.getRandomValues.bind(web);
  Object.defineProperties(web, {
    randomUUID: { configurable: true, value: () => replaced.randomUUID() },
    getRandomValues: {
      configurable: true,
      value: (view: ArrayBufferView) => {
        const drawn = chance();
        if (drawn === null) return fill(view as Uint8Array<ArrayBuffer>);
        drawn.fill(bytesOf(view));
        return view;
      },
    },
  });
}

/** A timer of the user's on the world's clock, with what Node's have. */
class WorldTimer {
  private timer: Timer | null = null;
  private isOver = false;
  private end: () => void;
  private isBackground: boolean;

  constructor(
    private readonly life: Life,
    private readonly run: () => void,
    private readonly ms: number,
    private readonly repeats: boolean,
  ) {
    this.end = repeats ? () => {} : life.options.home.simulation.begin();
    this.isBackground = repeats;
    this.begin();
  }

  /** Of housekeeping, as `platform.timer` is told: awaited by nobody. */
  inBackground(): void {
    this.timer?.cancel();
    this.end();
    this.end = () => {};
    this.isBackground = true;
    this.begin();
  }

  private begin(): void {
    const { clock, stir } = this.life.options;
    stir();
    const ms = this.ms >= 1 ? this.ms : 1;
    // Nobody waits for a timer that repeats for ever.
    this.timer = clock.set(
      ms,
      () => {
        stir();
        if (this.isOver) return;
        if (this.repeats) this.begin();
        else this.isOver = true;
        this.run();
        this.end();
      },
      this.life,
      this.isBackground,
    );
  }

  close(): this {
    this.isOver = true;
    this.timer?.cancel();
    this.end();
    return this;
  }
  refresh(): this {
    this.timer?.cancel();
    this.isOver = false;
    this.begin();
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.toPrimitive](): number {
    return numberOf(this);
  }
}

const numbers = new Map<number, WorldTimer>();
let lastNumber = 1_000_000_000;
function numberOf(timer: WorldTimer): number {
  numbers.set(++lastNumber, timer);
  return lastNumber;
}

function replaceTimers(): void {
  const real = { ...timers };
  const realPromises = { ...timersPromises };
  const bound = (run: (...args: never[]) => void, args: unknown[]): (() => void) => {
    const resource = new AsyncResource("WorldTimer");
    return () => resource.runInAsyncScope(run as (...all: unknown[]) => void, null, ...args);
  };
  const set =
    (repeats: boolean, otherwise: (...all: never[]) => unknown) =>
    (run: (...args: never[]) => void, ms: unknown, ...args: unknown[]): unknown => {
      const life = lifeHere();
      if (life === null || typeof run !== "function")
        return (otherwise as (...all: unknown[]) => unknown)(run, ms, ...args);
      return new WorldTimer(life, bound(run, args), Number(ms) || 0, repeats);
    };
  const clear =
    (otherwise: (timer: never) => void) =>
    (timer: unknown): void => {
      const known = timer instanceof WorldTimer ? timer : numbers.get(Number(timer));
      if (known !== undefined && typeof timer !== "undefined") known.close();
      else otherwise(timer as never);
    };
  const setTimeout = set(false, real.setTimeout);
  const setInterval = set(true, real.setInterval);
  const setImmediate = (run: (...args: never[]) => void, ...args: unknown[]): unknown => {
    const life = lifeHere();
    if (life === null) return (real.setImmediate as (...all: unknown[]) => unknown)(run, ...args);
    const call = bound(run, args);
    let isOver = false;
    life.soon(() => {
      if (!isOver) call();
    });
    return { close: () => (isOver = true), ref() {}, unref() {}, hasRef: () => true };
  };
  const clearImmediate = (immediate: { readonly close?: () => void } | undefined): void => {
    if (typeof immediate?.close === "function") immediate.close();
    else real.clearImmediate(immediate as NodeJS.Immediate);
  };
  const wait = (ms?: number, value?: unknown, options?: { signal?: AbortSignal }): Promise<unknown> => {
    if (lifeHere() === null) return realPromises.setTimeout(ms, value, options as object);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(value), ms) as WorldTimer;
      const abort = () => {
        timer.close();
        reject(options!.signal!.reason);
      };
      if (options?.signal?.aborted) abort();
      else options?.signal?.addEventListener("abort", abort, { once: true });
    });
  };
  Object.defineProperty(setTimeout, promisify.custom, { value: wait });
  const all = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: clear(real.clearTimeout),
    clearInterval: clear(real.clearInterval),
    clearImmediate,
  };
  Object.assign(globalThis, all);
  Object.assign(timers, all);
  Object.assign(timersPromises, { setTimeout: wait });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => {
    if (lifeHere() === null) return timeout(ms);
    const controller = new AbortController();
    const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    setTimeout(() => controller.abort(reason), ms);
    return controller.signal;
  };
}
