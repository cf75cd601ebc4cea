// One request, from its path to its answer: which route, who asks, is the body acceptable; then the route's own code.
// Nothing is read of a body before its sender is admitted.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { type ErrorCode, errors, IdemError } from "../model/errors.ts";
import type { Encoding } from "../protocol/content-coding.ts";
import { problemOf, problemType, statusOf, wireErrorOf } from "../protocol/problem.ts";
import { readJson } from "../protocol/read-json.ts";
import { admitCaller } from "./admit-caller.ts";
import { type Admitted, admitPerson, isChange } from "./admit-person.ts";
import type { PageGuard } from "./browser-guard.ts";
import { type Actor, devActor, keyActor, programActor } from "./people/actor.ts";
import { encodingOf, streamBody } from "./read-body.ts";
import type { Route, RouteAnswer, RouteRequest } from "./route.ts";
import { paramsOf, type Router } from "./router.ts";
import { unsupportedApi } from "./unsupported-api.ts";
import type { World } from "./world.ts";

export interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** A path's other methods, asked by a person or by a browser before it sends something. */
export interface Asked {
  readonly allowed: string;
  /** Any route of the path. */
  readonly route: Route;
}

/** The route asked for; throws ROUTE_UNKNOWN, API_UNSUPPORTED and METHOD_UNSUPPORTED. */
export function findRoute(router: Router<Route>, method: string, path: string): Found | Asked {
  const match = router.match(path);
  if (match === null) {
    const asked = { method: shown(method), path: shown(path) };
    const other = unsupportedApi(method, path);
    throw other === null ? errors.ROUTE_UNKNOWN(asked) : errors.API_UNSUPPORTED({ ...asked, ...other });
  }
  const route = match.routes.get(method === "HEAD" ? "GET" : method);
  if (route !== undefined) {
    try {
      return { route, params: paramsOf(match) };
    } catch {
      throw errors.REQUEST_INVALID({ why: "a % in its path is not followed by two hexadecimal digits of UTF-8" });
    }
  }
  const methods = [...match.routes.keys()];
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (method === "OPTIONS") return { allowed, route: match.routes.values().next().value! };
  throw new MethodUnsupported(method, allowed);
}

/** Keeps what the Allow header must say. */
export class MethodUnsupported extends IdemError {
  constructor(
    method: string,
    readonly allowed: string,
  ) {
    super("METHOD_UNSUPPORTED", { method: shown(method), allowed });
  }
}

const pathCharsShown = 200;
const shown = (text: string): string => (text.length > pathCharsShown ? `${text.slice(0, pathCharsShown)}…` : text);

/** `/path` and `a=b` of `/path?a=b`, also when a proxy's whole URL stands there. */
export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  let local = target;
  if (!local.startsWith("/")) {
    const [, rest] = /^https?:\/\/[^/?#]*(.*)$/i.exec(local) ?? [];
    if (rest === undefined) throw errors.REQUEST_INVALID({ why: "its target is no path" });
    local = rest.startsWith("/") ? rest : `/${rest}`;
  }
  const mark = local.indexOf("?");
  return mark === -1 ? { path: local, search: "" } : { path: local.slice(0, mark), search: local.slice(mark + 1) };
}

/** A route's request, while its caller and body are still being found out. */
export interface AskedRequest extends RouteRequest {
  body: Buffer;
  stream?: AsyncIterable<Uint8Array>;
  env: string;
  actor: Actor;
}

const noBody = Buffer.alloc(0);
const nobodyListens = (): void => {};

/** Of a request on a line of ours. Parts that most routes never ask for are made when they do. */
export class NodeRequest implements AskedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  body: Buffer = noBody;
  stream?: AsyncIterable<Uint8Array>;
  env = "";
  actor: Actor = programActor;
  private parsedQuery: URLSearchParams | null = null;
  private gone: AbortController | null = null;

  constructor(
    private readonly incoming: IncomingMessage,
    readonly method: string,
    readonly path: string,
    private readonly search: string,
    readonly params: Readonly<Record<string, string>>,
  ) {
    this.headers = incoming.headers as Record<string, string | undefined>;
  }

  get address(): string {
    return this.incoming.socket.remoteAddress ?? "";
  }

  get query(): URLSearchParams {
    this.parsedQuery ??= new URLSearchParams(this.search);
    return this.parsedQuery;
  }

  get signal(): AbortSignal {
    if (this.gone === null) {
      const gone = new AbortController();
      this.gone = gone;
      const { socket } = this.incoming;
      if (socket.destroyed) gone.abort();
      else {
        // On the line, not on the message: a message that was read to its end is closed long before its caller leaves.
        const leave = () => gone.abort();
        socket.once("close", leave);
        this.answered = () => socket.off("close", leave);
      }
    }
    return this.gone.signal;
  }

  /** Called once the answer is out: the line goes on to other requests. */
  answered: () => void = nobodyListens;

  /** Called once a stream is over: nobody reads what may still be said, also when only HEAD was asked. */
  streamed(): void {
    this.gone?.abort();
  }

  json(): unknown {
    return readJson(this.body);
  }
}

