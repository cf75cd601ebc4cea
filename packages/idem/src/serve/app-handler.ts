// The app's side of the wire (inngest-protocol §6 to §14): what a server asks of an app, whatever the web framework around it.
//
//   GET    what is served here            PUT    tell the server our functions
//   POST   advance a run, or ?probe=trust
//
// Calls are checked before anything in them is believed; only in dev nobody asks for a signature.

import { parseDuration } from "../model/duration.ts";
import { errors, IdemError } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { environmentVariable } from "../platform/node-platform.ts";
import { type AppAnswer, internalAnswer } from "../protocol/app-answer.ts";
import { type AppCall, readAppCall, readAppEvents, readAppMemo } from "../protocol/app-call.ts";
import { signAnswer, verifyCall } from "../protocol/app-signature.ts";
import { statusOf } from "../protocol/problem.ts";
import { readJson } from "../protocol/read-json.ts";
import { signatureHeader } from "../protocol/request-signature.ts";
import type { Idem } from "../sdk/client.ts";
import type { ServedClient } from "../sdk/remote-client.ts";
import { callPorts } from "./call-ports.ts";
import { describeApp, sdkHeaders } from "./describe-app.ts";
import { registerInBand, registerOutOfBand } from "./register-app.ts";
import { answerCall } from "./served-call.ts";

export interface ServeOptions {
  /**
   * Where the server reaches this handler: "https://shop.example.com/api/idem". Taken from the request unless told; tell it
   * behind a proxy, or to let anyone ask for a sync.
   */
  readonly url?: string;
  /** Believe calls that are not signed. IDEM_DEV unless told, else where there is no signing key and NODE_ENV is not production. */
  readonly dev?: boolean;
  /** False sends every step's outcome with an answer of its own. */
  readonly checkpointing?: boolean;
  /** After this long a call begins no further step; the server makes a new call for it. "10s" unless told. */
  readonly maxRuntime?: string | number;
}

/** What an adapter makes of its framework's request. */
export interface AppRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  header(name: string): string | undefined;
  /** Rejects with BODY_TOO_LARGE. */
  body(bytesMax: number): Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

export type AppHandler = (request: AppRequest) => Promise<AppAnswer>;

export interface AppSettings {
  readonly served: ServedClient;
  readonly url: string | null;
  readonly isDev: boolean;
  readonly framework: string;
}

// A call carries at most 4 MiB of memo before the app is asked to fetch it (inngest-protocol §8); other servers may send all of
// a run's 32 MiB, and JSON inside JSON grows.
const callBytesMax = 64 * 1024 * 1024;
const smallBytesMax = 64 * 1024;
// As other SDKs have it (inngest-protocol §13.1): below what serverless platforms and proxies allow a request.
const maxRuntimeMsDefault = 10_000;

const knownOptions = { url: true, dev: true, checkpointing: true, maxRuntime: true } as const;
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

