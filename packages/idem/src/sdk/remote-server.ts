// The server a client belongs to, over HTTP. Every request may be made twice: events carry a seed that names them, steps their
// ids, so what arrived although its answer got lost is recognised and not repeated.
import { errors, IdemError } from "../model/errors.ts";
import type { HttpResponse, Platform } from "../platform/platform.ts";
import { seedHeader } from "../protocol/event-seed.ts";
import { bearerTokenOf, isSigningKey } from "../protocol/signing-key.ts";

export interface ServerOptions {
  /** "http://127.0.0.1:8288" */
  readonly server: string;
  readonly eventKey: string | null;
  /** The one that signs first, then those that are still good while keys are changed. */
  readonly signingKeys: readonly string[];
  readonly env: string;
}

export interface ServerRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** With its query, from the server's root. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string;
  /** The subject of its errors: "The event". */
  readonly what: string;
  /** Not tried again, because the server would not recognise it. */
  readonly once?: boolean;
  readonly signal?: AbortSignal;
}

/** The server of a client that names none: where `idem dev` listens. */
export const defaultServer = "http://127.0.0.1:8288";

// As the wire's SDKs try: 100, 200, 400, 800 ms, each with up to 100 ms more (docs/reference/wire.md#events).
const triesMax = 5;
const firstDelayMs = 100;
const jitterMs = 100;
// A server that says how long it wants to be left alone is believed up to this.
const retryAfterMsMax = 5_000;
// The longest wait for an acknowledgement; an answer that is this late has been lost.
const timeoutMs = 30_000;
const answerBytesMax = 64 * 1024 * 1024;

export class RemoteServer {
  readonly origin: string;
  readonly options: ServerOptions;

  constructor(
    options: ServerOptions,
    private readonly platform: Pick<Platform, "fetch" | "timer" | "wallMs" | "randomBytes">,
  ) {
    this.origin = readOrigin(options.server);
    this.options = options;
    for (const key of options.signingKeys) {
      if (!isSigningKey(key)) {
        throw errors.KEY_INVALID({ which: "signing key", why: "after its prefix it must be hex of even length" });
      }
    }
  }

  /** Events as JSON text; the answer's `ids` in their order, and its decisions where an Idem server gives them. */
  async sendEvents(events: readonly string[], headers: Readonly<Record<string, string>>): Promise<unknown> {
    const key = this.options.eventKey ?? "dev";
    const entropy = Buffer.from(this.platform.randomBytes(10)).toString("base64");
    const answer = await this.ask({
      method: "POST",
      path: `/e/${encodeURIComponent(key)}`,
      headers: { ...headers, [seedHeader]: `${this.platform.wallMs()},${entropy}` },
      body: `[${events.join(",")}]`,
      what: events.length === 1 ? "The event" : `A list of ${events.length} events`,
    });
    return this.readJson(answer, "The answer to the events");
  }

  /** The run that waited for the signal; null when none did. */
  async signal(signal: string, dataJson: string): Promise<string | null> {
    const what = `Signal "${signal}"`;
    const body = `{"signal":${JSON.stringify(signal)},"data":${dataJson}}`;
    const answer = await this.ask({ method: "POST", path: "/v1/signals", body, what });
    if (answer.status === 404) return null;
    const { data } = (this.readJson(answer, what) ?? {}) as { data?: { run_id?: unknown } };
    return typeof data?.run_id === "string" ? data.run_id : null;
  }

  /** Goes on while trying again can help, then gives back the answer, whatever it is; throws when none came. */
  async ask(request: ServerRequest): Promise<HttpResponse> {
    for (let tries = 1; ; tries++) {
      let answer: HttpResponse | null = null;
      let failure: unknown;
      try {
        answer = await this.askWithAnyKey(request);
        if (!isPassing(answer.status)) return answer;
      } catch (error) {
        failure = error;
      }
      if (request.signal?.aborted === true || request.once === true || tries === triesMax) {
        if (answer !== null) return answer;
        throw errors.SERVER_UNREACHABLE({ server: this.origin, why: reasonOf(failure) }, { cause: failure });
      }
      const jitter = (this.platform.randomBytes(1)[0]! / 256) * jitterMs;
      await this.pause(Math.max(retryAfterOf(answer), firstDelayMs * 2 ** (tries - 1) + jitter), request.signal);
    }
  }

