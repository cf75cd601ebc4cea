// The app's side of the wire (docs/reference/wire.md): what a server asks of an app, whatever the web framework around it.
//
//   GET    what is served here            PUT    tell the server our functions
//   POST   advance a run, or ?probe=trust
//
// Calls are checked before anything in them is believed, by their headers before their body is read; only in dev, which must have been
// asked for, nobody asks for a signature.

import { parseDuration } from "../model/duration.ts";
import { errors, IdemError } from "../model/errors.ts";
import { allNames } from "../model/function-names.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { refuseWeak } from "../model/secret.ts";
import { Tracing } from "../observe/tracing.ts";
import { environmentVariable } from "../platform/node-platform.ts";
import { packageVersion } from "../platform/package-files.ts";
import { type AppAnswer, internalAnswer } from "../protocol/app-answer.ts";
import {
  type AppCall,
  numberOf,
  readAppCall,
  readAppEvents,
  readAppMemo,
  type SignedNames,
} from "../protocol/app-call.ts";
import { CallCheck, signAnswer } from "../protocol/app-signature.ts";
import { hostNameOf } from "../protocol/host-name.ts";
import { statusOf } from "../protocol/problem.ts";
import { readJson } from "../protocol/read-json.ts";
import { readSignature, signatureHeader, type Verified } from "../protocol/request-signature.ts";
import { withoutKeyPrefix } from "../protocol/signing-key.ts";
import { readTraceparent, traceparentHeader } from "../protocol/traceparent.ts";
import type { Idem } from "../sdk/client.ts";
import { inside } from "../sdk/inside.ts";
import type { ServedClient } from "../sdk/remote-client.ts";
import { type BodyPieces, CallBody, HeldBytes } from "./call-body.ts";
import { callPorts } from "./call-ports.ts";
import { describeApp, sdkHeaders } from "./describe-app.ts";
import { checkDevCall } from "./dev-guard.ts";
import { registerInBand, registerOutOfBand } from "./register-app.ts";
import { type CallSignature, SeenCalls } from "./seen-calls.ts";
import { answerCall } from "./served-call.ts";

export interface ServeOptions {
  /**
   * Where the server reaches this handler: "https://shop.example.com/api/idem". By default taken from the request; name it
   * behind a proxy, or to let anyone ask for a sync.
   */
  readonly url?: string;
  /**
   * Believe calls that are not signed, when they come from this machine; by default only with IDEM_DEV=1. `{ hosts: ["app"] }` (or IDEM_DEV_HOSTS)
   * also takes calls that are sent to these names, from wherever: a container's, which only your own machines may reach.
   */
  readonly dev?: boolean | { readonly hosts: readonly string[] };
  /** False sends every step's outcome with an answer of its own. */
  readonly checkpointing?: boolean;
  /** After this long a call begins no further step; the server makes a new call for it. "10s" by default. */
  readonly maxRuntime?: string | number;
  /** Bound of one call; 64 MiB by default. */
  readonly callBytesMax?: number;
  /** Bound of all calls under way together; 256 MiB by default. More are answered with 503. */
  readonly heldBytesMax?: number;
  /** Remembers calls for all processes of the app: `sqlCalls(adapter)` of idem/toolkit. By default each process remembers its own. */
  readonly seenCalls?: SharedCalls;
}

/** A memory of calls that several processes share. */
export interface SharedCalls {
  /** True for the first one that claims this signature. */
  claim(signature: string): Promise<boolean>;
}

/** A framework's request, as its adapter passes it on. */
export interface AppRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  header(name: string): string | undefined;
  /** As it arrives, or what a parser made of it; asked for once. */
  body(): BodyPieces;
  /** The other end of the line; null where the framework does not say. */
  readonly address: string | null;
  readonly signal: AbortSignal;
}

export type AppHandler = (request: AppRequest) => Promise<AppAnswer>;

