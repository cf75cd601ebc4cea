// A server, from its settings to its last goodbye. Order of opening: store, engines, ears, then the apps are asked for
// their functions. When it closes, ears and engines stop together and the store last, so that nothing is accepted that
// nobody will store.
import { limits } from "../engine/limits.ts";
import { Metrics } from "../engine/metrics.ts";
import { StoreHealth } from "../engine/store-health.ts";
import { Telling } from "../engine/telling.ts";
import type { Logger } from "../execute/function-code.ts";
import type { LogStyle } from "../execute/log-style.ts";
import { errors, IdemError } from "../model/errors.ts";
import { observedStore } from "../observe/observed-store.ts";
import { relayObserver } from "../observe/relay-observer.ts";
import { endingPlatform } from "../platform/ending-platform.ts";
import { cliName, nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import { waitAtMost } from "../platform/wait-at-most.ts";
import { isNotReady, type OpenedStore, openStore } from "../sdk/open-store.ts";
import { Opening } from "../sdk/opening.ts";
import { secretsToTell } from "../sdk/sealed-store.ts";
import type { Store } from "../store/store.ts";
import { defaultEnv } from "./admit-caller.ts";
import { bulkOf } from "./bulk-work.ts";
import { followEnvironments } from "./follow-environments.ts";
import { type ServerLimits, serverLimits } from "./limits.ts";
import { LiveDigests, liveObserver } from "./live/live-digests.ts";
import { type Listener, listen } from "./node-listener.ts";
import { openLocalSocket } from "./open-local-socket.ts";
import { openWorld } from "./open-world.ts";
import { makeSecret } from "./people/first-secret.ts";
import { routes, routesOf, sockets, socketsOf } from "./routes.ts";
import { watchServer } from "./server-metrics.ts";
import { completeSettings, needsSecret } from "./settings.ts";
import { startSyncing } from "./sync-apps.ts";
import type { ServerSettings, World } from "./world.ts";

/** Parts a test or a program brings along instead of the usual ones. */
export interface ServerParts {
  readonly platform?: Platform;
  readonly logger?: Logger;
  /** The logger's calling style; by default found out by looking at it. */
  readonly logStyle?: LogStyle;
  /** Instead of the one `settings.store` names; the caller closes it. */
  readonly store?: Store;
  /** Aborted while the server still waits for its store, it ends the start, which is then refused with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ServerLimits>;
}

export interface RunningServer {
  /** "http://127.0.0.1:8288" */
  readonly origin: string;
  readonly port: number;
  readonly world: World;
  /** Made just now for people to sign in with, where nobody set a password: to be shown once. Null where there was one. */
  readonly newSecret: string | null;
  /** Stops accepting, finishes what runs within the grace, and closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** A PostgreSQL that is not ready yet is retried until `parts.signal` is aborted. */
export async function startServer(
  given: Partial<ServerSettings> = {},
  parts: ServerParts = {},
): Promise<RunningServer> {
  const settings = completeSettings(given);
  const { platform, end } = endingPlatform(parts.platform ?? nodePlatform);
  const telling = new Telling({ logger: parts.logger ?? console, style: parts.logStyle, platform });
  let running: World | null = null;
  const metrics = new Metrics(platform, () => running?.engines ?? new Map());
  const health = new StoreHealth({ platform, telling, env: defaultEnv, store: async () => store });
  const opened = await openGiven(settings, parts, platform, metrics, telling, health);
  const { leaseTermMs, file } = opened;
  const closeOpened = async () => {
    metrics.close();
    if (parts.store === undefined) await opened.store.close();
  };
  if (settings.role === "api" && opened.store.shared === null) {
    await closeOpened();
    throw errors.OPTION_INVALID({ option: "role", why: notShared });
  }
  const live = new LiveDigests(platform, (env) => ({
    reads: opened.store.reads,
    isShared: opened.store.shared !== null,
    now: () => world.engines.get(env)?.now() ?? platform.wallMs(),
    registration: () => world.engines.get(env)?.registry.registration ?? 0,
    fullName: (fn) => world.engines.get(env)?.registry.fullName(fn) ?? fn,
  }));
  const store = observedStore(opened.store, relayObserver([metrics.observer, liveObserver(live)]));
  const { world, listensAt, stop } = openWorld({
    settings,
    store,
    leaseTermMs,
    platform,
    telling,
    health,
    metrics,
    live,
  });
  running = world;
  let newSecret: string | null = null;
  const openEngines = async () => {
    // Runs of every environment go on, also of those nobody asks for today.
    await world.engine(defaultEnv);
    for (const line of [...(store.shared?.toTell ?? []), ...(await secretsToTell(store.reads))])
      telling.logger.warn(line);
    store.shared?.history?.subscribe((report) => {
      if (report.kind === "notice") telling.logger[report.level](report.text);
    });
    const environments = new Set([...world.credentials.environments, ...(await store.reads.environments())]);
    const opened = await Promise.allSettled([...environments].map((env) => world.engine(env)));
    for (const each of opened) {
      if (each.status === "fulfilled") continue;
      // More than it has places for: the others are served.
      if (!(each.reason instanceof IdemError) || each.reason.code !== "SERVER_BUSY") throw each.reason;
      telling.logger.error(`idem: ${each.reason.message}`);
    }
    if (needsSecret(settings)) {
      const isRenewed = settings.newSecret === true;
      newSecret = await makeSecret({ store, platform, isRenewed, actor: cliName() });
    }
  };
  const preparing = new Opening<Listener>({
    platform,
    telling,
    open: async () => {
      await openEngines();
      const { role } = settings;
      const heard = { routes: routesOf(role, routes), sockets: socketsOf(role, sockets) };
      return listen({ world, ...heard, limits: parts.limits ?? {} });
    },
    // The store was ready a moment ago.
    isNotReady: (error) => parts.store === undefined && isNotReady(settings.store, error),
  });
  const listener = await stoppable(preparing, parts.signal).catch(async (error: unknown) => {
    await stop(0);
    await closeOpened();
    throw error;
  });
  const origin = `http://${urlHost(settings.host)}:${listener.port}`;
  listensAt(origin);
  watchServer(metrics, world, () => listener.load);
  const socket = file === null ? null : await openLocalSocket(world, file, store);
  const unfollow = followEnvironments(world, store);
  bulkOf(world).watch();
  const syncing = settings.role === "worker" ? null : startSyncing(world);
  if (syncing !== null) world.triedPorts = syncing.tried;

  const windDown = async (graceMs: number) => {
    // Long polls would outlast the grace.
    world.endpoints.stopWaiting();
    await live.close();
    unfollow();
    await Promise.all([bulkOf(world).stop(), listener.close(graceMs), syncing?.stop(), socket?.close(), stop(graceMs)]);
  };
  const close = async (graceMs: number) => {
    const winding = windDown(graceMs);
    // A store that is gone answers none of them: then it is closed under them.
    const isDown = await waitAtMost(platform, graceMs + limits.handOverMs, winding);
    try {
      if (isDown) await winding;
    } finally {
      await closeOpened().finally(end);
    }
  };
  let closing: Promise<void> | null = null;
  return {
    origin,
    port: listener.port,
    world,
    newSecret,
    close: (options) => {
      closing ??= close(options?.graceMs ?? serverLimits.stopGraceMs);
      return closing;
    },
  };
}

const notShared =
  "a node with the role api leaves the work to others, and no other node can have this store; use PostgreSQL, or the role all";

async function openGiven(
  settings: ServerSettings,
  parts: ServerParts,
  platform: Platform,
  metrics: Metrics,
  telling: Telling,
  health: StoreHealth,
): Promise<OpenedStore> {
  if (parts.store !== undefined) return { store: parts.store, leaseTermMs: limits.leaseTermSharedMs, file: null };
  const opening = new Opening({
    platform,
    telling,
    open: (signal) =>
      openStore(settings.store, platform, {
        signal,
        retryMs: settings.storeTimeoutMs,
        onRetrying: (why, forMs) => health.retrying(why, forMs),
        onCommit: (calls) => metrics.committed(calls),
        onTrouble: ({ level, text }) => telling.logger[level](`idem: ${text}`),
      }),
    isNotReady: (error) => isNotReady(settings.store, error),
  });
  try {
    return await stoppable(opening, parts.signal);
  } catch (error) {
    metrics.close();
    throw error;
  }
}

/** Waits for what is opened until the signal is aborted; throws its reason then. */
async function stoppable<T>(opening: Opening<T>, signal: AbortSignal | undefined): Promise<T> {
  const stop = () => void opening.stop();
  signal?.addEventListener("abort", stop);
  try {
    if (signal?.aborted === true) stop();
    return await opening.wait(Number.POSITIVE_INFINITY);
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** Where one listens is not always where one is reached. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
