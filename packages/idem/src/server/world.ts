// The world of every route: engines by environment, the apps they serve, credentials, settings.
import type { Engine } from "../engine/engine.ts";
import type { Metrics } from "../engine/metrics.ts";
import type { StoreHealth } from "../engine/store-health.ts";
import type { Logger } from "../execute/function-code.ts";
import type { Platform } from "../platform/platform.ts";
import type { NodeRole } from "../store/sharing.ts";
import type { Apps } from "./apps.ts";
import type { Letters } from "./channels/letters.ts";
import type { ConnectGateway } from "./connect/connect-remote.ts";
import type { Credentials } from "./credentials.ts";
import type { TriedPort } from "./discover-apps.ts";
import type { Endpoints } from "./endpoints/endpoints.ts";
import type { Entrance } from "./entrance.ts";
import type { EventQuota, EventQuotas } from "./event-quota.ts";
import type { LiveDigests } from "./live/live-digests.ts";
import type { People } from "./people/people.ts";
import type { Channels } from "./realtime/channels.ts";
import type { Tokens } from "./tokens.ts";
import type { DeliveryNotes } from "./webhooks/delivery-notes.ts";
import type { ReservedNames } from "./webhooks/reserved-names.ts";

/** `dev` trusts everybody who reaches it, on loopback; `start` asks for keys. */
export type Mode = "dev" | "start";

export interface ServerSettings {
  readonly mode: Mode;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** A store's address, as `new Idem({ store })` takes it. */
  readonly store: string;
  /** Serve URLs of apps to sync at start. */
  readonly sdkUrls: readonly string[];
  /** Look for apps on the usual local ports. */
  readonly discovery: boolean;
  /** Ask known apps every few seconds whether their functions changed. */
  readonly poll: boolean;
  /** Milliseconds between attempts instead of the published table; null for the table. */
  readonly retryIntervalMs: number | null;
  /** `key` or `env=key`. */
  readonly eventKeys: readonly string[];
  /** `key` or `env=key`; the first of an environment signs, all of it are accepted. */
  readonly signingKeys: readonly string[];
  /** Hosts (or host:port) apps may live on although they are private addresses; only asked in `start`. */
  readonly allowHosts: readonly string[];
  /** Operators sign in with it, or show it as HTTP Basic; needed to listen beyond loopback in `start`. */
  readonly password?: string;
  /** The same for people who may look but not act. */
  readonly viewerPassword?: string;
  /** Cookies only over https, also where nothing in a request says that it came that way. */
  readonly secureCookies?: boolean;
  /** In `dev`, beyond loopback: everybody who reaches the server acts as its operator, without a key. */
  readonly anyoneMayAct?: boolean;
  /** Make another secret in place of the one of the first start. */
  readonly newSecret?: boolean;
  /** `all`, or one half of it where others over the same store do the other: `api` answers requests, `worker` executes. */
  readonly role: NodeRole;
  /** Runs executed at once, per environment. */
  readonly runsInFlight: number;
  /** Bounds of one event key in a window, in `start`; null for none. */
  readonly eventQuota: EventQuota | null;
  /** History is kept for this long, in every environment; null for ever. */
  readonly retentionMs: number | null;
  /** How long a call retries while the store does not answer. */
  readonly storeTimeoutMs: number;
  /** Where people read the trace of a run's calls, with `{traceId}` in it; absent where nobody collects traces. */
  readonly traceUrl?: string;
  /** Whether nodes that execute look for what ran twice. */
  readonly radar: boolean;
}

export interface World {
  readonly settings: ServerSettings;
  /** Beside an application's own engine: nothing is received here from apps, senders and providers. */
  readonly isMounted?: true;
  readonly platform: Platform;
  readonly logger: Logger;
  /** Of its store, for probes and for the log. */
  readonly health: StoreHealth;
  /** Accepts lines; absent where the application does. */
  readonly entrance?: Entrance;
  readonly credentials: Credentials;
  /** Sent so far with each event key; absent where no key is asked for, or there is no quota. */
  readonly eventQuotas?: EventQuotas;
  readonly apps: Apps;
  /** The engine of an environment, started when first asked for. */
  engine(env: string): Promise<Engine>;
  /** Throws ENV_UNKNOWN for one that nobody made: to look at an environment does not open it. */
  checkKnown(env: string): Promise<void>;
  /** Engines that are open now, by environment. */
  readonly engines: ReadonlyMap<string, Engine>;
  /** People who sign in here. */
  readonly people: People;
  /** Handed out by this server, to be shown again in a URL. */
  readonly tokens: Tokens;
  /** Listeners of realtime. */
  readonly channels: Channels;
  /** Messages for the node that executes a run; null where there is one node. */
  readonly letters: Letters | null;
  /** Workers that keep a socket open to us. */
  readonly connect: ConnectGateway;
  /** Runs that an app's own HTTP handlers drive. */
  readonly endpoints: Endpoints;
  /** Webhooks that were delivered here. */
  readonly deliveries: DeliveryNotes;
  /** Names of events that only webhook sources may use. */
  readonly reservedNames: ReservedNames;
  /** Open pages that follow changes. */
  readonly live: LiveDigests;
  /** On which ports of this machine apps were looked for, and what was there; absent where nobody looks for any. */
  triedPorts?: () => readonly TriedPort[];
  /** Its metrics; absent where nobody looks. */
  metrics?(): Promise<Metrics>;
  /** Where this server is reached, once it listens: "http://127.0.0.1:8288". */
  readonly origin: string;
}