export interface AppSettings {
  readonly served: ServedClient;
  readonly url: string | null;
  readonly isDev: boolean;
  /** In dev, besides this machine's own. */
  readonly devHosts: readonly string[];
  readonly framework: string;
}

// A call carries at most 4 MiB of memo before the app is asked to fetch it; other servers may send all of
// a run's 32 MiB, and JSON inside JSON grows.
const callBytesMax = 64 * 1024 * 1024;
// Four of the largest. A call of ours is a hundred times smaller.
const heldBytesMax = 256 * 1024 * 1024;
const smallBytesMax = 64 * 1024;
const bodyMs = 30_000;
const refusalToldMs = 1_000;
// As other SDKs have it (docs/reference/wire.md#checkpoints): below what serverless platforms and proxies allow a request.
const maxRuntimeMsDefault = 10_000;

const knownOptions = {
  url: true,
  dev: true,
  checkpointing: true,
  maxRuntime: true,
  callBytesMax: true,
  heldBytesMax: true,
  seenCalls: true,
} as const;
// Of the `inngest` package, v3 and v4.
const foreignOptions = {
  servePath: "the whole address is the option `url`",
  serveOrigin: "the whole address is the option `url`",
  serveHost: "the whole address is the option `url`",
  streaming: "answers are sent whole",
  enableUnauthedSync: "whoever may ask for a sync follows from `url` and `dev`",
  signingKey: "keys are the client's",
  signingKeyFallback: "keys are the client's",
  baseUrl: "the address of the server is the client's `server`",
  fetch: "requests are made by the client's `platform`",
  logLevel: "the client's `logger` decides",
  id: "the app's id is the client's",
};

