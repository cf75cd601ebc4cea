// Requests an app hands over so that none of its own time is spent waiting: step.fetch and step.ai.infer of SDKs
// (docs/reference/wire.md#ops). Any HTTP status is an answer to a fetch; an inference counts as failed above 299.
import { IdemError } from "../model/errors.ts";
import { toJson } from "../model/json.ts";
import type { WireOp } from "../protocol/wire-ops.ts";
import type { Ran } from "./operation.ts";
import type { RunPorts } from "./ports.ts";
import { RemoteError } from "./remote.ts";

type FetchOp = Extract<WireOp, { op: "fetch" }>;
type InferOp = Extract<WireOp, { op: "infer" }>;

export async function fetchAnswer(
  { url, method, headers, body, name }: FetchOp,
  ports: Pick<RunPorts, "fetch">,
  signal: AbortSignal,
  bodyBytesMax: number,
): Promise<Ran> {
  const response = await ports.fetch({ url, method, headers, body, bodyBytesMax, signal }).catch((error) => {
    // Our own refusal, and final: a forbidden address stays one.
    if (error instanceof IdemError) throw error;
    const message = `${method} to ${hostOf(url)} failed: ${reasonOf(error)}`;
    throw new RemoteError({ name: "GatewayError", message }, false, null);
  });
  const { status, headers: answered, body: text } = response;
  return { json: toJson({ url, status_code: status, headers: answered, body: text }, `Step "${name}"`) };
}

export async function inferAnswer(
  op: InferOp,
  ports: Pick<RunPorts, "fetch">,
  signal: AbortSignal,
  bodyBytesMax: number,
): Promise<Ran> {
  const { url, headers } = authorised(op);
  const failed = (why: string) => new RemoteError({ name: "AIGatewayError", message: why }, false, null);
  const response = await ports
    .fetch({
      url,
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: op.body,
      bodyBytesMax,
      signal,
    })
    // The address may hold the key: only the host is said.
    .catch((error) => {
      if (error instanceof IdemError) throw error;
      throw failed(`The model at ${hostOf(op.url)} could not be reached: ${withoutKey(reasonOf(error), op)}`);
    });
  if (response.status > 299) {
    throw failed(
      `The model at ${hostOf(op.url)} answered ${response.status}: ${withoutKey(response.body.slice(0, 500), op)}`,
    );
  }
  try {
    return { json: JSON.stringify(JSON.parse(response.body)) };
  } catch {
    throw failed(`The model at ${hostOf(op.url)} did not answer with JSON`);
  }
}

function authorised({ url, headers, authKey, format }: InferOp): { url: string; headers: Record<string, string> } {
  if (authKey === "") return { url, headers: { ...headers } };
  switch (format) {
    case "gemini": {
      const keyed = new URL(url);
      keyed.searchParams.set("key", authKey);
      return { url: keyed.href, headers: { ...headers } };
    }
    case "anthropic":
      return { url, headers: { ...headers, "x-api-key": authKey } };
    case "bedrock":
      return { url, headers: { ...headers, authorization: authKey } };
    default:
      return { url, headers: { ...headers, authorization: `Bearer ${authKey}` } };
  }
}

/** Some models say back which key they did not like. */
const withoutKey = (text: string, { authKey }: InferOp): string =>
  authKey === "" ? text : text.replaceAll(authKey, "…");

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "an address that is no URL";
  }
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error instanceof Error ? error.message : String(error)}${cause}`;
};
