// Syncing one app: asks its serve URL for its functions and registers them. Whatever goes wrong is remembered with the URL,
// so that it can be seen where apps are shown.
// Repeat: an app whose functions did not change changes nothing.
import { errors, IdemError } from "../model/errors.ts";
import { type HttpCalls, openHttpCalls } from "../platform/node-http.ts";
import type { HttpRequest, HttpResponse } from "../platform/platform.ts";
import { withinTime } from "../platform/wait-at-most.ts";
import { canonicalAppUrl, shownUrl } from "../protocol/app-url.ts";
import type { RegisterRequest } from "../protocol/register-request.ts";
import { signatureHeader, signRequest, verifySignature } from "../protocol/request-signature.ts";
import { checkSdkVersion } from "../protocol/sdk-version.ts";
import { readSyncReply, sdkHeader, syncBody, syncHeaders } from "../protocol/sync.ts";
import { appLookup, checkAppUrl } from "./app-address.ts";
import { serverKind } from "./call-app.ts";
import type { World } from "./world.ts";

export type SyncWorld = Pick<World, "settings" | "platform" | "credentials" | "apps" | "engines" | "origin">;

export interface Synced {
  /** Null when the app registered by itself, under a URL of its own choosing. */
  readonly app: string | null;
  readonly modified: boolean;
}

export interface SyncOptions {
  /** Kept connections to share; opened and closed around the sync unless given. */
  readonly http?: HttpCalls;
  readonly signal?: AbortSignal;
  /** Asked before functions are registered: false leaves everything as it is. */
  readonly wants?: (registration: RegisterRequest) => boolean | Promise<boolean>;
}

// A framework in development compiles the route when it is first asked, which takes it tens of seconds.
const syncMsMax = 60_000;
const replyBytesMax = 4 * 1024 * 1024;
const redirectsMax = 3;

export const openSyncCalls = (settings: World["settings"]): HttpCalls =>
  openHttpCalls({ socketsPerHost: 4, connectMsMax: 5_000, callMsMax: syncMsMax, lookup: appLookup(settings) });

/** Throws APP_URL_REFUSED, APP_SYNC_FAILED, SDK_VERSION_UNSUPPORTED and FUNCTION_INVALID. */
export async function syncApp(world: SyncWorld, env: string, url: string, options: SyncOptions = {}): Promise<Synced> {
  const http = options.http ?? openSyncCalls(world.settings);
  try {
    return await askAndRegister(world, http, env, canonicalAppUrl(url) ?? url, options);
  } catch (error) {
    const known = error instanceof IdemError ? error : failed(url, describe(error));
    if (options.signal?.aborted !== true) world.apps.noteFailure(env, canonicalAppUrl(url) ?? url, known.message);
    throw known;
  } finally {
    if (options.http === undefined) http.close();
  }
}

async function askAndRegister(
  world: SyncWorld,
  http: HttpCalls,
  env: string,
  url: string,
  options: SyncOptions,
): Promise<Synced> {
  const askedAt = world.platform.wallMs();
  const reply = await ask(world, http, env, url, options.signal ?? null);
  // Before the rest of its answer: an old SDK answers in forms of its own, and its version is the reason to report.
  checkSdkVersion(shownUrl(url), reply.headers[sdkHeader]);
  const answer = readSyncReply(reply, serverKind(world.settings.mode));
  switch (answer.kind) {
    case "refused":
      throw failed(url, answer.why);
    case "told-elsewhere":
      await checkToldHere(world, url, askedAt);
      return { app: null, modified: answer.modified };
    case "functions": {
      const { registration } = answer;
      checkRegistration(registration, world.settings);
      if ((await options.wants?.(registration)) === false) return { app: registration.app, modified: false };
      const { modified } = await world.apps.register(env, registration);
      return { app: registration.app, modified };
    }
  }
}

/** An app may serve each function at a URL of its own; all of them will be called. */
export function checkRegistration({ url, functions }: RegisterRequest, settings: World["settings"]): void {
  const urls = functions.flatMap(({ config }) => (config.runtime?.kind === "http" ? [config.runtime.url] : []));
  for (const each of new Set([url, ...urls])) checkAppUrl(each, settings);
}

/** Signed with each key in turn until the app takes one: while keys are changed, some apps have the old one. */
async function ask(
  world: SyncWorld,
  http: HttpCalls,
  env: string,
  url: string,
  asker: AbortSignal | null,
): Promise<HttpResponse> {
  const { credentials, platform, settings } = world;
  const keys = credentials.signingKeysOf(env);
  if (settings.mode === "start" && keys.length === 0) {
    throw failed(url, `there is no signing key for environment "${env}"`);
  }
  const body = syncBody(url);
  let reply: HttpResponse | null = null;
  for (const key of keys.length === 0 ? [null] : keys) {
    const signature = key === null ? {} : { [signatureHeader]: signRequest(body, key, platform.wallMs()) };
    const headers = { ...syncHeaders(serverKind(settings.mode)), ...signature };
    reply = await withinTime(platform, syncMsMax, asker, (signal) => put(world, http, { url, headers, body, signal }));
    if (reply.status !== 401) break;
  }
  const { status, headers } = reply!;
  if (settings.mode === "start" && status === 200 && headers[sdkHeader] !== undefined) {
    const verified = verifySignature(headers[signatureHeader], reply!.body, keys, platform.wallMs());
    if (verified.kind === "refused") throw failed(url, `the app's answer cannot be trusted: ${verified.why}`);
  }
  return reply!;
}

/** Redirects are followed on the same host only: to a path with a slash, or from http to https. */
async function put(
  world: SyncWorld,
  http: HttpCalls,
  { url, ...sent }: Pick<HttpRequest, "url" | "headers" | "body" | "signal">,
): Promise<HttpResponse> {
  let at = url;
  for (let followed = 0; ; followed++) {
    checkAppUrl(at, world.settings);
    const reply = await http.call({ ...sent, url: at, method: "PUT", bodyBytesMax: replyBytesMax });
    const { location } = reply.headers;
    if (reply.status < 300 || reply.status > 399 || location === undefined) return reply;
    const next = URL.canParse(location, at) ? new URL(location, at) : null;
    if (next === null || next.hostname !== new URL(at).hostname || followed === redirectsMax) {
      throw failed(url, `it redirects to ${shownUrl(next?.href ?? location)}; give that URL if it is the app's`);
    }
    at = next.href;
  }
}

/** The app said it registered; if nobody did here meanwhile, it did so somewhere else: with another server, unless it was another node. */
async function checkToldHere(world: SyncWorld, url: string, askedAt: number): Promise<void> {
  for (const [env, engine] of world.engines) {
    const isShared = engine.store.shared !== null;
    if (isShared) await engine.registry.refresh();
    const apps = await world.apps.list(env);
    if (isShared && apps.some((app) => app.url !== null && new URL(app.url).origin === new URL(url).origin)) return;
    if (apps.some(({ syncedAt }) => syncedAt !== null && syncedAt >= askedAt)) return;
  }
  const where = world.settings.mode === "dev" ? "INNGEST_DEV" : "INNGEST_BASE_URL";
  throw failed(url, `it registered its functions with another server; set ${where}=${world.origin} in its environment`);
}

const failed = (url: string, why: string): IdemError => errors.APP_SYNC_FAILED({ url: shownUrl(url), why });

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "nothing listens there";
  if (code === "ENOTFOUND") return "its host is not known";
  return message || String(code ?? error);
}