export function appHandler(idem: Idem, options: ServeOptions, framework: string): AppHandler {
  const served = idem[inside].serving();
  const warn = (message: string) => served.logs.logger.warn(`idem: ${message}`);
  refuseUnknown<ServeOptions>("serve", options, knownOptions, { options: foreignOptions, warn });
  const settings = readSettings(served, options, framework);
  const maxRuntimeMs = readMaxRuntime(options);
  const portsOf = callPorts(served);
  const tracing = new Tracing(served.platform, packageVersion);
  const all = new HeldBytes(readBytes("heldBytesMax", options.heldBytesMax ?? heldBytesMax));
  const bodyBytesMax = readBytes("callBytesMax", options.callBytesMax ?? callBytesMax);
  const seen = seenBy(idem);
  let toldAtMs = Number.NEGATIVE_INFINITY;
  tellAtStart(settings);

  return async (request) => {
    const bytesMax = request.method === "POST" ? bodyBytesMax : smallBytesMax;
    const body = new CallBody(all, { bytesMax, ms: bodyMs, platform: served.platform });
    try {
      const { answer, key } = await handle(request, body);
      return await withHeaders(answer, key);
    } catch (error) {
      if (error instanceof RefusedCall) {
        const { code, message } = error.cause;
        logRefused(request.method, message);
        return await withHeaders(internalAnswer(statusOf(code), code, message), error.key);
      }
      return await withHeaders(refusal(error), null);
    } finally {
      body.giveBack();
    }
  };

  async function handle(request: AppRequest, body: CallBody): Promise<{ answer: AppAnswer; key: string | null }> {
    const { method } = request;
    const query = new URL(request.url).searchParams;
    if (method !== "GET" && method !== "PUT" && method !== "POST") {
      throw errors.METHOD_UNSUPPORTED({ method, allowed: "GET, PUT and POST" });
    }
    if (settings.isDev) checkDevCall(request, settings.devHosts);
    const isSync = method === "PUT" && request.header("x-inngest-sync-kind") !== "in_band";
    const { verified, bytes, signature } = await readTrusted(request, body);
    const key = verified.kind === "valid" ? verified.key : null;
    if (verified.kind === "valid" && signature !== null && seen.isOwn(signature.s)) {
      throw new RefusedCall(errors.CALL_STALE({ runId: "unknown", why: "its signature is that of an answer" }), key);
    }
    if (isSync) {
      // Unsigned, nothing in the request may decide where calls go from now on.
      if (verified.kind === "refused" && settings.url === null) return { answer: unauthorized, key };
      return { answer: await registerOutOfBand(settings, request, textOf(bytes)), key };
    }
    if (verified.kind === "refused") {
      logRefused(method, verified.why);
      return { answer: unauthorized, key };
    }
    if (method === "GET") return { answer: describeApp(settings), key };
    if (method === "PUT") return { answer: registerInBand(settings, textOf(bytes)), key };
    return { answer: await answerPost(request, query, bytes, { key, signature }), key };
  }

  /** A thousand refused calls do not fill the log as well. */
  function logRefused(method: string, why: string): void {
    const now = served.platform.monoMs();
    if (now - toldAtMs < refusalToldMs) return;
    toldAtMs = now;
    served.logs.logger.warn(`idem: a ${method} to ${served.id} was refused: ${why}`);
  }

  /** The body, where it can be believed; empty where it cannot, and not read where its headers say so already. */
  async function readTrusted(request: AppRequest, body: CallBody): Promise<Trusted> {
    const readBody = (hear: (piece: Uint8Array) => void) => {
      if (request.method === "GET") return nothing;
      body.announce(Number(request.header("content-length") ?? 0));
      return body.read(request.body(), hear);
    };
    if (settings.isDev) {
      return { verified: { kind: "valid", key: null }, bytes: await readBody(() => {}), signature: null };
    }
    const keys = served.server.options.signingKeys;
    if (keys.length === 0) throw noKey;
    const header = request.header(signatureHeader);
    const now = served.platform.wallMs();
    const said = readSignature(header, now);
    if (said.kind === "refused") return { verified: said, bytes: nothing, signature: null };
    const check = new CallCheck(header!, said, keys, now);
    const bytes = await readBody((piece) => check.hear(piece));
    const verified = check.verdict(bytes);
    const signature = { s: said.s, t: Number(said.t) };
    return { verified, bytes: verified.kind === "valid" ? bytes : nothing, signature };
  }

  async function answerPost(
    request: AppRequest,
    query: URLSearchParams,
    body: Uint8Array,
    signer: { readonly key: string | null; readonly signature: CallSignature | null },
  ): Promise<AppAnswer> {
    const probe = query.get("probe");
    if (probe !== null) {
      if (probe === "trust") return { status: 200, headers: {}, body: "" };
      throw errors.REQUEST_INVALID({ why: `the probe "${probe.slice(0, 40)}" is not known` });
    }
    const fn = query.get("fnId") ?? "";
    const app = served.was?.[0] ?? served.id;
    const code = served.codes().find((each) => allNames({ ...each, app }).includes(fn));
    // The server may know more functions than this version of the app, for as long as a deployment takes.
    if (code === undefined)
      return internalAnswer(500, "FUNCTION_UNKNOWN", errors.FUNCTION_UNKNOWN({ function: fn }).message);
    // It is known who sent it: a run may have kept more values than a stranger may send.
    const value = readJson(body, Number.POSITIVE_INFINITY);
    const stepId = query.get("stepId") ?? "step";
    const read = readAppCall(value, stepId);
    const { runId, signed } = read;
    const misdirected = misdirectedPart(signed, fn, stepId);
    if (misdirected !== null) throw new RefusedCall(errors.CALL_MISDIRECTED({ runId, ...misdirected }), signer.key);
    const stale = await staleness(read, signer.signature);
    if (stale !== null) throw new RefusedCall(errors.CALL_STALE({ runId, why: stale }), signer.key);
    const call = read.isApart ? await withFetched(read, value) : read;
    // What was signed comes first: proxies write request ids of their own.
    const generation = Number(signed.generation ?? request.header("x-inngest-generation-id") ?? Number.NaN);
    return answerCall({
      call,
      code,
      served,
      requestId: signed.requestId ?? text(request.header("x-request-id")),
      generation: Number.isInteger(generation) ? generation : null,
      maxRuntimeMs,
      tracing,
      calledBy: readTraceparent(request.header(traceparentHeader)),
      signal: request.signal,
      ports: portsOf(call.runId, code),
    });
  }

  /** Null for a call that may be executed. It is asked once: from then on the call counts as executed. */
  async function staleness(call: AppCall, signature: CallSignature | null): Promise<string | null> {
    const stale = seen.admit(numberOf(call), signature, served.platform.wallMs());
    const { seenCalls } = options;
    if (stale !== null || signature === null || seenCalls === undefined) return stale;
    const isFirst = await seenCalls.claim(signature.s.toLowerCase()).catch((error: unknown) => {
      served.logs.logger.error(`idem: a call of run ${call.runId} could not be claimed`, error);
      throw errors.SERVER_BUSY({ why: "its memory of calls does not answer" });
    });
    return isFirst ? null : "another process executes it or has done so";
  }

  /** A memo or a batch too large for a call is fetched. */
  async function withFetched(call: AppCall, body: unknown): Promise<AppCall> {
    const fetched = async (part: string, what: string) => {
      const path = `/v0/runs/${encodeURIComponent(call.runId)}/${part}`;
      return served.server.readJson(await served.server.ask({ method: "GET", path, what }), what);
    };
    const [events, steps] = await Promise.all([
      fetched("batch", `The events of run ${call.runId}`),
      fetched("actions", `The memo of run ${call.runId}`),
    ]);
    const { ctx } = body as { ctx: { stack?: { stack?: unknown } } };
    return { ...call, events: readAppEvents(events), memo: readAppMemo(steps, ctx.stack?.stack ?? null) };
  }

  async function withHeaders(answer: AppAnswer, key: string | null): Promise<AppAnswer> {
    // Not an answer of the app: no attempt is spent on it.
    if (answer === busy) return answer;
    // An untrusted caller learns no more than that somebody is here (docs/reference/wire.md#signatures).
    if (answer === unauthorized) return { ...answer, headers: { ...answer.headers, "x-inngest-sdk-handled": "true" } };
    const signature = key === null ? {} : { [signatureHeader]: await signed(answer, key) };
    return {
      ...answer,
      headers: {
        "content-type": "application/json",
        ...sdkHeaders(framework),
        "x-inngest-sdk-handled": "true",
        "x-inngest-req-version": "2",
        ...answer.headers,
        ...signature,
      },
    };
  }

  /** An object that a function returned may be a call word by word, and its signature is made as that of a request. */
  async function signed({ status, body }: AppAnswer, key: string): Promise<string> {
    const now = served.platform.wallMs();
    const header = signAnswer(body, key, now);
    const said = readSignature(header, now);
    if (status === 200 && body.startsWith("{") && said.kind === "said") {
      seen.noteOwn({ s: said.s, t: Number(said.t) }, now);
      await options.seenCalls?.claim(said.s).catch((error: unknown) => {
        served.logs.logger.error("idem: the signature of an answer could not be claimed", error);
      });
    }
    return header;
  }

  function refusal(error: unknown): AppAnswer {
    if (error instanceof IdemError) {
      if (error.code === "SERVER_BUSY") return busy;
      const status = error === noKey ? 500 : statusOf(error.code);
      if (status >= 500) served.logs.logger.error(`idem: ${error.message}`);
      return internalAnswer(status, error.code, error.message);
    }
    // Its text may hold anything; the log of the app is the place for it.
    served.logs.logger.error("idem: a call could not be answered", error);
    return internalAnswer(500, "SERVER_FAILED", "the app could not answer; its log has the reason");
  }
}

