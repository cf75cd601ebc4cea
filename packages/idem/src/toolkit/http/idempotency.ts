// Idempotency-Key for one API: where records are kept, who callers are, and what is decided about each request. A profile of draft -07.

import type { Logger } from "../../execute/function-code.ts";
import { ownLogger } from "../../execute/log-style.ts";
import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import { callWithin } from "../call-within.ts";
import type { KeyAnswer, KeyRecord, KeyStore, Resolved } from "../keys/key-store.ts";
import { AskTogether } from "./ask-together.ts";
import type { Begun, KeyEvent, KeyedRequest, ReadRequest, RouteOptions } from "./begin.ts";
import { type BeginWorld, beginRequest } from "./begin-request.ts";
import { type FetchHandle, fetchHandler } from "./fetch-handler.ts";
import { type BodySeal, sealed } from "./key-outcome.ts";
import { ANONYMOUS_SHARED, type ReadWorld, readRequest, type ScopeOf } from "./read-request.ts";
import { ReplayCache } from "./replay-cache.ts";
import { headersToKeep } from "./replay-headers.ts";
import { refuseUnknownRouteOptions, routeSettings } from "./route-settings.ts";
import type { OpenTicket } from "./ticket.ts";
import { WaitRoom } from "./wait-room.ts";

export interface IdempotencyKeyOptions {
  readonly keys: KeyStore;
  /**
   * The caller: a stable id of the account or user, never a token. Without one nothing executes (403). `ANONYMOUS_SHARED` where callers
   * are not told apart.
   */
  readonly principal: ScopeOf | typeof ANONYMOUS_SHARED;
  /** The organisation a caller acts for, where it can change within a session. */
  readonly tenant?: ScopeOf;
  /** Tells APIs apart that share a table. Default "default". */
  readonly namespace?: string;
  /** Fingerprints become HMACs, so that a reader of the table cannot try out bodies. */
  readonly secret?: string;
  /** The API's page about its keys; problem types lead there. */
  readonly docs?: string;
  /** The store's time to answer before the caller gets 503. Default "2s". */
  readonly deadline?: string | number;
  /** Time `drain` gives requests at work. Default "10s". */
  readonly drainWithin?: string | number;
  /** Completed responses kept in this process, for "60s" at most. Off by default. */
  readonly replayCache?: { readonly entries: number; readonly for?: string | number };
  /** Encrypts the bodies that are kept. */
  readonly seal?: BodySeal;
  readonly on?: (event: KeyEvent) => void;
  readonly logger?: Logger;
  readonly platform?: Platform;
}

export interface Idempotency {
  readonly keys: KeyStore;
  readonly platform: Platform;
  /** Whether responses are sealed: the modes that keep them inside a transaction cannot, and refuse. */
  readonly isSealed?: boolean;
  readonly logger: Logger;
  /** Throws when a route's options cannot be used. Doors call it when they are set up. */
  check(route: RouteOptions): void;
  read(request: Request, route: RouteOptions, native?: unknown): Promise<ReadRequest>;
  begin(keyed: KeyedRequest, route: RouteOptions): Promise<Begun>;
  handler(route: RouteOptions, handle: FetchHandle): (request: Request) => Promise<Response>;
  /** Keys that wait for a person, oldest first. */
  parked(page?: { readonly limit?: number; readonly after?: string | null }): Promise<readonly KeyRecord[]>;
  /** `response`: it happened, and this is the answer. `retry`, `forget`: the next asker executes. */
  resolve(
    id: string,
    resolution: { readonly response: Response; readonly window?: string | number } | "retry" | "forget",
  ): Promise<Resolved>;
  /** Deletes records whose window has ended; returns how many. */
  reap(): Promise<number>;
  startReaper(options?: { readonly every?: string | number }): void;
  /** Takes nothing new, and waits for what is at work; what may be resumed is left to another process in the end. */
  drain(): Promise<void>;
  /** Ends the reaper. */
  stop(): void;
}

