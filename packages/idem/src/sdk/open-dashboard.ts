// The dashboard beside an embedded engine, as a user asks for it. Pages and API are the server's: the room above this one, which is loaded
// with the first request, by what it exports. A process that shows no dashboard loads nothing of it.
import type { Engine } from "../engine/engine.ts";
import type { Metrics } from "../engine/metrics.ts";
import type { Readiness } from "../engine/readiness.ts";
import type { Logger } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import type { RelayedObserver } from "../observe/relay-observer.ts";
import type { Platform } from "../platform/platform.ts";

/** A viewer looks, an operator acts. */
export type DashboardRole = "operator" | "viewer";

/** With a name, the audit says who it was. */
export type DashboardCaller = DashboardRole | { readonly role: DashboardRole; readonly name: string };

export type Authorize = (request: Request) => DashboardCaller | null | Promise<DashboardCaller | null>;

/** Access is always given, never guessed: by `authorize`, or by `dev: true` on the machine you develop on. */
export type DashboardOptions = {
  /** The path it is mounted at, as browsers see it; "/idem" by default. */
  readonly base?: string;
} & (
  | {
      /** Called for every request: the caller by your own application's session, or null for one you do not know. */
      readonly authorize: Authorize;
      readonly dev?: false;
    }
  | {
      /** Every caller from this machine is an operator, without `authorize`: for development, never behind a proxy. */
      readonly dev: true;
      readonly authorize?: undefined;
    }
);

export type DashboardHandler = (request: Request) => Promise<Response>;

/** The part of a client that the pages beside it need. */
export interface MountedClient {
  readonly id: string;
  readonly env: string;
  /** The store's address; may hold a password. */
  readonly store: string;
  readonly platform: Platform;
  readonly logger: Logger;
  /** The client's own, opened when it is first needed; throws SERVER_BUSY while the client is stopped. */
  engine(): Promise<Engine>;
  /** The counts of the process, begun when first asked for. */
  metrics(): Promise<Metrics>;
  health(): Promise<Readiness>;
  /** Returns how to stop watching. */
  watch(observer: RelayedObserver): () => void;
  /** Awaited before the engine stops and the store is closed. */
  onStop(stop: () => Promise<void>): void;
}

// The path is written into a page's attributes and compared with the requests' own.
const basePattern = /^(\/[A-Za-z0-9._~-]+)*\/?$/;

/** "/idem/" of "/idem". */
export function baseOf(given = "/idem"): string {
  if (typeof given !== "string" || given.length > 200 || !basePattern.test(given)) {
    const why = 'it must be a path such as "/idem", of letters, digits, dots, dashes and underscores';
    throw errors.OPTION_INVALID({ option: "base", why });
  }
  return given.endsWith("/") ? given : `${given}/`;
}

/** `mount` is called once the options hold. */
export function openDashboard(mount: () => MountedClient, options: DashboardOptions): DashboardHandler {
  refuseUnknown<DashboardOptions>("dashboard", options, { base: true, authorize: true, dev: true });
  // Also as code without types may write them.
  const { authorize, dev } = (options ?? {}) as { readonly authorize?: Authorize; readonly dev?: boolean };
  const base = baseOf(options?.base);
  if (authorize !== undefined && typeof authorize !== "function") {
    const why = 'it must be a function of the request that answers "operator", "viewer" or null';
    throw errors.OPTION_INVALID({ option: "authorize", why });
  }
  if (dev !== undefined && typeof dev !== "boolean") {
    throw errors.OPTION_INVALID({ option: "dev", why: "it must be true or false" });
  }
  if (authorize === undefined && dev !== true) throw errors.DASHBOARD_CLOSED({ why: "nobody says who may look" });
  if (authorize !== undefined && dev === true) {
    throw errors.OPTION_INVALID({
      option: "dev",
      why: "with it nobody is asked, so `authorize` would not be; leave out one of them",
    });
  }
  const client = mount();
  let mounting: Promise<DashboardHandler> | null = null;
  return async (request) => {
    mounting ??= import("../server.ts").then(({ mountDashboard }) => mountDashboard(client, { base, authorize }));
    return (await mounting)(request);
  };
}
