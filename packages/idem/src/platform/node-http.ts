// Requests to apps, many of them to few hosts: plain node:http with kept connections costs a third of fetch, and takes a
// lookup of its own, so that a name is judged by the address that is really connected to. Redirects are answers, not followed.
import { Agent, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { urlToHttpOptions } from "node:url";
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

// One for each function of every app; more is somebody whose addresses are all different.
const targetsMax = 1_000;

/** What a URL says to node:http, read once: taking one apart costs more than the rest of a request. */
interface Target {
  readonly host: string;
  readonly isSecure: boolean;
  readonly address: RequestOptions;
}

function targetOf(url: string, { plain, secure }: Agents, lookup: LookupFunction | undefined): Target {
  const read = new URL(url);
  const isSecure = read.protocol === "https:";
  const address: RequestOptions = { ...urlToHttpOptions(read), agent: isSecure ? secure : plain };
  if (lookup !== undefined) address.lookup = lookup;
  return { host: read.host, isSecure, address };
}

interface Agents {
  readonly plain: Agent;
  readonly secure: SecureAgent;
}

export function openHttpCalls(options: HttpCallsOptions): HttpCalls {
  const kept = {
    keepAlive: true,
    maxSockets: options.socketsPerHost,
    maxFreeSockets: options.socketsPerHost,
    timeout: idleMsMax,
  };
  const agents: Agents = { plain: new Agent(kept), secure: new SecureAgent(kept) };
  const targets = new Map<string, Target>();
  return {
    call: (request) => {
      let target = targets.get(request.url);
      if (target === undefined) {
        try {
          target = targetOf(request.url, agents, options.lookup);
        } catch (error) {
          return Promise.reject(error);
        }
        if (targets.size >= targetsMax) targets.clear();
        targets.set(request.url, target);
      }
      return once(request, target, options);
    },
    close: () => {
      agents.plain.destroy();
      agents.secure.destroy();
    },
  };
}

function once(request: HttpRequest, target: Target, options: HttpCallsOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    const { isSecure } = target;
    const asked = Object.assign({}, target.address);
    asked.method = request.method;
    asked.headers = request.headers;
    const outgoing = (isSecure ? requestHttps : requestHttp)(asked);
    const abort = () => outgoing.destroy(abortError(signal.reason));
    const fail = (error: Error) => {
      signal.removeEventListener("abort", abort);
      reject(error);
    };
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
      outgoing.destroy(new Error(`${target.host} ${what} in time`));
    });
    // Never repeated from here, also not on a kept connection that was closed just as it was used: nobody knows whether the
    // request was read, and by now its memo is old. Steps reported meanwhile would run again.
    outgoing.on("error", fail);
    outgoing.on("response", (response) => {
      const take = (body: string) => {
        signal.removeEventListener("abort", abort);
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body });
      };
      const refuse = (error: Error) => {
        fail(error);
        outgoing.destroy();
      };
      readAll(response, request.bodyBytesMax, take, refuse);
    });
    // By hand: the option of node:http hears of every way a stream can end, which costs as much as the call.
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    // As text: Node then writes it together with the head, in one piece, and says how long it is.
    outgoing.end(request.body ?? undefined);
  });
}

const abortError = (cause: unknown): Error => {
  const error = new Error("The operation was aborted", { cause });
  error.name = "AbortError";
  return error;
};

function readAll(
  response: IncomingMessage,
  bytesMax: number,
  take: (body: string) => void,
  refuse: (error: Error) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) refuse(new BodyTooLargeError(`the answer is larger than ${bytesMax} bytes`));
    else chunks.push(chunk);
  });
  response.on("end", () => take(chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString()));
  response.on("error", refuse);
  response.on("aborted", () => refuse(new Error("the connection was closed in the middle of the answer")));
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  // The only one that Node hands over as a list.
  const cookies = headers["set-cookie"];
  if (cookies === undefined) return headers as Record<string, string>;
  return { ...headers, "set-cookie": cookies.join(", ") } as Record<string, string>;
}
