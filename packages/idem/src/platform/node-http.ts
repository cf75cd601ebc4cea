// Requests to apps, many of them to few hosts: plain node:http with kept connections costs a third of fetch, and takes a
// lookup of its own, so that a name is judged by the address that is really connected to. Redirects are answers, not followed.
import { Agent, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import type { LookupFunction } from "node:net";
import type { HttpRequest, HttpResponse } from "./platform.ts";

export interface HttpCallsOptions {
  /** Connections to one host at once; further calls wait for one. */
  readonly socketsPerHost: number;
  /** A host that does not take the connection within this time is not there. */
  readonly connectMsMax: number;
  /** A call that takes longer is given up. */
  readonly callMsMax: number;
  readonly lookup?: LookupFunction;
}

export interface HttpCalls {
  call(request: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

/** The answer is larger than the caller takes. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

// A connection that was idle longer is likely closed at the other end; Node's own servers keep theirs for 5 s.
const idleMsMax = 4_000;

export function openHttpCalls(options: HttpCallsOptions): HttpCalls {
  const kept = {
    keepAlive: true,
    maxSockets: options.socketsPerHost,
    maxFreeSockets: options.socketsPerHost,
    timeout: idleMsMax,
  };
  const plain = new Agent(kept);
  const secure = new SecureAgent(kept);
  return {
    call: (request) => once(request, options, { plain, secure }),
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function once(
  request: HttpRequest,
  options: HttpCallsOptions,
  agents: { readonly plain: Agent; readonly secure: SecureAgent },
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const url = new URL(request.url);
    const isSecure = url.protocol === "https:";
    const { body } = request;
    const outgoing = (isSecure ? requestHttps : requestHttp)(url, {
      method: request.method,
      headers: body === null ? request.headers : { ...request.headers, "content-length": Buffer.byteLength(body) },
      agent: isSecure ? agents.secure : agents.plain,
      signal: request.signal,
      ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    });
    outgoing.on("socket", (socket) => {
      if (!socket.connecting) {
        socket.setTimeout(options.callMsMax);
        return;
      }
      socket.setTimeout(options.connectMsMax);
      socket.once(isSecure ? "secureConnect" : "connect", () => socket.setTimeout(options.callMsMax));
    });
    outgoing.on("timeout", () => {
      const what = outgoing.socket?.connecting ? "did not take the connection" : "did not answer";
      outgoing.destroy(new Error(`${url.host} ${what} in time`));
    });
    // Never repeated from here, also not on a kept connection that was closed just as it was used: nobody knows whether the
    // request was read, and by now its memo is old. Steps reported meanwhile would run again.
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      readAll(response, request.bodyBytesMax).then(
        (text) => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: text }),
        (error) => {
          outgoing.destroy();
          reject(error);
        },
      );
    });
    // As text: Node then writes it together with the head, in one piece.
    outgoing.end(body ?? undefined);
  });
}

function readAll(response: IncomingMessage, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        reject(new BodyTooLargeError(`the answer is larger than ${bytesMax} bytes`));
        response.destroy();
        return;
      }
      chunks.push(chunk);
    });
    response.on("end", () => resolve(chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString()));
    response.on("error", reject);
    response.on("aborted", () => reject(new Error("the connection was closed in the middle of the answer")));
  });
}

function headersOf(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}
