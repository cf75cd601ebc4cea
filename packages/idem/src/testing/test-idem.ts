// A client on a store in memory, with a clock that moves only when told.
import { parseDuration } from "../model/duration.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { HttpRequest, HttpResponse } from "../platform/platform.ts";
import { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import type { EventSchemas } from "../sdk/event-types.ts";
import { MemoryStore } from "../store/memory/store.ts";
import type { Store } from "../store/store.ts";

export interface TestClock {
  now(): number;
  /** Moves time on ("25h", or milliseconds), letting everything that comes due on the way happen in order. */
  advance(duration: string | number): Promise<void>;
  /** As `advance`, while steps are in the middle of something: lets what comes due begin, without waiting for its end. */
  tick(duration: string | number): Promise<void>;
  /** Moves time on until nothing is left that waits for a time. */
  advanceToEnd(): Promise<void>;
  /** Sets the wall clock off, as a bad time server would; the steady clock does not move. */
  stepWall(ms: number): void;
}

export interface TestIdemOptions<Schemas extends EventSchemas> extends Omit<Partial<IdemOptions<Schemas>>, "platform"> {
  /** Answers step.fetch. */
  readonly fetch?: (request: HttpRequest) => Promise<HttpResponse>;
  readonly seed?: number;
}

export interface TestWorld<Schemas extends EventSchemas> {
  readonly idem: Idem<Schemas>;
  readonly clock: TestClock;
  readonly store: Store | string;
  /** Another client of the same world: the same store (if one was given or made here) and the same clock. */
  client(options?: Partial<IdemOptions<Schemas>>): Idem<Schemas>;
}

// A second at a time, so that a worker whose step runs keeps its lease; and turns enough for any chain of commits.
const tickMs = 1_000;
const turnsPerTick = 20;

// More alarms than any test means to wait for: a function that sleeps in an endless loop ends here, not never.
const alarmsMax = 100_000;

export function testIdem<Schemas extends EventSchemas = EventSchemas>(
  options: TestIdemOptions<Schemas> = {},
): TestWorld<Schemas> {
  const { fetch, seed, ...rest } = options;
  const platform = new ManualPlatform({
    ...(fetch === undefined ? {} : { fetch }),
    ...(seed === undefined ? {} : { seed }),
  });
  const store = rest.store ?? new MemoryStore(platform);
  const clients: Idem<Schemas>[] = [];
  const client = (over: Partial<IdemOptions<Schemas>> = {}): Idem<Schemas> => {
    const made = new Idem<Schemas>({ id: "test", logger: silent, radar: false, ...rest, store, ...over, platform });
    clients.push(made);
    return made;
  };
  const settle = async () => {
    for (const each of clients) await each.idle();
    // A client that just settled may have woken one that was asked before.
    for (const each of clients) await each.idle();
  };
  const turns = async () => {
    for (let i = 0; i < turnsPerTick; i++) await new Promise<void>((resolve) => platform.soon(resolve));
  };
  const idem = client();
  return {
    idem,
    store,
    client,
    clock: {
      now: () => platform.wallMs(),
      advance: (duration) => platform.advance(parseDuration(duration), settle),
      tick: async (duration) => {
        for (let left = parseDuration(duration); ; left -= tickMs) {
          await platform.advance(Math.min(left, tickMs), turns);
          if (left <= tickMs) return;
        }
      },
      advanceToEnd: async () => {
        await settle();
        for (let i = 0; i < alarmsMax; i++) {
          const left = platform.untilNext();
          if (left === null) return;
          await platform.advance(left, settle);
        }
        throw new Error(`after ${alarmsMax} alarms something still waits for a time`);
      },
      stepWall: (ms) => platform.clock.stepWall(ms),
    },
  };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
