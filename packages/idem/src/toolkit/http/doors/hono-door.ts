// Idempotency-Key as Hono middleware.
import { errors } from "../../../model/errors.ts";
import type { Captured, Finished, KeyContext, RouteOptions, Ticket } from "../begin.ts";
import { capture } from "../capture.ts";
import type { Idempotency } from "../idempotency.ts";
import { onDraining } from "./enter.ts";
import { hasKey, hasRepeatedKey, withRefusedKey } from "./node-request.ts";

export interface HonoContext {
  readonly req: {
    raw: Request;
    readonly bodyCache: object;
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  res: Response | undefined;
  readonly error: Error | undefined;
  /** The server underneath; Node's has the request's own header lines. */
  readonly env: unknown;
  set(name: "idempotency", context: KeyContext): void;
}

export type HonoMiddleware = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;

export function honoDoor(keys: Idempotency, route: RouteOptions): HonoMiddleware {
  keys.check(route);
  return async (context: HonoContext, next) => {
    const read = await keys.read(await askedOf(context, route), route, context);
    if (read.kind === "answer") return read.response;
    if (read.kind === "plain") return void (await next());
    const begun = await keys.begin(read.keyed, route);
    if (begun.kind === "answer") return begun.response;
    const { ticket } = begun;
    context.req.raw = read.keyed.request;
    context.set("idempotency", ticket.context);
    // A handler that throws has been answered by the app's onError when this is back; without one around, it throws here.
    try {
      const drained = new Promise<Response>((resolve) => onDraining(ticket, route, resolve));
      const instead = await Promise.race([next(), drained]);
      if (instead instanceof Response) return instead;
    } catch (error) {
      await ticket.fail(error, { status: 500, headers: [], body: { kind: "whole", bytes: null } });
      throw error;
    }
    const response = await answered(context, ticket);
    // Set over a response, Hono keeps the headers of the one before.
    context.res = undefined;
    context.res = response;
  };
}

async function answered(context: HonoContext, ticket: Ticket): Promise<Response> {
  const { error } = context;
  // A refusal that was thrown is an answer like any other; only a failure asks whether anything had happened before.
  const save = (captured: Captured): Promise<Finished> =>
    error !== undefined && captured.status >= 500 ? ticket.fail(error, captured) : ticket.finish(captured);
  const response = context.res ?? new Response(null, { status: 404 });
  const captured = await capture(response, ticket.bytesMax);
  switch (captured.kind) {
    case "whole":
    case "endless": {
      const finished = await save(captured.captured);
      return finished.kind === "send" ? captured.send(finished) : finished.response;
    }
    case "passing":
      return captured.send(save);
    case "aborted": {
      const failure = { status: 500, headers: [], body: { kind: "whole", bytes: null } } as const;
      const finished = await ticket.fail(captured.error, failure);
      if (finished.kind === "instead") return finished.response;
      return new Response(null, { status: 500, headers: finished.headers.map(([name, value]) => [name, value]) });
    }
  }
}

async function askedOf({ req, env }: HonoContext, route: RouteOptions): Promise<Request> {
  const lines = (env as { incoming?: { rawHeaders?: readonly string[] } } | undefined)?.incoming?.rawHeaders ?? [];
  if (hasRepeatedKey(lines, route)) return withRefusedKey(req.raw, route);
  if (!req.raw.bodyUsed || !hasKey(req.raw, route)) return req.raw;
  // Read before, by a validator perhaps. Hono keeps what was read; of these it can give the same bytes again, of parsed ones it cannot.
  const isKept = ["text", "arrayBuffer", "blob"].some((form) => form in req.bodyCache);
  if (!isKept) throw errors.BODY_ALREADY_READ({ method: req.raw.method });
  const { method, headers, url } = req.raw;
  return new Request(url, { method, headers, body: await req.arrayBuffer() });
}
