// A Fetch request as routes see it, and a route's answer as a Fetch response.
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { readJson } from "../../protocol/read-json.ts";
import { notedAddress } from "../../sdk/request-address.ts";
import type { AskedRequest } from "../answer-request.ts";
import { type Actor, programActor } from "../people/actor.ts";
import type { RouteAnswer } from "../route.ts";
import { isStream } from "../send-answer.ts";

export class FetchRequest implements AskedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  readonly address: string;
  params: Readonly<Record<string, string>> = {};
  body: Buffer = Buffer.alloc(0);
  stream?: AsyncIterable<Uint8Array>;
  env = "";
  actor: Actor = programActor;
  private readonly gone = new AbortController();

  constructor(
    private readonly request: Request,
    url: URL,
    /** Without the mount path. */
    readonly path: string,
  ) {
    this.method = request.method;
    const headers: Record<string, string> = Object.fromEntries(request.headers);
    // As the line would say it: a request that was made by hand says no length, and one made of a URL no host.
    if (request.body !== null && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
    headers.host ??= url.host;
    this.headers = headers;
    this.query = url.searchParams;
    this.address = notedAddress(request) ?? "";
    if (request.signal.aborted) this.leave();
    else request.signal.addEventListener("abort", () => this.leave(), { once: true });
  }

  get signal(): AbortSignal {
    return this.gone.signal;
  }

  /** Nobody reads what may still be said. */
  leave(): void {
    this.gone.abort();
  }

  /** The body on its way. */
  source(): Readable {
    const { body } = this.request;
    return body === null ? Readable.from([]) : Readable.fromWeb(body as unknown as NodeStream);
  }

  json(): unknown {
    return readJson(this.body);
  }
}

const jsonType = "application/json; charset=utf-8";

/** `extra` is what every answer of the route carries; its own headers count more. */
export function responseOf(
  asked: Pick<FetchRequest, "method" | "leave">,
  { status, headers, body }: RouteAnswer,
  extra: Readonly<Record<string, string>>,
): Response {
  const isJson = typeof body === "object" && body !== null && "json" in body;
  const all = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(isJson ? { "content-type": jsonType } : {}),
    ...extra,
    ...headers,
  };
  const isBare = asked.method === "HEAD" || status === 204 || status === 304 || body === null;
  if (isBare) {
    if (isStream(body)) asked.leave();
    return new Response(null, { status, headers: all });
  }
  if (isStream(body))
    return new Response(
      streamOf(body, () => asked.leave()),
      { status, headers: all },
    );
  const payload = isJson ? (JSON.stringify(body.json) ?? "null") : (body as string | Uint8Array<ArrayBuffer>);
  return new Response(payload, { status, headers: all });
}

/** As fast as it is read; over when its reader leaves. */
function streamOf(body: AsyncIterable<string | Uint8Array>, leave: () => void): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (next.done === true) {
          leave();
          controller.close();
        } else controller.enqueue(typeof next.value === "string" ? encoder.encode(next.value) : next.value);
      },
      cancel() {
        // It wakes an iterator in the middle of `next`, which answers `return` only afterwards.
        leave();
        void iterator.return?.()?.then(undefined, () => {});
      },
    },
    // Nothing is taken ahead of its reader: asking for a piece says that the one before it was read.
    { highWaterMark: 0 },
  );
}