const reapBatch = 1_000;
/** One call never takes the database for itself; what is left is there next time. */
const reapBatchesMax = 100;
const cacheMsMax = 60_000;
const parkedPage = 100;
/** A response that a person gives is small. */
const resolvedBytesMax = 1_024 * 1_024;

const knownOptions = {
  keys: true,
  principal: true,
  tenant: true,
  namespace: true,
  secret: true,
  docs: true,
  deadline: true,
  drainWithin: true,
  replayCache: true,
  seal: true,
  on: true,
  logger: true,
  platform: true,
} as const;

export function idempotency(options: IdempotencyKeyOptions): Idempotency {
  refuseUnknown<IdempotencyKeyOptions>("idempotency", options, knownOptions);
  refuseUnknown<NonNullable<IdempotencyKeyOptions["replayCache"]>>("idempotency, replayCache", options?.replayCache, {
    entries: true,
    for: true,
  });
  const { keys, principal, platform = nodePlatform } = options;
  const logger = ownLogger(options.logger ?? console);
  const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "idempotency", option, why });
  if (keys === undefined) throw refuse("keys", "say where keys are kept, such as sqlKeys(pgAdapter(pool))");
  if (typeof principal !== "function" && principal !== ANONYMOUS_SHARED) {
    throw refuse("principal", "say who asks: without it one caller gets another one's answer");
  }
  if (options.secret === "") throw refuse("secret", "it is empty");
  if (principal === ANONYMOUS_SHARED) {
    logger.warn("idempotency: all callers share one scope (ANONYMOUS_SHARED): whoever sends a key gets its answer");
  }
  const storeMs = parseDuration(options.deadline ?? "2s", "deadline");
  const drainMs = parseDuration(options.drainWithin ?? "10s", "drainWithin");
  const docs = options.docs ?? null;
  const room = new WaitRoom();
  const cache = cacheOf(options, platform);
  // The right to execute is one asker's.
  const together = new AskTogether<KeyAnswer>(platform, ({ kind }) => kind !== "fresh");
  const open = new Set<OpenTicket>();
  const averages = new WeakMap<RouteOptions, number>();
  const told = new WeakSet<RouteOptions>();
  let isDraining = false;
  let reaper: Timer | null = null;

  const readWorld: ReadWorld = {
    namespace: options.namespace ?? "default",
    principal,
    tenant: options.tenant ?? null,
    secret: options.secret ?? null,
    docs,
    report: (what, error) => logger.error(`idempotency: ${what}`, error),
  };

  const tellIgnored = (route: RouteOptions): void => {
    const { fingerprint } = routeSettings(route);
    if (told.has(route)) return;
    told.add(route);
    const { omit = [], pick } = fingerprint;
    const ignored = [...(pick === undefined ? [] : [`everything but ${pick.join(" and ")}`]), ...omit];
    if (ignored.length > 0) {
      logger.info(`idempotency: retries may differ in ${ignored.join(", ")}: a change there is not noticed`);
    }
  };

  const check = (route: RouteOptions): void => {
    refuseUnknownRouteOptions(route);
    tellIgnored(route);
  };

  const dress = (response: Response, asked: { readonly request: Request }, route: RouteOptions): Response => {
    try {
      route.onAnswer?.(response.headers, asked.request);
    } catch (error) {
      logger.error("idempotency: onAnswer failed", error);
    }
    return response;
  };

  const worldOf = (keyed: KeyedRequest, route: RouteOptions): BeginWorld => {
    const { method, path, hint } = keyed.about;
    const name = `${method} ${path}`;
    return {
      keys,
      platform,
      settings: routeSettings(route),
      docs,
      hint,
      seal: options.seal ?? null,
      dress: (response) => dress(response, keyed, route),
      storeMs,
      room,
      cache,
      together,
      report: (what, error) => logger.error(`idempotency: ${name} (${hint}): ${what}`, error),
      emit(kind, { attempt = 1, ageMs = 0, durationMs = 0 } = {}) {
        tell(options, { kind, route: name, hint, attempt, ageMs, durationMs });
      },
      averageMs: () => averages.get(route) ?? null,
      took(durationMs) {
        const before = averages.get(route);
        // The last ten or so count.
        averages.set(route, before === undefined ? durationMs : before + (durationMs - before) / 10);
      },
      isDraining: () => isDraining,
      opened(ticket) {
        open.add(ticket);
        ticket.ended.then(() => open.delete(ticket));
      },
    };
  };

  const self: Idempotency = {
    keys,
    platform,
    isSealed: options.seal !== undefined,
    logger,
    check,
    async read(request, route, native) {
      // A mode's route has the mode's own options beside these; it was checked when it was made.
      tellIgnored(route);
      const read = await readRequest(request, routeSettings(route), readWorld, native);
      return read.kind === "answer" ? { kind: "answer", response: dress(read.response, { request }, route) } : read;
    },
    async begin(keyed, route) {
      const begun = await beginRequest(worldOf(keyed, route), keyed);
      return begun.kind === "answer" ? { kind: "answer", response: dress(begun.response, keyed, route) } : begun;
    },
    handler(route, handle) {
      check(route);
      return fetchHandler({ idempotency: self, platform, logger }, route, handle);
    },
    parked: ({ limit = parkedPage, after = null } = {}) => keys.parked({ limit, after }),
    async resolve(id, resolution) {
      cache?.forget(id);
      if (typeof resolution === "string") return keys.resolve(id, { kind: resolution });
      const windowMs = parseDuration(resolution.window ?? "24h", "window");
      const { status, headers, body } = resolution.response;
      const bytes = body === null ? null : new Uint8Array(await resolution.response.arrayBuffer());
      if ((bytes?.byteLength ?? 0) > resolvedBytesMax) throw refuse("response", "it is larger than 1 MiB");
      const kept = { status, headers: headersToKeep([...headers], []), body: bytes };
      const response = await sealed(kept, options.seal ?? null);
      return keys.resolve(id, { kind: "response", response, windowMs });
    },
    async reap() {
      let count = 0;
      for (let batch = 0; batch < reapBatchesMax; batch++) {
        const gone = await keys.reap(reapBatch);
        count += gone;
        if (gone < reapBatch) break;
      }
      if (count > 0) tell(options, { kind: "reaped", route: "", hint: "", attempt: 0, ageMs: 0, durationMs: 0 });
      return count;
    },
    startReaper(asked = {}) {
      refuseUnknown<{ every: unknown }>("startReaper", asked, { every: true });
      const { every = "10m" } = asked;
      const everyMs = parseDuration(every, "every");
      self.stop();
      const rest = async () => {
        // A database that is away for a while is asked again next time; keys end without the reaper, too.
        await self.reap().catch((error: unknown) => logger.warn("idempotency: reaping failed", error));
        if (reaper === timer) {
          timer = platform.timer(everyMs, rest, { background: true });
          reaper = timer;
        }
      };
      let timer = platform.timer(everyMs, rest, { background: true });
      reaper = timer;
    },
    async drain() {
      isDraining = true;
      self.stop();
      const all = () => Promise.all([...open].map(({ ended }) => ended));
      const waited = await callWithin(platform, drainMs, all);
      if (waited.kind !== "answer") await Promise.all([...open].map((ticket) => ticket.abandon()));
    },
    stop() {
      reaper?.cancel();
      reaper = null;
    },
  };
  return self;
}

function cacheOf({ replayCache }: IdempotencyKeyOptions, platform: Platform): ReplayCache | null {
  if (replayCache === undefined) return null;
  const forMs = parseDuration(replayCache.for ?? cacheMsMax, "replayCache.for");
  return new ReplayCache(platform, { entriesMax: replayCache.entries, forMs: Math.min(forMs, cacheMsMax) });
}

function tell({ on, logger = console }: IdempotencyKeyOptions, event: KeyEvent): void {
  try {
    on?.(event);
  } catch (error) {
    // A listener decides nothing.
    ownLogger(logger).warn("idempotency: a listener failed", error);
  }
}
