// An app registers its functions, in the body of POST /fn/register, in its answer to an in-band sync, or when a worker connects
// (docs/reference/wire.md#syncs). All of it can be registered, or the first function that cannot be is named with the reason.
import { keepDataSchemas, schemaBytesMax } from "../model/data-schemas.ts";
import { errors, IdemError } from "../model/errors.ts";
import { type FunctionConfig, functionSlug, type Runtime } from "../model/function-config.ts";
import {
  nameCharsMax,
  readEntries,
  readFingerprint,
  readIdempotency,
  readName,
  readObject,
  readOnDiverged,
  readRetries,
  readTimeouts,
  retriesMax,
} from "../model/function-options.ts";
import { isJsonObject } from "../model/json.ts";
import { canonicalAppUrl, shownUrl } from "./app-url.ts";
import { readJson } from "./read-json.ts";
import { checkSdkVersion } from "./sdk-version.ts";
import { readWireFlow, readWireTriggers } from "./wire-flow.ts";

export interface RegisterRequest {
  /** The one that rows name: the first it ever had. */
  readonly app: string;
  /** Every name it had before, where it was renamed. */
  readonly formerApps: readonly string[];
  readonly url: string;
  readonly functions: readonly RegisteredCode[];
  readonly sdk: string | null;
  readonly framework: string | null;
  readonly appVersion: string | null;
}

export interface RegisteredCode {
  /** The first name it ever had. */
  readonly fn: string;
  readonly config: FunctionConfig;
}

// Shown to people, never compared.
const labelCharsMax = 128;
const urlCharsMax = 2_048;
const formerNamesMax = 100;

/** The body of POST /fn/register. */
export const readRegisterRequest = (body: unknown): RegisterRequest => readRegistration(body, "appName");

/** The body of an app's answer to an in-band sync. */
export const readInBandReply = (body: unknown): RegisterRequest => readRegistration(body, "app_id");

function readRegistration(body: unknown, appField: string): RegisterRequest {
  if (!isJsonObject(body)) throw errors.REQUEST_INVALID({ why: "a registration is a JSON object" });
  const called = readAppName(body[appField], appField);
  const formerApps = readWas(body.was, (why) => errors.REQUEST_INVALID({ why })) ?? [];
  const url = readRegisteredUrl(body);
  // Before its functions: SDK 2 may write ids that are invalid here, and its version is the reason to report.
  checkSdkVersion(shownUrl(url), body.sdk);
  return {
    app: formerApps[0] ?? called,
    formerApps,
    url,
    functions: readFunctions(called, body.functions),
    sdk: label(body.sdk),
    framework: label(body.framework),
    appVersion: label(body.appVersion),
  };
}

/** The app's address, which a registration has whether or not the rest of it is valid. */
export const readRegisteredUrl = (body: unknown): string =>
  readUrl(isJsonObject(body) ? body.url : undefined, "url", (why) => errors.REQUEST_INVALID({ why }));

export function readAppName(value: unknown, field: string): string {
  if (typeof value === "string" && isPlainName(value)) return value;
  throw errors.REQUEST_INVALID({ why: `${field} must be the app's name: 1 to ${nameCharsMax} printable characters` });
}

/** The functions of one app, from what its SDK calls `functions`. Throws FUNCTION_INVALID. */
export function readFunctions(app: string, functions: unknown): RegisteredCode[] {
  if (!Array.isArray(functions)) throw errors.REQUEST_INVALID({ why: "functions must be a list" });
  const read = functions.map((given) => readFunction(app, given));
  const seen = new Set<string>();
  for (const { fn } of read) {
    if (seen.has(fn)) throw errors.FUNCTION_INVALID({ function: fn, why: "the app has two functions of that id" });
    seen.add(fn);
  }
  return read;
}