const seenByClient = new WeakMap<Idem, SeenCalls>();

/** One for a client, however often it is served: a call captured at one address is not executed at another. */
function seenBy(idem: Idem): SeenCalls {
  const seen = seenByClient.get(idem) ?? new SeenCalls();
  seenByClient.set(idem, seen);
  return seen;
}

/** Null for the key of a call in dev, which nobody signed. */
interface Trusted {
  readonly verified: { readonly kind: "valid"; readonly key: string | null } | Extract<Verified, { kind: "refused" }>;
  readonly bytes: Uint8Array;
  /** Null where nothing was signed, or where it could not be read. */
  readonly signature: CallSignature | null;
}

/** A call that its sender signed, and that is not executed all the same. */
class RefusedCall extends Error {
  constructor(
    override readonly cause: IdemError,
    /** Signs the answer: a server believes no other. */
    readonly key: string | null,
  ) {
    super(cause.message);
  }
}

/** The query is not signed; an Idem server says the same in what is. */
function misdirectedPart(signed: SignedNames, fn: string, stepId: string) {
  if (signed.fn !== null && signed.fn !== fn) return { what: "function", requested: fn, signed: signed.fn };
  if (signed.stepId !== null && signed.stepId !== stepId) {
    return { what: "step", requested: stepId, signed: signed.stepId };
  }
  return null;
}

