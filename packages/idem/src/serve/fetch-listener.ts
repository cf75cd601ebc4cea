// A Fetch handler on Node's own request and response, and on those of frameworks that pass them on (Express). Bodies go through as they
// come in either direction; a client that leaves is noticed.
import type { IncomingMessage, ServerResponse } from "node:http";
import { nodePlatform } from "../platform/node-platform.ts";
import type { FetchHandler } from "../sdk/request-address.ts";
import { noteAddress } from "../sdk/request-address.ts";
import { nodeRequest, parsedBody } from "./node-handler.ts";

export type FetchListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function fetchListener(handle: FetchHandler): FetchListener {
  return async (incoming, response) => {
    const gone = new AbortController();
    response.on("error", () => {});
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    const request = requestOf(incoming, gone.signal);
    if (request === null) {
      response.writeHead(405).end();
      return;
    }
    noteAddress(request, incoming.socket.remoteAddress ?? "");
    let answer: Response;
    try {
      answer = await handle(request);
    } catch {
      // The handler's error is for its own log; the caller must not wait for an answer that will not come.
      if (!response.headersSent) response.writeHead(500).end();
      return;
    }
    await write(answer, response, gone.signal);
    linger(incoming);
  };
}

// Fetch knows no such requests.
const unknownMethods: readonly string[] = ["CONNECT", "TRACE", "TRACK"];

function requestOf(incoming: IncomingMessage & { readonly body?: unknown }, signal: AbortSignal): Request | null {
  const { method, url, header } = nodeRequest(incoming, signal);
  if (unknownMethods.includes(method)) return null;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    // Of HTTP/2, and no headers.
    if (name.startsWith(":")) continue;
    for (const each of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, each);
  }
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const parsed = parsedBody(incoming.body, header("content-length"));
  if (parsed !== null) {
    // Written down again it may be longer or shorter than it came, and it is no longer compressed.
    headers.set("content-length", String(Buffer.byteLength(parsed)));
    headers.delete("content-encoding");
    headers.delete("transfer-encoding");
    return new Request(url, { method, headers, signal, body: parsed });
  }
  const hasBody = incoming.headers["transfer-encoding"] !== undefined || Number(header("content-length") ?? 0) > 0;
  const body = hasBody ? streamOf(incoming) : null;
  return new Request(url, { method, headers, signal, body, duplex: "half" } as RequestInit);
}

/** A reader that stops leaves the line open: it still carries the answer. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value as Uint8Array);
      },
      // The rest is thrown away; a stream does not flow while something else reads it.
      cancel: () =>
        void chunks.return?.().then(
          () => incoming.resume(),
          () => {},
        ),
    },
    { highWaterMark: 0 },
  );
}

// A refused body is thrown away for this long before the line is cut: an answer sent into a full line is lost.
const lingerMs = 2_000;

function linger(incoming: IncomingMessage): void {
  if (incoming.complete) return;
  incoming.resume();
  const cut = nodePlatform.timer(lingerMs, () => incoming.socket.destroy(), { background: true });
  const stop = () => cut.cancel();
  incoming.once("end", stop);
  incoming.once("close", stop);
}

async function write(answer: Response, response: ServerResponse, gone: AbortSignal): Promise<void> {
  const { body } = answer;
  if (gone.aborted || response.destroyed) {
    await body?.cancel();
    return;
  }
  const headers: Record<string, string | string[]> = Object.fromEntries(answer.headers);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  response.writeHead(answer.status, headers);
  if (body === null) {
    response.end();
    return;
  }
  // A reader of events waits for what is known before the first of them.
  response.flushHeaders();
  const reader = body.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  gone.addEventListener("abort", leave, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      if (!response.write(value)) await drained(response);
    }
    response.end();
  } catch {
    // A stream failed half-way: ending it properly would tell its reader that it has everything.
    response.destroy();
  } finally {
    gone.removeEventListener("abort", leave);
  }
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