/** The server's part of one answer, and the calls made on the way to it. */
export interface AnswerOptions {
  readonly world: World;
  readonly guard: PageGuard;
  /** Admits callers where they are not the server's own people: beside an embedded engine its application knows them. */
  admit?(route: Route, request: AskedRequest): Promise<Admitted>;
  /** Asks a caller that waits for it to send its body now. */
  invite(): void;
  /** Called once who asks has shown what the route wants to see. */
  admitted?(): void;
  /** The body as it was before it was compressed, within `bytesMax`. */
  takeBody(encoding: Encoding | null, bytesMax: number): Promise<Buffer>;
}

/** Admits the caller, takes the body, and asks the route. */
export async function answerRequest(
  route: Route,
  request: AskedRequest,
  incoming: Readable,
  options: AnswerOptions,
): Promise<RouteAnswer> {
  const { world, guard } = options;
  guard.checkOrigin(request.method, route.access, request.headers);
  if (route.access === "operator" || route.access === "sign-in") {
    const { env, actor } = await (options.admit?.(route, request) ?? admitPerson(route, request, world, guard));
    request.env = env;
    request.actor = actor;
    // It has been read; routes refuse parameters they do not know.
    request.query.delete("env");
  } else {
    request.env = admitCaller(route.access, request, world.credentials);
    if (route.access === "signing-key") request.actor = world.credentials.required ? keyActor(request.env) : devActor;
  }
  options.admitted?.();
  // Routes that are open to everybody look for themselves where they take an environment by its name.
  if (route.access !== "open" && !isChange(request.method)) await world.checkKnown(request.env);
  const quota = route.access === "event-key" ? world.eventQuotas?.of(request.params.key) : undefined;
  quota?.takeRequest(Number(request.headers["content-length"] ?? 0));
  if (route.bodyBytesMax !== null && hasBody(request.headers)) {
    const max = route.bodyBytesMax;
    const { headers } = request;
    checkContentType(route, headers["content-type"]);
    const encoding = encodingOf(headers["content-encoding"]);
    // Said to be too large: not even begun.
    if (Number(headers["content-length"]) > max) throw errors.BODY_TOO_LARGE({ max });
    options.invite();
    if (route.streams === true) request.stream = streamBody(incoming, encoding, max);
    else request.body = await options.takeBody(encoding, max);
    quota?.takeBytes(request.body.length);
  } else if (route.streams === true) {
    request.stream = streamBody(incoming, null, 0);
  }
  return route.handle(request, world);
}

const hasBody = (headers: RouteRequest["headers"]): boolean =>
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] !== undefined && headers["content-length"] !== "0");

const jsonOnly: readonly string[] = ["application/json"];

function checkContentType(route: Route, header: string | undefined): void {
  const taken = route.contentTypes ?? jsonOnly;
  if (header === undefined || taken.includes(header) || taken.includes("*")) return;
  const [type, ...parameters] = header.split(";").map((part) => part.trim().toLowerCase());
  const isTaken =
    taken.includes(type!) || (taken.includes("application/json") && /^application\/[\w.-]+\+json$/.test(type!));
  const charset = parameters
    .find((each) => each.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (!isTaken || (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii")) {
    throw errors.CONTENT_TYPE_UNSUPPORTED({ given: shown(header), taken: taken.join(", ") });
  }
}

/** Soon enough for a client that waits, late enough for a queue to get shorter. A store that is away was waited for already. */
const retryAfterSecondsOf = (code: ErrorCode): string => (code === "STORE_UNAVAILABLE" ? "5" : "1");

/** An error in the words of its reader: SDKs under the wire's own paths, tools elsewhere. */
export function errorAnswer(error: IdemError, shape: Route["errors"], isIngest: boolean): RouteAnswer {
  const status = statusOf(error.code);
  const headers: Record<string, string> = {};
  if (status === 503) headers["retry-after"] = retryAfterSecondsOf(error.code);
  if (error.code === "SIGN_IN_LIMITED" || error.code === "EVENT_QUOTA_REACHED")
    headers["retry-after"] = String(error.facts.seconds);
  if (status === 401) headers["www-authenticate"] = shape === "problem" ? 'Basic realm="idem"' : "Bearer";
  if (error instanceof MethodUnsupported) headers.allow = error.allowed;
  if (shape === "problem") {
    return { status, headers: { ...headers, "content-type": problemType }, body: { json: problemOf(error) } };
  }
  const wire = wireErrorOf(error);
  return { status, headers, body: { json: isIngest ? { ...wire, ids: [] } : wire } };
}
