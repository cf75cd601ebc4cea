// `pg`, and what is built on it: each statement where a client is asked for it.
import { AsyncResource } from "node:async_hooks";
import { currentCaller, fromHere } from "../caller.ts";
import { WayOutShut } from "../deny-ways-out.ts";
import type { WatchedProcess } from "../life.ts";
import type { WatchedPackage } from "../watch-packages.ts";
import type { Outside } from "../watcher.ts";
import { perform } from "./perform-statement.ts";
import { onWorldTime } from "./postgres-clock.ts";
import { isOwnLoading } from "./postgres-databases.ts";
import { asDriver, world } from "./postgres-world.ts";

type Callback = (error: unknown, value?: unknown) => void;

interface Client {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  ssl?: unknown;
  readonly connection?: { ssl?: unknown; readonly stream?: { destroy(): void } };
}

// biome-ignore lint/suspicious/noExplicitAny: a function of a driver's, replaced without knowing what it takes
type Method<This> = (this: This, ...args: any[]) => any;

/** In the context it was given in. */
const kept = <T>(run: T): T => (typeof run === "function" ? (AsyncResource.bind(run as never) as T) : run);

const told = (promise: Promise<unknown>, callback: Callback | undefined): Promise<unknown> | undefined => {
  if (callback === undefined) return promise;
  const later = kept(callback);
  promise.then(
    (value) => process.nextTick(later, null, value),
    (error: unknown) => process.nextTick(later, error),
  );
  return undefined;
};

/** A text, or an object that has one. */
const onTime = (sql: unknown): unknown => {
  if (typeof sql === "string") return onWorldTime(sql);
  const { text } = (sql ?? {}) as { text?: unknown };
  return typeof text === "string" ? { ...(sql as object), text: onWorldTime(text) } : sql;
};

export function refusedDatabase(outside: Outside, at: string): WayOutShut {
  const found = `a database was opened that is not watched: ${at}; write databases: [{ env: "DATABASE_URL", migrate: "npm run migrate" }] into idem.verify.ts, with the variable your code finds its address in and the command that makes its tables`;
  outside.unproven(found);
  return new WayOutShut(found);
}

export const pgClientPackage = (outside: Outside): WatchedPackage => ({
  file: /[\\/]pg[\\/]lib[\\/]client\.js$/,
  take: (Client: { readonly prototype: Record<string, Method<Client>> }) => {
    if (!isOwnLoading()) watchClient(outside, Client.prototype);
  },
});

export const pgPoolPackage: WatchedPackage = {
  file: /[\\/]pg-pool[\\/]index\.js$/,
  take: ({ prototype }: { readonly prototype: Record<string, Method<object>> }) => {
    if (isOwnLoading()) return;
    const { connect, query } = prototype;
    const settle = (pool: { options?: { idleTimeoutMillis?: number } }): void => {
      // Ten seconds after each statement, an alarm that nobody waits for.
      if (pool.options !== undefined) pool.options.idleTimeoutMillis = 0;
    };
    // A caller that waits for a client goes on in its own context, and not in that of the one that gave it back.
    prototype.connect = function (callback) {
      settle(this);
      return connect!.call(this, kept(callback));
    };
    prototype.query = function (...args) {
      settle(this);
      return fromHere(() => query!.apply(this, args.map(kept)));
    };
  },
};

function watchClient(outside: Outside, prototype: Record<string, Method<Client>>): void {
  const { connect, query, end } = prototype;
  const tails = new WeakMap<object, Promise<unknown>>();
  const databaseOf = ({ host, port, database }: Client) => world?.databaseAt(host, port, database) ?? null;

  prototype.connect = function (callback) {
    if (!outside.isWatched()) return connect!.call(this, callback);
    if (databaseOf(this) === null) {
      const refused = refusedDatabase(outside, `${this.host}:${this.port}/${this.database}`);
      return told(Promise.reject(refused), callback as Callback | undefined);
    }
    // A scratch server speaks plainly.
    this.ssl = false;
    if (this.connection !== undefined) this.connection.ssl = false;
    const life = currentCaller<WatchedProcess>()?.life ?? null;
    const over = outside.begin();
    const connecting = asDriver(life, () => connect!.call(this) as Promise<unknown>).finally(over);
    const heard = connecting.then(async (value) => {
      await life?.pass();
      return value;
    });
    return told(heard, callback as Callback | undefined);
  };

  prototype.query = function (config, values, callback) {
    const database = databaseOf(this);
    if (!outside.isWatched() || database === null) return query!.call(this, config, values, callback);
    const given = config as { text?: unknown; callback?: Callback; submit?: unknown } | string | null;
    if (typeof given === "object" && typeof given?.submit === "function") {
      const text = String(given.text ?? (given as { cursor?: { text?: unknown } }).cursor?.text ?? "");
      if (!/^\s*(select|with|values|table)\b/i.test(text))
        outside.unproven(`a cursor of pg is not watched where it writes: ${text.slice(0, 80)}`);
      return asDriver(currentCaller<WatchedProcess>()?.life ?? null, () => query!.call(this, config, values, callback));
    }
    const text = typeof given === "string" ? given : String(given?.text ?? "");
    const plain = typeof given === "string" || given === null ? given : { ...given, callback: undefined };
    const parameters = typeof values === "function" ? undefined : values;
    const last = [callback, values, typeof given === "object" ? given?.callback : undefined].find(
      (each) => typeof each === "function",
    ) as Callback | undefined;
    const send = (sql: unknown, all?: unknown) => query!.call(this, onTime(sql), all) as Promise<unknown>;
    const performed = fromHere(() => {
      const before = tails.get(this);
      const next = async () => {
        await before;
        return perform(outside, text, {
          database,
          run: () => send(plain, parameters),
          instead: (sql) => send(sql),
          cut: () => this.connection?.stream?.destroy(),
        });
      };
      const made = next();
      tails.set(
        this,
        made.catch(() => {}),
      );
      return made;
    });
    return told(performed, last);
  };

  prototype.end = function (callback) {
    if (!outside.isWatched()) return end!.call(this, callback);
    return asDriver(currentCaller<WatchedProcess>()?.life ?? null, () => end!.call(this, kept(callback)));
  };
}
