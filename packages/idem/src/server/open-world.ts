// The world of every route, and the engines behind it: one for each environment, started when it is first asked for.
import { Engine } from "../engine/engine.ts";
import { isHeldElsewhere } from "../engine/held-elsewhere.ts";
import type { Metrics } from "../engine/metrics.ts";
import type { StoreHealth } from "../engine/store-health.ts";
import type { Telling } from "../engine/telling.ts";
import { errors } from "../model/errors.ts";
import { defaultWindowMs } from "../model/function-config.ts";
import { Turns } from "../model/turns.ts";
import { UlidSource } from "../model/ulid.ts";
import { processName } from "../platform/node-platform.ts";
import { packageVersion } from "../platform/package-files.ts";
import type { Platform } from "../platform/platform.ts";
import { type DuplicateRadar, watchDuplicates } from "../sdk/watch-duplicates.ts";
import type { Store } from "../store/store.ts";
import { defaultEnv } from "./admit-caller.ts";
import { channelAddresses } from "./app-address.ts";
import { snapshotsOf } from "./beside/snapshots.ts";
import { storeCommandsOf } from "./beside/store-commands.ts";
import { FollowChannels } from "./channels/follow-channels.ts";
import { Letters } from "./channels/letters.ts";
import { PublishQueue } from "./channels/publish-queue.ts";
import { ConnectGateway } from "./connect/connect-remote.ts";
import { openCredentials } from "./credentials.ts";
import { Endpoints } from "./endpoints/endpoints.ts";
import { Entrance } from "./entrance.ts";
import { EventQuotas } from "./event-quota.ts";
import { type CountKeeper, keepCounts } from "./keep-counts.ts";
import { serverLimits } from "./limits.ts";
import type { LiveDigests } from "./live/live-digests.ts";
import { type OpenedApps, openApps } from "./open-apps.ts";
import { People } from "./people/people.ts";
import { Channels } from "./realtime/channels.ts";
import { Tokens } from "./tokens.ts";
import { DeliveryNotes } from "./webhooks/delivery-notes.ts";
import { ReservedNames } from "./webhooks/reserved-names.ts";
import type { ServerSettings, World } from "./world.ts";

export interface OpenWorldOptions {
  readonly settings: ServerSettings;
  readonly store: Store;
  readonly leaseTermMs: number;
  readonly platform: Platform;
  readonly telling: Telling;
  readonly health: StoreHealth;
  readonly metrics: Metrics;
  readonly live: LiveDigests;
}

export interface OpenedWorld {
  readonly world: World;
  /** Where the server is reached, once it listens. */
  listensAt(origin: string): void;
  /** Finishes what runs and hands back the rest; the store stays open. */
  stop(graceMs: number): Promise<void>;
}

