// Carries one call to an app that listens for HTTP: signed where there is a key, and the answer's signature checked.
import type { Remote, RemoteCall, RemoteReply } from "../execute/remote.ts";
import { canonicalBody, signatureHeader, signRequest } from "../protocol/request-signature.ts";
import { type ExchangeOptions, exchange } from "./exchange.ts";
import type { Mode } from "./world.ts";

export interface CallAppOptions extends ExchangeOptions {
  readonly mode: Mode;
  /** Throws for an address apps may not have. */
  readonly checkUrl: (url: string) => void;
}

// Bound of one answer (docs/reference/wire.md#an-answer).
const replyBytesMax = 8 * 1024 * 1024;

/** The wire's word for who calls. */
export const serverKind = (mode: Mode): string => (mode === "dev" ? "dev" : "cloud");

/** The address at which a function's next step is asked for. */
interface Asked {
  readonly fn: string;
  readonly url: string;
  /** For people. */
  readonly shown: string;
}

export function callApp(env: string, url: string, options: CallAppOptions): Remote {
  // Judged by its text, which is the same for every call of the function but those for one step alone.
  let last: Asked | null = null;
  const call = async (call: RemoteCall): Promise<RemoteReply> => {
    if (last !== null && call.stepId === "step" && call.fn === last.fn) return callOnce(env, last, call, options);
    const address = addressOf(url, call);
    options.checkUrl(address);
    const asked = { fn: call.fn, url: address, shown: withoutQuery(address) };
    if (call.stepId === "step") last = asked;
    return callOnce(env, asked, call, options);
  };
  return { call };
}

function callOnce(env: string, { url, shown }: Asked, call: RemoteCall, options: CallAppOptions): Promise<RemoteReply> {
  const { platform, credentials, mode } = options;
  const key = mode === "start" ? credentials.signingKeyOf(env) : null;
  const body = key === null ? call.body : canonicalBody(call.body);
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-run-id": call.runId,
    "x-request-id": call.requestId,
    "x-inngest-server-kind": serverKind(mode),
    "x-inngest-generation-id": String(call.generation),
    "x-inngest-job-id": call.jobId,
    traceparent: call.traceparent,
  };
  if (key !== null) headers[signatureHeader] = signRequest(body, key, platform.wallMs());
  const request = { url, method: "POST", headers, body, bodyBytesMax: replyBytesMax, signal: call.signal };
  return exchange(env, request, shown, key !== null, options);
}

function addressOf(url: string, { fn, stepId }: RemoteCall): string {
  const address = new URL(url);
  address.searchParams.set("fnId", fn);
  address.searchParams.set("stepId", stepId);
  return address.href;
}

/** A query may hold what is nobody's business. */
const withoutQuery = (url: string): string => url.replace(/\?.*$/s, "");
