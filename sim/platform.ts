// One life of one node. A crash is silence: every timer, reply and turn of a dead process never comes, nothing is rejected,
// no `finally` runs; exactly what a killed process does.
import type { Counters } from "./counters.ts";
import type { CrashPoint, HttpRequest, HttpResponse, Platform, Thread, Timer } from "./engine.ts";
import type { EventLoop, Owner } from "./event-loop.ts";
import type { Random } from "./random.ts";

export class SimProcess implements Owner {
  alive = true;
  /** Until then all of it stands still. */
  stoppedUntil = 0;
  /** Until then its event loop does: what has a thread of its own goes on. */
  blockedUntil = 0;

  constructor(
    /** Node and life, such as "n2.3". */
    readonly name: string,
    readonly startedAt: number,
  ) {}

  get frozenUntil(): number {
    return Math.max(this.stoppedUntil, this.blockedUntil);
  }

  /** A thread beside its event loop. */
  thread(): SimProcess {
    return Object.create(this, {
      frozenUntil: { get: () => this.stoppedUntil },
      alive: { get: () => this.alive },
    }) as SimProcess;
  }
}

export const never = <T>(): Promise<T> => new Promise<T>(() => {});

export interface SimPlatformOptions {
  readonly loop: EventLoop;
  readonly process: SimProcess;
  readonly random: Random;
  readonly counters: Counters;
  /** The node's wall clock right now. */
  readonly wallMs: () => number;
  /** Probability of crashing at a point, right now. */
  readonly crashRate: () => number;
  readonly crash: (where: string) => void;
}

// Not zero, so that nobody mistakes the steady clock for the time since the world began.
const monoBase = 1_000;

// Points that few worlds pass are the more dangerous ones.
const rarePoints: Partial<Record<CrashPoint, number>> = {
  "deliver:before-commit": 8,
  "deliver:after-commit": 8,
  "suspend:before-commit": 3,
  "suspend:after-commit": 3,
};

export class SimPlatform implements Platform {
  constructor(private readonly options: SimPlatformOptions) {}

  wallMs(): number {
    return this.options.wallMs();
  }

  monoMs(): number {
    return monoBase + this.options.loop.now - this.options.process.startedAt;
  }

  randomBytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let i = 0; i < count; i++) bytes[i] = this.options.random.uint32() & 0xff;
    return bytes;
  }

  timer(ms: number, run: () => void): Timer {
    return this.options.loop.schedule(ms, run, this.options.process);
  }

  soon(run: () => void): void {
    this.options.loop.schedule(0, run, this.options.process);
  }

  fetch(request: HttpRequest): Promise<HttpResponse> {
    return Promise.reject(new Error(`nobody answers ${request.url} in this world`));
  }

  startThread(file: string): Thread {
    throw new Error(`this world has no threads (${file})`);
  }

  point(name: CrashPoint): void | Promise<void> {
    const { process, counters, random, loop } = this.options;
    if (!process.alive) return never();
    counters.add(`point ${name}`);
    if (random.chance(this.options.crashRate() * (rarePoints[name] ?? 1))) {
      counters.add(`crash ${name}`);
      this.options.crash(name);
      return never();
    }
    // Now and then the point only takes a moment, in which others may come first.
    if (!random.chance(0.05)) return;
    return new Promise((resolve) => loop.schedule(random.between(0, 5), resolve, process));
  }
}
