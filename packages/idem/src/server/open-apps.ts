// The three ways to reach an app, put together: by URL, by the socket its workers keep open, by entering its endpoint again.
import type { Remote } from "../execute/remote.ts";
import type { Runtime } from "../model/function-config.ts";
import { type HttpCalls, openHttpCalls } from "../platform/node-http.ts";
import type { Platform } from "../platform/platform.ts";
import { appLookup, checkAppUrl } from "./app-address.ts";
import { type CallAppOptions, callApp } from "./call-app.ts";
import { ServedApps } from "./served-apps.ts";
import type { World } from "./world.ts";

// As many as runs are executed at once: a plan of a thousand steps waits here instead of at the app.
const socketsPerHost = 128;
const connectMsMax = 10_000;
// The longest a step may take.
const callMsMax = 2 * 60 * 60 * 1_000;

export interface OpenedApps {
  readonly apps: ServedApps;
  /** Fetches for apps go where apps may live, and nowhere else; redirects are answers. */
  readonly fetch: Platform["fetch"];
  close(): void;
}

export function openApps(world: World): OpenedApps {
  const { settings, platform, credentials } = world;
  const http: HttpCalls = openHttpCalls({ socketsPerHost, connectMsMax, callMsMax, lookup: appLookup(settings) });
  const calls: CallAppOptions = {
    http,
    platform,
    mode: settings.mode,
    credentials,
    checkUrl: (url) => checkAppUrl(url, settings),
  };
  const remoteOf = (env: string, app: string, runtime: Runtime): Remote => {
    if (runtime.kind === "http") return callApp(env, runtime.url, calls);
    // These two come into being with the world, after the apps.
    if (runtime.kind === "connect") return { call: (call) => world.connect.remoteFor(env, app).call(call) };
    return { call: (call) => world.endpoints.remoteFor(env, app, calls).call(call) };
  };
  const apps = new ServedApps({
    engine: (env) => world.engine(env),
    platform,
    retryIntervalMs: settings.retryIntervalMs,
    remoteOf,
    workerCount: (env, app) => world.connect.workerCount(env, app),
  });
  const fetch: Platform["fetch"] = async (request) => {
    checkAppUrl(request.url, settings);
    return http.call(request);
  };
  return { apps, fetch, close: () => http.close() };
}