  /** A key that is being replaced may be unknown there already, or not yet: the other one is tried once. */
  private async askWithAnyKey(request: ServerRequest): Promise<HttpResponse> {
    const [first = null, ...others] = this.options.signingKeys;
    let answer = await this.askOnce(request, first);
    for (const key of others) {
      if (answer.status !== 401 && answer.status !== 403) break;
      answer = await this.askOnce(request, key);
    }
    return answer;
  }

  private async askOnce(request: ServerRequest, key: string | null): Promise<HttpResponse> {
    const abort = new AbortController();
    const stop = () => abort.abort(new Error("nobody waits for the answer any more"));
    const timer = this.platform.timer(timeoutMs, () => abort.abort(new Error(`no answer within ${timeoutMs} ms`)), {
      background: true,
    });
    request.signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.platform.fetch({
        url: `${this.origin}${request.path}`,
        method: request.method,
        headers: {
          ...(request.body === undefined ? {} : { "content-type": "application/json" }),
          ...(key === null ? {} : { authorization: `Bearer ${bearerTokenOf(key)}` }),
          ...(this.options.env === "default" ? {} : { "x-inngest-env": this.options.env }),
          ...request.headers,
        },
        body: request.body ?? null,
        bodyBytesMax: answerBytesMax,
        signal: abort.signal,
      });
    } finally {
      timer.cancel();
      request.signal?.removeEventListener("abort", stop);
    }
  }

  private pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.platform.timer(ms, resolve);
      signal?.addEventListener(
        "abort",
        () => {
          timer.cancel();
          resolve();
        },
        { once: true },
      );
    });
  }

  /** The value in an answer; throws SERVER_REFUSED for anything but a success. */
  readJson({ status, body }: HttpResponse, what: string): unknown {
    if (status < 200 || status > 299) {
      throw errors.SERVER_REFUSED({ what, server: this.origin, status, why: whyOf(body, status) });
    }
    try {
      return JSON.parse(body);
    } catch {
      const why = "it answered with something that is not JSON; is it an Idem server?";
      throw errors.SERVER_REFUSED({ what, server: this.origin, status, why });
    }
  }
}

function readOrigin(server: string): string {
  try {
    const url = new URL(server);
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("only http and https are spoken");
    return url.href.replace(/[?#].*$/, "").replace(/\/+$/, "");
  } catch (error) {
    throw errors.OPTION_INVALID({
      option: "server",
      why: `"${String(server).slice(0, 200)}" is no URL such as "${defaultServer}" (${reasonOf(error)})`,
    });
  }
}

/** Trying again can help: it is busy, restarting, or behind something that is. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

function retryAfterOf(answer: HttpResponse | null): number {
  const seconds = Number(answer?.headers["retry-after"] ?? 0);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1_000), retryAfterMsMax) : 0;
}

const whyCharsMax = 500;

/** The server's own words, in either of the two shapes it has for errors. */
function whyOf(body: string, status: number): string {
  try {
    const { error, detail, message } = JSON.parse(body) as Record<string, unknown>;
    const why = [error, detail, message].find((text) => typeof text === "string" && text !== "");
    if (why !== undefined) return String(why).slice(0, whyCharsMax);
  } catch {
    // No JSON: a proxy's page, most likely. Its status has to do.
  }
  return `it answered ${status} without a reason`;
}

function reasonOf(error: unknown): string {
  if (error instanceof IdemError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // fetch says "fetch failed" and keeps the reason (ECONNREFUSED) in its cause.
  const { cause } = error;
  if (cause instanceof Error) return String((cause as { code?: unknown }).code ?? cause.message);
  return error.message;
}
