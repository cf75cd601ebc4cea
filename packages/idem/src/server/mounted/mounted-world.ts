// The world of routes beside an embedded engine: the client's own engine and store, and nothing that executes. It is made when first asked
// for, and closed with the client; a client that is started again gets another.
import type { Engine } from "../../engine/engine.ts";
import type { StoreHealth } from "../../engine/store-health.ts";
import { errors } from "../../model/errors.ts";
import type { MountedClient } from "../../sdk/open-dashboard.ts";
import { bulkOf } from "../bulk-work.ts";
import { ConnectGateway } from "../connect/connect-remote.ts";
import { openCredentials } from "../credentials.ts";
import { Endpoints } from "../endpoints/endpoints.ts";
import { type CountKeeper, keepCounts } from "../keep-counts.ts";
import { LiveDigests, liveObserver } from "../live/live-digests.ts";
import { type OpenedApps, openApps } from "../open-apps.ts";
import { People } from "../people/people.ts";
import type { Channels } from "../realtime/channels.ts";
import { completeSettings } from "../settings.ts";
import { Tokens } from "../tokens.ts";
import { DeliveryNotes } from "../webhooks/delivery-notes.ts";
import { ReservedNames } from "../webhooks/reserved-names.ts";
import type { Mode, World } from "../world.ts";

export interface MountedWorld {
  readonly world: World;
  /** Where it was last reached: "https://shop.example/idem". */
  reachedAt(origin: string): void;
  /** Before the engine stops: pages hear of it, and nothing is asked of the store any more. */
  close(): Promise<void>;
}

export function openMountedWorld(client: MountedClient, mode: Mode): MountedWorld {
  const { env, platform, logger } = client;
  const settings = { ...completeSettings({ store: client.store, port: 0, discovery: false, poll: false }), mode };
  const credentials = openCredentials(settings);
  const engines = new Map<string, Engine>();
  let counting: CountKeeper | null = null;
  let origin = "";
  let isClosed = false;

  async function engineOf(asked: string): Promise<Engine> {
    if (asked !== env) {
      throw errors.REQUEST_INVALID({
        why: `the client this dashboard stands beside has only the environment "${env}"`,
      });
    }
    const opened = await client.engine();
    if (isClosed) throw errors.SERVER_BUSY({ why: `client "${client.id}" is stopping` });
    const engine = engines.get(env) ?? opened;
    engines.set(env, engine);
    counting ??= keepCounts(engine, platform);
    return engine;
  }

  const live = new LiveDigests(platform, () => {
    const engine = engines.get(env);
    if (engine === undefined) return null;
    const { store } = engine;
    return {
      reads: store.reads,
      isShared: store.shared !== null,
      now: () => engine.now(),
      registration: () => engine.registry.registration,
      fullName: (fn) => engine.registry.fullName(fn),
    };
  });
  const unwatch = client.watch(liveObserver(live));

  const world: World = {
    settings,
    isMounted: true,
    platform,
    logger,
    get health(): StoreHealth {
      throw errors.SERVER_ONLY({ method: "GET", path: "/health" });
    },
    credentials,
    engines,
    engine: engineOf,
    // Others than its own are refused where they are asked for.
    checkKnown: async () => {},
    people: new People({ settings, platform, engine: () => engineOf(env) }),
    tokens: new Tokens(credentials, platform),
    live,
    get channels(): Channels {
      throw errors.SERVER_ONLY({ method: "GET", path: "/v1/realtime" });
    },
    metrics: () => client.metrics(),
    deliveries: new DeliveryNotes(platform.wallMs()),
    reservedNames: new ReservedNames(platform),
    letters: null,
    connect: new ConnectGateway({ platform, logger }),
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
  const parts: { readonly apps: OpenedApps; readonly endpoints: Endpoints } = {
    apps: openApps(world),
    endpoints: new Endpoints(world),
  };

  return {
    world,
    reachedAt: (reached) => {
      origin = reached;
    },
    close: async () => {
      isClosed = true;
      unwatch();
      await Promise.all([live.close(), counting?.stop(), bulkOf(world).stop()]);
      parts.apps.close();
    },
  };
}