export function appHandler(idem: Idem<any>, options: ServeOptions, framework: string): AppHandler {
  const served = idem.serving();
  const warn = (message: string) => served.logs.logger.warn(`idem: ${message}`);
  refuseUnknown<ServeOptions>("serve", options, knownOptions, { options: foreignOptions, warn });
  const settings = readSettings(served, options, framework);
  const maxRuntimeMs = readMaxRuntime(options);
  const portsOf = callPorts(served);

  return async (request) => {
    let signer: string | null = null;
    try {
      const { answer, key } = await handle(request);
      signer = key;
      return withHeaders(answer, signer);
    } catch (error) {
      return withHeaders(refusal(error), signer);
    }
  };

  async function handle(request: AppRequest): Promise<{ answer: AppAnswer; key: string | null }> {
    const { method } = request;
    const query = new URL(request.url).searchParams;
    if (method !== "GET" && method !== "PUT" && method !== "POST") {
      throw errors.METHOD_UNSUPPORTED({ method, allowed: "GET, PUT and POST" });
    }
    const keys = served.server.options.signingKeys;
    if (!settings.isDev && keys.length === 0) throw noKey;
    // Nobody fills the memory without as much as a signature.
    if (!settings.isDev && method === "POST" && request.header(signatureHeader) === undefined) {
      return { answer: unauthorized, key: null };
    }
    const body = method === "GET" ? "" : await readText(request, method === "POST" ? callBytesMax : smallBytesMax);
    const now = served.platform.wallMs();
    const verified = settings.isDev ? null : verifyCall(request.header(signatureHeader), body, keys, now);
    const key = verified?.kind === "valid" ? verified.key : null;
    const isTrusted = settings.isDev || key !== null;
    if (method === "PUT" && request.header("x-inngest-sync-kind") !== "in_band") {
      // Unsigned, nothing in the request may decide where calls go from now on.
      if (!isTrusted && settings.url === null) return { answer: unauthorized, key };
      return { answer: await registerOutOfBand(settings, request, isTrusted ? body : ""), key };
    }
    if (!isTrusted) {
      served.logs.logger.warn(
        `idem: a ${method} to ${served.id} was refused: ${verified?.kind === "refused" ? verified.why : ""}`,
      );
      return { answer: unauthorized, key };
    }
    if (method === "GET") return { answer: describeApp(settings), key };
    if (method === "PUT") return { answer: registerInBand(settings, body), key };
    return { answer: await answerPost(request, query, body), key };
  }

  async function answerPost(request: AppRequest, query: URLSearchParams, body: string): Promise<AppAnswer> {
    const probe = query.get("probe");
    if (probe !== null) {
      if (probe === "trust") return { status: 200, headers: {}, body: "" };
      throw errors.REQUEST_INVALID({ why: `the probe "${probe.slice(0, 40)}" is not known` });
    }
    const fn = query.get("fnId") ?? "";
    const code = served.codes().find((each) => each.fn === fn);
    // The server may know more functions than this version of the app, for as long as a deployment takes.
    if (code === undefined)
      return internalAnswer(500, "FUNCTION_UNKNOWN", errors.FUNCTION_UNKNOWN({ function: fn }).message);
    const value = readJson(Buffer.from(body)) as { ctx?: { request_id?: unknown; generation_id?: unknown } };
    const read = readAppCall(value, query.get("stepId") ?? "step");
    const call = read.isApart ? await withFetched(read, value) : read;
    const generation = Number(request.header("x-inngest-generation-id") ?? value.ctx?.generation_id ?? Number.NaN);
    return answerCall({
      call,
      code,
      served,
      requestId: text(request.header("x-request-id") ?? value.ctx?.request_id),
      generation: Number.isInteger(generation) ? generation : null,
      maxRuntimeMs,
      signal: request.signal,
      ports: portsOf(call.runId, code),
    });
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

  function withHeaders(answer: AppAnswer, key: string | null): AppAnswer {
    // Who is not trusted learns no more than that somebody is here (inngest-protocol §2.3).
    if (answer === unauthorized) return { ...answer, headers: { ...answer.headers, "x-inngest-sdk-handled": "true" } };
    const signature = key === null ? {} : { [signatureHeader]: signAnswer(answer.body, key, served.platform.wallMs()) };
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

  function refusal(error: unknown): AppAnswer {
    if (error instanceof IdemError) {
      const status = error === noKey ? 500 : statusOf(error.code);
      if (status >= 500) served.logs.logger.error(`idem: ${error.message}`);
      return internalAnswer(status, error.code, error.message);
    }
    // Its text may hold anything; the log of the app is the place for it.
    served.logs.logger.error("idem: a call could not be answered", error);
    return internalAnswer(500, "SERVER_FAILED", "the app could not answer; its log has the reason");
  }
}

const noKey = errors.KEY_INVALID({
  which: "signing key",
  why: "there is none. Set IDEM_SIGNING_KEY to the server's, or IDEM_DEV=1 to believe calls that are not signed",
});

const unauthorized: AppAnswer = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: '{"message":"Unauthorized"}',
};

function readSettings(served: ServedClient, options: ServeOptions, framework: string): AppSettings {
  const { url, dev } = options;
  if (url !== undefined && !/^https?:/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw errors.OPTION_INVALID({ option: "url", why: `"${String(url).slice(0, 200)}" is no http or https URL` });
  }
  const hasKey = served.server.options.signingKeys.length > 0;
  const isDev = dev ?? readFlag("IDEM_DEV") ?? (!hasKey && environmentVariable("NODE_ENV") !== "production");
  return { served, url: url ?? null, isDev, framework };
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

async function readText(request: AppRequest, bytesMax: number): Promise<string> {
  return Buffer.from(await request.body(bytesMax)).toString("utf8");
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
