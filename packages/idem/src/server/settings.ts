// A server's settings, from those given to those it runs with; refused before anything is opened.

import { limits } from "../engine/limits.ts";
import { readRetention } from "../engine/retention.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { refuseWeak } from "../model/secret.ts";
import { readStoreTimeout, storeTimeoutDefaultMs } from "../model/store-timeout.ts";
import { isLoopback } from "../protocol/host-name.ts";
import { nodeRoles } from "../store/sharing.ts";
import { checkKeys } from "./credentials.ts";
import { checkedQuota, eventQuotaDefault } from "./event-quota.ts";
import type { ServerSettings } from "./world.ts";

const defaults = {
  mode: "dev",
  host: "127.0.0.1",
  // The port the SDK looks for when a server is on this machine.
  port: 8288,
  sdkUrls: [],
  retryIntervalMs: null,
  eventKeys: [],
  signingKeys: [],
  allowHosts: [],
  role: "all",
  runsInFlight: limits.runsInFlight,
  eventQuota: eventQuotaDefault,
  retentionMs: null,
  storeTimeoutMs: storeTimeoutDefaultMs,
  radar: true,
} as const;

/** Stands for a trace's id in `traceUrl`. */
export const tracePlace = "{traceId}";

export const defaultStore = { dev: "sqlite:.idem/dev.db", start: "sqlite:.idem/server.db" } as const;

export function completeSettings(given: Partial<ServerSettings>): ServerSettings {
  refuseUnknown<ServerSettings>("startServer", given, {
    mode: true,
    host: true,
    port: true,
    store: true,
    sdkUrls: true,
    discovery: true,
    poll: true,
    retryIntervalMs: true,
    eventKeys: true,
    signingKeys: true,
    allowHosts: true,
    password: true,
    viewerPassword: true,
    secureCookies: true,
    anyoneMayAct: true,
    newSecret: true,
    role: true,
    runsInFlight: true,
    eventQuota: true,
    retentionMs: true,
    storeTimeoutMs: true,
    radar: true,
    traceUrl: true,
  });
  const mode = given.mode ?? defaults.mode;
  const settings: ServerSettings = {
    ...defaults,
    store: defaultStore[mode],
    discovery: mode === "dev",
    poll: mode === "dev",
    ...given,
  };
  const { host, port, password, retryIntervalMs, runsInFlight } = settings;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw errors.OPTION_INVALID({ option: "port", why: "it must be a whole number from 0 to 65535" });
  }
  if (retryIntervalMs !== null && !(retryIntervalMs >= 0)) {
    throw errors.OPTION_INVALID({ option: "retryIntervalMs", why: "it must be milliseconds, 0 or more" });
  }
  if (!Number.isInteger(runsInFlight) || runsInFlight < 1) {
    throw errors.OPTION_INVALID({ option: "runsInFlight", why: "it must be a whole number above 0" });
  }
  if (settings.eventQuota !== null) checkedQuota(settings.eventQuota, "eventQuota");
  if (settings.retentionMs !== null) readRetention(settings.retentionMs, "retentionMs");
  readStoreTimeout(settings.storeTimeoutMs, "storeTimeoutMs");
  for (const url of settings.sdkUrls) {
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      throw errors.OPTION_INVALID({
        option: "sdkUrls",
        why: `"${url}" is not a URL that begins with http:// or https://`,
      });
    }
  }
  if (settings.traceUrl !== undefined) checkTraceUrl(settings.traceUrl);
  checkRole(settings);
  checkKeys(settings);
  if (mode === "dev" && !isLoopback(host) && settings.anyoneMayAct !== true) throw errors.DEV_EXPOSED({ host });
  if (mode === "start" && !isLoopback(host) && isNone(password)) throw errors.PASSWORD_MISSING({ host });
  checkPasswords(settings);
  return settings;
}

function checkTraceUrl(traceUrl: string): void {
  const url = traceUrl.replaceAll(tracePlace, "0");
  if (traceUrl.includes(tracePlace) && URL.canParse(url) && /^https?:/.test(url)) return;
  const why = `"${traceUrl}" must begin with http:// or https:// and hold ${tracePlace}, which stands for the trace's id`;
  throw errors.OPTION_INVALID({ option: "traceUrl", why });
}

const isNone = (text: string | undefined): boolean => text === undefined || text === "";

/** Whether people get in with the secret of the first start: nobody set a password. */
export const needsSecret = ({ mode, role, password, viewerPassword }: ServerSettings): boolean =>
  mode === "start" && role !== "worker" && isNone(password) && isNone(viewerPassword);

function checkPasswords(settings: ServerSettings): void {
  const { password, viewerPassword, newSecret } = settings;
  if (!isNone(password) && password === viewerPassword) {
    const why = "it is the operators' password as well; who may only look needs another";
    throw errors.OPTION_INVALID({ option: "viewerPassword", why });
  }
  if (newSecret === true && !needsSecret(settings)) {
    const why = "people sign in with a password that is set, or not on this node; a secret is made where there is none";
    throw errors.OPTION_INVALID({ option: "newSecret", why });
  }
  if (settings.mode !== "start" || settings.role === "worker") return;
  if (!isNone(password)) refuseWeak("password", password!, "operators' password");
  if (!isNone(viewerPassword)) refuseWeak("password", viewerPassword!, "viewers' password");
}

function checkRole({ role, sdkUrls }: ServerSettings): void {
  if (!nodeRoles.includes(role)) {
    throw errors.OPTION_INVALID({ option: "role", why: `it must be one of ${nodeRoles.join(", ")}` });
  }
  if (role === "worker" && sdkUrls.length > 0) {
    const why = "a node with the role worker registers no apps; give them to a node with the role api or all";
    throw errors.OPTION_INVALID({ option: "sdkUrls", why });
  }
}
