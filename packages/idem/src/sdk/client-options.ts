// The options of a client and of its sends, and how they are read.

import type { Logger, Middleware } from "../execute/function-code.ts";
import { type LogStyle, logStyles, silentLogger } from "../execute/log-style.ts";
import { lasting, parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import type { FormerIds } from "../model/former-ids.ts";
import type { Platform } from "../platform/platform.ts";
import type { UserTransaction } from "../store/outbox.ts";
import type { Store } from "../store/store.ts";
import type { EventSchemas, Untyped } from "./event-types.ts";
import type { ServerKeys } from "./remote-client.ts";

export interface IdemOptions<Schemas extends EventSchemas = Untyped> extends ServerKeys {
  /** The app's name; functions are known as `<id>-<function id>` in their environment. */
  readonly id: string;
  /**
   * The name this app had before it was renamed; of several, the first one ever first. Its functions go on being recorded under that name: open runs, windows,
   * limits, schedules and the keys of steps stay what they were. It comes in the deployment that renames, and stays.
   *
   * @example new Idem({ id: "billing", was: "shop" })
   */
  readonly was?: string | FormerIds;
  /** "sqlite:./path.db", "memory:", or a store. By default IDEM_STORE, then sqlite:.idem/<id>.db, with the first id of `was` where there is one. */
  readonly store?: string | Store;
  /**
   * An Idem server that keeps the events and runs and calls the functions: "http://127.0.0.1:8288". IDEM_SERVER by default.
   * Such a client has no store and is not started; its functions are handed to `serve`.
   */
  readonly server?: string;
  /** A world of its own inside the store: "default" unless given. */
  readonly env?: string;
  /** Schemas (Standard Schema) of the data of events, by event name. */
  readonly events?: Schemas;
  /** How long an event's `id` stays taken; "24h" by default. */
  readonly eventWindow?: string | number;
  /** The most runs this process executes at once; 100 by default. */
  readonly runsInFlight?: number;
  /**
   * The most bytes of recorded values, as JSON, that the runs at work may have in memory together; 64 MiB by default. Past it runs take
   * turns; one that is larger by itself runs alone.
   */
  readonly bytesInFlight?: number;
  /** Keeps the lines of `logger` with their runs, for people who look at them; true by default. */
  readonly runLogs?: boolean;
  /**
   * History older than this ("90d", at least "1h") is deleted while the client is started: ended runs with their events, steps
   * and decisions. Open runs, open windows and held events stay. By default everything is kept; a server has its own.
   */
  readonly retention?: string | number;
  /**
   * The longest that code may keep this process's event loop busy before it loses its runs to others: "5m" by default, "20s" to "24h". Only where
   * others share the store (PostgreSQL).
   */
  readonly blockedMax?: string | number;
  /**
   * How long `send` and every other call retry while the store does not answer: "30s" by default, or IDEM_STORE_TIMEOUT; "1s" to "10m". Then they
   * fail with STORE_UNAVAILABLE. `start()` retries until it is stopped. Only PostgreSQL.
   */
  readonly storeTimeout?: string | number;
  /** False switches off the duplicate radar, which looks for things done twice. On by default, while started. */
  readonly radar?: boolean;
  /** Around the code of every function's runs and steps. */
  readonly middleware?: readonly Middleware[];
  /**
   * Receives warnings, errors and the lines of functions: the console by default; `false` is silent. Loggers like pino and bunyan
   * are called with (fields, message), like winston with (message, fields), a console gets readable lines.
   */
  readonly logger?: Logger | false;
  /** The way `logger` is called, where Idem does not recognise it: with (message, fields) by default. */
  readonly logStyle?: LogStyle;
  /** Time, chance, threads and network; for tests and simulation. */
  readonly platform?: Platform;
}

export interface SendOptions {
  /** How long the ids of these events stay taken. */
  readonly window?: string | number;
  /**
   * On a host whose processes do not stay: called with the sweep that begins once the events are stored, so that the host waits for its end.
   * For example `waitUntil` of `@vercel/functions`. Without meaning in a client that is started.
   */
  readonly waitUntil?: (work: Promise<unknown>) => unknown;
}

export interface SendInTransaction extends SendOptions {
  /** A transaction of your own in the engine's PostgreSQL. */
  readonly tx: UserTransaction;
}

export interface SweepOptions {
  /** The longest it may take, with the steps it finishes at the end: "20s" by default, "1s" to "15m". */
  readonly budget?: string | number;
}

export function readLogger({ logger = console, logStyle: style }: IdemOptions): {
  logger: Logger;
  style: LogStyle | undefined;
} {
  if (style !== undefined && !logStyles.includes(style)) {
    throw errors.OPTION_INVALID({ option: "logStyle", why: `it must be one of ${logStyles.join(", ")}` });
  }
  if (logger === false) return { logger: silentLogger, style };
  for (const level of ["debug", "info", "warn", "error"] as const) {
    if (typeof logger?.[level] === "function") continue;
    throw errors.OPTION_INVALID({ option: "logger", why: `it has no method "${level}"` });
  }
  return { logger, style };
}

const budgetMsMin = 1_000;
const budgetMsMax = 15 * 60 * 1_000;

export function readBudget(budget: string | number = "20s"): number {
  const ms = parseDuration(budget, "budget", budgetMsMax);
  if (ms >= budgetMsMin) return ms;
  throw errors.OPTION_INVALID({ option: "budget", why: "it must be 1s or longer: what was begun has to be finished" });
}

export const readWindow = (window: string | number | undefined, option: string): number | null =>
  window === undefined ? null : lasting(parseDuration(window), option);
