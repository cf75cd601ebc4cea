// The stores that tests of flow options and engine run on, with PostgreSQL among them in `npm run proof -- stores`. PostgreSQL is not in `npm test`: runs that are
// due at one instant begin in either order there, and tests that name the order fail now and then. A schema that a test is done with is emptied for
// the next, because creating one takes longer than most tests.
import pg from "pg";
import { onTestFinished } from "vitest";
import { parseDuration } from "../model/duration.ts";
import type { ManualPlatform } from "../platform/manual-platform.ts";
import type { Idem } from "../sdk/client.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { tableNames } from "../store/postgres/statement.ts";
import type { Store } from "../store/store.ts";
import { stores as plainStores } from "./one-run.suite.ts";
import { type OneStore, oneStore as plainOneStore, processesOn } from "./one-store.suite.ts";
import { withRealTimers } from "./real-timers.suite.ts";
import { postgresDatabase } from "./shared-postgres.suite.ts";
import { testIdem as plainTestIdem, type TestIdemOptions, type TestWorld } from "./test-idem.ts";

export const stores: readonly ("postgres:" | (typeof plainStores)[number])[] =
  process.env.IDEM_TEST_STORES === "all" ? [...plainStores, "postgres:"] : plainStores;

export function testIdem(options: TestIdemOptions<any> = {}): TestWorld<any> {
  return options.store === "postgres:" ? postgresWorld(options) : plainTestIdem(options);
}

export function oneStore(kind: (typeof stores)[number]): OneStore {
  if (kind !== "postgres:") return plainOneStore(kind);
  const world = postgresWorld({});
  return { clock: world.clock, store: world.store as Store, process: processesOn(world) };
}

// ------------------------------------------------------------------------------------------------ the server

let started: Promise<string> | null = null;

/** Of a database for all files of this worker; it goes with the run's server. */
function serverUrl(): Promise<string> {
  started ??= postgresDatabase().then(({ url }) => url);
  return started;
}

let admin: Promise<pg.Client> | null = null;

function adminOf(url: string): Promise<pg.Client> {
  admin ??= (async () => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    (client as unknown as { unref(): void }).unref();
    return client;
  })();
  return admin;
}

const free: string[] = [];
let schemas = 0;

async function openStore(platform: ManualPlatform): Promise<Store> {
  const url = await serverUrl();
  const schema = free.pop() ?? `flow${++schemas}`;
  const store = await openPostgresStore({
    url: `${url}?schema=${schema}&pool=2`,
    pg,
    platform: withRealTimers(platform),
    owner: "test",
    wallMs: () => platform.wallMs(),
  });
  const close = async () => {
    await store.close();
    await (await adminOf(url)).query(tableNames.map((table) => `delete from ${schema}.${table}`).join(";"));
    free.push(schema);
  };
  return { ...store, close };
}

// ------------------------------------------------------------------------------------------------ a world on it

/** Opened by its first call; the world's engines are alone with it, without hints. */
class LazyStore {
  private opened: Promise<Store> | null = null;
  private asked = 0;

  constructor(private readonly platform: () => ManualPlatform) {}

  readonly store: Store = this.over((store) => store as unknown as Calls, {
    reads: this.over((store) => store.reads as unknown as Calls, {}),
    shared: null,
    outbox: null,
    transactional: null,
    close: async () => {},
  }) as unknown as Store;

  private over(part: (store: Store) => Calls, known: Record<string, unknown>): Calls {
    const call =
      (name: string) =>
      async (...input: unknown[]) => {
        this.asked++;
        try {
          this.opened ??= openStore(this.platform());
          return await part(await this.opened)[name]!(...input);
        } finally {
          this.asked--;
        }
      };
    return new Proxy(known, {
      get: (target, name) => target[name as string] ?? (name in target ? null : call(String(name))),
    }) as Calls;
  }

  /** Resolves once nothing was asked for a while: what is between two calls is a few turns of the loop. */
  async quiet(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.asked > 0) turns = 0;
    }
  }

  async close(): Promise<void> {
    await (await this.opened)?.close();
  }
}

type Calls = Record<string, (...input: readonly unknown[]) => Promise<unknown>>;

function postgresWorld(options: TestIdemOptions<any>): TestWorld<any> {
  const lazy = new LazyStore(() => platform);
  const world = plainTestIdem({ ...options, store: lazy.store });
  const { platform } = world.idem as unknown as { platform: ManualPlatform };
  const clients: Idem[] = [world.idem];
  // A step that a test holds in its middle never ends: nobody waits for it.
  onTestFinished(() => lazy.close());
  const settle = async () => {
    for (const each of [...clients, ...clients]) await each.idle();
    await lazy.quiet();
  };
  return {
    ...world,
    client: (over) => {
      const made = world.client(over);
      clients.push(made);
      return made;
    },
    clock: {
      ...world.clock,
      advance: (duration) => platform.advance(parseDuration(duration), settle),
      tick: async (duration) => {
        for (let left = parseDuration(duration); ; left -= 1_000) {
          await platform.advance(Math.min(left, 1_000), () => lazy.quiet());
          if (left <= 1_000) return;
        }
      },
      advanceToEnd: async () => {
        await settle();
        for (let left = platform.untilNext(); left !== null; left = platform.untilNext()) {
          await platform.advance(left, settle);
        }
      },
    },
  };
}