const nothing = new Uint8Array();

const howToSet =
  "Set IDEM_SIGNING_KEY to the server's, or IDEM_DEV=1 on a developer's machine to believe what that machine sends without a signature";

const noKey = errors.KEY_INVALID({ which: "signing key", why: `there is none. ${howToSet}` });

/** Once, when an app is served: what it will believe is not to be found out by its first call. */
function tellAtStart({ served, isDev, devHosts }: AppSettings): void {
  const { logger } = served.logs;
  if (!isDev && served.server.options.signingKeys.length === 0) {
    logger.warn(`idem: app "${served.id}" has no signing key, so every call to it is refused. ${howToSet}`);
  }
  if (isDev) {
    const from = ["this machine", ...devHosts.map((host) => `whoever reaches it as ${host}`)].join(" and ");
    logger.warn(`idem: app "${served.id}" is served in dev: it executes what ${from} sends, without a signature`);
  }
}

const busy: AppAnswer = {
  status: 503,
  headers: { "content-type": "application/json", "retry-after": "1" },
  body: '{"message":"The app cannot take this call now; call again"}',
};

const unauthorized: AppAnswer = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: '{"message":"Unauthorized"}',
};

function readSettings(served: ServedClient, options: ServeOptions, framework: string): AppSettings {
  const { url } = options;
  if (url !== undefined && !/^https?:/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw errors.OPTION_INVALID({ option: "url", why: `"${String(url).slice(0, 200)}" is no http or https URL` });
  }
  const dev = options.dev ?? readFlag("IDEM_DEV") ?? false;
  const named = typeof dev === "object" ? dev.hosts : (environmentVariable("IDEM_DEV_HOSTS") ?? "").split(",");
  if (!Array.isArray(named) || named.some((host) => typeof host !== "string")) {
    throw errors.OPTION_INVALID({ option: "dev", why: 'its hosts must be a list of names: { hosts: ["app"] }' });
  }
  const devHosts = named.map((host) => hostNameOf(host.trim())).filter((host) => host !== "");
  // Anybody who guesses it has calls executed. In dev nothing is signed, and the key may be any text.
  if (dev === false) {
    for (const key of served.server.options.signingKeys) {
      refuseWeak("signing-key", withoutKeyPrefix(key), `signing key of app "${served.id}"`);
    }
  }
  return { served, url: url ?? null, isDev: dev !== false, devHosts, framework };
}

function readFlag(variable: string): boolean | null {
  const value = environmentVariable(variable)?.toLowerCase();
  if (value === undefined || value === "") return null;
  return value !== "0" && value !== "false";
}

function readMaxRuntime({ checkpointing, maxRuntime }: ServeOptions): number | null {
  if (checkpointing === false) return null;
  return maxRuntime === undefined ? maxRuntimeMsDefault : parseDuration(maxRuntime, "maxRuntime");
}

function readBytes(option: string, count: number): number {
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw errors.OPTION_INVALID({ option, why: "it must be a whole number of bytes above 0" });
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