export function openWorld(options: OpenWorldOptions): OpenedWorld {
  const { settings, store, leaseTermMs, platform, telling, health, metrics, live } = options;
  const { logger } = telling;
  const credentials = openCredentials(settings);
  const engines = new Map<string, Engine>();
  const opening = new Map<string, Promise<Engine>>();
  const radars: DuplicateRadar[] = [];
  const counting: CountKeeper[] = [];
  const entrance = new Entrance(() => platform.monoMs(), serverLimits.giveWayMs);
  const turns = new Turns((run) => platform.soon(run), entrance.givingWay());
  const ids = new UlidSource(
    () => platform.wallMs(),
    (count) => platform.randomBytes(count),
  );
  const report = (what: string, error: unknown) => health.report(what, error);
  const follow = new FollowChannels({ store, platform, report });
  const queue = new PublishQueue({ store, ids, onPublished: (...said) => follow.published(...said) });
  const channels = new Channels({ platform, follow, queue });
  const letters = store.shared === null ? null : new Letters(follow, queue);
  let origin = "";
  let isStopping = false;

  async function open(env: string): Promise<Engine> {
    const engine: Engine = new Engine({
      store,
      platform: settings.mode === "dev" ? platform : withFetch(platform, parts.apps.fetch),
      env,
      // Functions belong to the apps that registered them: here they are called by their full names.
      app: "",
      telling,
      health,
      turns,
      runsInFlight: settings.runsInFlight,
      leaseTermMs,
      eventWindowMs: defaultWindowMs,
      checkEvents: null,
      retentionMs: settings.retentionMs,
      about: { node: processName(), version: packageVersion(), role: settings.role },
      // Another node may have heard of an app; where there is none, this one told the engine itself.
      ...(store.shared === null ? {} : { onRegistered: () => parts.apps.apps.follow(env, engine) }),
    });
    await engine.register([]);
    // Before it starts: runs that are due at once find their functions reachable.
    parts.apps.apps.follow(env, engine);
    await engine.start();
    if (settings.radar && engine.executes) {
      radars.push(watchDuplicates({ engine, platform, logger, addresses: channelAddresses(settings) }));
    }
    counting.push(keepCounts(engine, platform));
    engines.set(env, engine);
    return engine;
  }

  function engineOf(env: string): Promise<Engine> {
    const known = opening.get(env);
    if (known !== undefined) return known;
    if (isStopping) return Promise.reject(errors.SERVER_BUSY({ why: "it is stopping" }));
    if (!hasPlace(env)) {
      const why = `"${env}" would be one environment more than the ${serverLimits.environments} a server can have open`;
      return Promise.reject(errors.SERVER_BUSY({ why }));
    }
    const opened = open(env).catch((error) => {
      opening.delete(env);
      throw error;
    });
    opening.set(env, opened);
    return opened;
  }

  /** Environments with keys keep their places, however many others are named. */
  function hasPlace(env: string): boolean {
    const kept = new Set([defaultEnv, ...credentials.environments]);
    if (kept.has(env)) return true;
    const others = [...opening.keys()].filter((each) => !kept.has(each)).length;
    return others + kept.size < serverLimits.environments;
  }

  async function checkKnown(env: string): Promise<void> {
    if (opening.has(env) || env === defaultEnv || credentials.environments.has(env)) return;
    if ((await store.reads.environments()).includes(env)) return;
    const { rows } = await store.reads.eventPage(env, { limit: 1, examinedMax: 1 });
    if (rows.length === 0) throw errors.ENV_UNKNOWN({ env });
  }

  /** Where others could execute an app's runs too, they are leased where its workers are. */
  function followWorkers(env: string): void {
    const engine = engines.get(env);
    if (store.shared !== null && engine !== undefined) parts.apps.apps.follow(env, engine);
  }

  async function isElsewhere(env: string, runId: string): Promise<boolean> {
    const engine = engines.get(env);
    if (store.shared === null || engine === undefined) return false;
    const run = await store.reads.run(env, runId);
    return run !== null && isHeldElsewhere(engine, run);
  }

  const world: World = {
    settings,
    platform,
    logger,
    health,
    entrance,
    credentials,
    ...(credentials.required && settings.eventQuota !== null
      ? { eventQuotas: new EventQuotas(settings.eventQuota, settings.eventKeys, platform) }
      : {}),
    engines,
    engine: engineOf,
    checkKnown,
    people: new People({ settings, platform, engine: () => engineOf(defaultEnv) }),
    tokens: new Tokens(credentials, platform),
    metrics: async () => metrics,
    live,
    channels,
    deliveries: new DeliveryNotes(platform.wallMs()),
    reservedNames: new ReservedNames(platform),
    letters,
    connect: new ConnectGateway({
      platform,
      logger,
      onWorkers: followWorkers,
      elsewhere: letters === null ? null : { letters, has: isElsewhere },
    }),
    get apps() {
      return parts.apps.apps;
    },
    get endpoints() {
      return parts.endpoints;
    },
    get origin() {
      return origin;
    },
  };
  // These ask the world for the rest of it when they need it.
  const parts: { readonly apps: OpenedApps; readonly endpoints: Endpoints } = {
    apps: openApps(world),
    endpoints: new Endpoints(world),
  };

  return {
    world,
    listensAt: (reached) => {
      origin = reached;
    },
    stop: async (graceMs) => {
      isStopping = true;
      storeCommandsOf(world).close();
      snapshotsOf(world).close();
      // Side by side: a store that answers none of them must not keep steps from being finished.
      const beside = [...[...radars, ...counting].map((each) => each.stop()), world.people.close()];
      const known = [...engines.values()].map((engine) => engine.stop(graceMs));
      await Promise.all([...beside, ...known, Promise.allSettled(opening.values())]);
      const late = [...engines.values()].slice(known.length);
      await Promise.all(late.map((engine) => engine.stop(graceMs)));
      parts.apps.close();
      follow.close();
      health.stop();
    },
  };
}

/** The same platform, but for what it fetches. */
const withFetch = (platform: Platform, fetch: Platform["fetch"]): Platform =>
  Object.create(platform, { fetch: { value: fetch } }) as Platform;