function readFunction(app: string, given: unknown): RegisteredCode {
  const fields = isJsonObject(given) ? (withoutNulls(given) as Record<string, unknown>) : {};
  const slug = fields.id;
  const wrong = (why: string, cause?: unknown) =>
    errors.FUNCTION_INVALID(
      { function: typeof slug === "string" ? slug.slice(0, nameCharsMax) : "(without an id)", why },
      cause === undefined ? undefined : { cause },
    );
  const prefix = functionSlug(app, "");
  const id = typeof slug === "string" && slug.startsWith(prefix) ? slug.slice(prefix.length) : "";
  if (!isPlainName(id)) {
    throw wrong(`its id must be "${prefix}" and 1 to ${nameCharsMax} printable characters`);
  }
  try {
    const { retries, runtime } = readStep(fields.steps);
    const triggers = readWireTriggers(fields.triggers);
    const was = readWas(fields.was, wrong);
    const config: FunctionConfig = {
      id,
      ...(was === null ? {} : { app, was }),
      name: readName(fields.name) ?? id,
      triggers,
      retries,
      ...readIdempotency(fields.idempotency),
      ...readTimeouts(fields.timeouts),
      ...readEntries(fields.entries),
      ...readOnDiverged(fields.onDiverged),
      ...readFingerprint(fields.fingerprint),
      ...readWireFlow(fields, triggers),
      runtime,
      ...readDataSchemas(triggers, fields.dataSchemas),
    };
    return { fn: was?.[0] ?? (slug as string), config };
  } catch (error) {
    if (error instanceof IdemError && error.code !== "FUNCTION_INVALID") throw wrong(error.message, error);
    throw error;
  }
}

/** Names it had, as Idem's own SDK sends them; null where it was never renamed. */
function readWas(given: unknown, wrong: (why: string) => Error): readonly string[] | null {
  if (given === undefined || given === null) return null;
  const isList = Array.isArray(given) && given.length > 0 && given.length <= formerNamesMax;
  if (isList && given.every((name) => typeof name === "string" && isPlainName(name, 2 * nameCharsMax))) return given;
  throw wrong(`was must be a list of 1 to ${formerNamesMax} names`);
}

/** Told by Idem's own SDK. They only draw forms: one that cannot be read is left out and keeps no function from being registered. */
function readDataSchemas(triggers: FunctionConfig["triggers"], given: unknown): Pick<FunctionConfig, "dataSchemas"> {
  if (!isJsonObject(given)) return {};
  return keepDataSchemas(
    triggers,
    Object.keys(given).filter((name) => isPlainName(name)),
    (name) => schemaText(given[name]),
  );
}

function schemaText(given: unknown): string | null {
  if (typeof given !== "string" || given.length > schemaBytesMax) return null;
  try {
    return isJsonObject(readJson(Buffer.from(given))) ? given : null;
  } catch {
    return null;
  }
}

/** SDKs of other languages write null for what is not there. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const present = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(present.map(([key, item]) => [key, withoutNulls(item)]));
}

/** The one step a function has on this wire: where its code is, and how often it is tried again. */
function readStep(steps: unknown): { retries: number; runtime: Runtime } {
  const all = Object.values(readObject(steps, "steps"));
  if (all.length !== 1) {
    throw errors.OPTION_INVALID({ option: "steps", why: `there must be exactly one, not ${all.length}` });
  }
  const step = readObject(all[0], "steps.step");
  const { attempts } = readObject(step.retries, "steps.step.retries");
  return {
    // Called attempts, and yet the number of retries (docs/reference/wire.md#a-function-on-the-wire); more than the most is the most.
    retries: readRetries(typeof attempts === "number" ? Math.min(attempts, retriesMax) : attempts),
    runtime: readRuntime(readObject(step.runtime, "steps.step.runtime")),
  };
}

function readRuntime({ type, url }: Record<string, unknown>): Runtime {
  const option = "steps.step.runtime";
  if (type !== "http" && type !== "ws") throw errors.OPTION_INVALID({ option, why: 'its type must be "http" or "ws"' });
  const href = readUrl(url, `${option}.url`, (why) => errors.OPTION_INVALID({ option, why }));
  // The companion for failures of a connected worker says "http" and yet has a socket's URL.
  return /^wss?:/.test(href) ? { kind: "connect" } : { kind: "http", url: href };
}

function readUrl(value: unknown, field: string, refuse: (why: string) => IdemError): string {
  if (typeof value !== "string" || value.length > urlCharsMax) {
    throw refuse(`${field} must be a URL of at most ${urlCharsMax} characters`);
  }
  const url = canonicalAppUrl(value);
  if (url === null || !/^(https?|wss?):/.test(url)) {
    throw refuse(`${field} "${value.slice(0, labelCharsMax)}" is not a URL that begins with http, https, ws or wss`);
  }
  return url;
}

/** Apps on this wire may be called anything that can be read. */
const isPlainName = (name: string, charsMax = nameCharsMax): boolean =>
  name !== "" && name.length <= charsMax && !/[\p{Cc}\p{Cs}]/u.test(name);

const label = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, labelCharsMax) : null;
