// step.fetch: an HTTP request as a step. Requests that change something carry the step's destination key as
// Idempotency-Key unless the author set one, so a retry after a lost answer is recognised by servers that know the header.
import { type DestinationOf, destinationKey } from "../dedup/destination-key.ts";
import { errors } from "../model/errors.ts";
import { toJson } from "../model/json.ts";
import { askedToFetch } from "./asked-for.ts";
import type { Pass } from "./pass.ts";
import type { RunPorts } from "./ports.ts";
import { type LimitedIdInput, limitedId } from "./step-name.ts";
import { checkFetch, type FetchInit } from "./step-options.ts";

interface KeptResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);
const bodylessStatus = new Set([101, 204, 205, 304]);

export function durableFetch(of: {
  readonly pass: Pass;
  readonly ports: RunPorts;
  readonly run: DestinationOf;
  readonly bytesMax: number;
  readonly warnOnce: (message: string) => void;
}) {
  const { pass, ports, run, bytesMax, warnOnce } = of;
  function request(url: string | URL, init?: FetchInit): Promise<Response>;
  function request(id: LimitedIdInput, url: string | URL, init?: FetchInit): Promise<Response>;
  function request(
    first: LimitedIdInput | URL,
    second?: string | URL | FetchInit,
    third?: FetchInit,
  ): Promise<Response> {
    const named = typeof second === "string" || second instanceof URL;
    const url = parseUrl(named ? second : (first as string | URL));
    const init = (named ? third : (second as FetchInit | undefined)) ?? {};
    const { step, asked, limitMs } = limitedId(
      named ? (first as LimitedIdInput) : `step.fetch: ${url.hostname}`,
      warnOnce,
    );
    checkFetch(step, init, warnOnce);
    const method = (init.method ?? "GET").toUpperCase();
    const headers = readHeaders(init.headers);
    if (init.body !== undefined && init.body !== null && typeof init.body !== "string") {
      throw errors.STEP_INVALID({ step, why: "step.fetch takes its body as a string" });
    }
    return pass.request("fetch", asked, (ids) => ({
      kind: "attempt",
      limitMs,
      input: () => askedToFetch(method, url),
      run: async ({ signal, within }) => {
        const key = safeMethods.has(method) ? {} : { "idempotency-key": destinationKey(run, ids.name, ids.repeat) };
        const response = await within(() =>
          ports.fetch({
            url: url.href,
            method,
            headers: { ...key, ...headers },
            body: init.body ?? null,
            bodyBytesMax: bytesMax,
            signal: signal(),
          }),
        );
        return { json: toJson(response, `Step "${step}"`) };
      },
      read: (value) => responseOf(value as KeptResponse),
    })) as Promise<Response>;
  }
  return request;
}

const responseOf = ({ status, headers, body }: KeptResponse): Response =>
  new Response(bodylessStatus.has(status) ? null : body, { status, headers });

function parseUrl(value: string | URL): URL {
  try {
    const url = new URL(value);
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("only http and https can be fetched");
    return url;
  } catch (error) {
    throw errors.STEP_INVALID({ step: "step.fetch", why: `"${String(value)}" is not a usable URL (${String(error)})` });
  }
}

function readHeaders(headers: FetchInit["headers"]): Record<string, string> {
  if (headers === undefined) return {};
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
