// The door over Fetch: a handler that takes a Request and a context and gives a Response, around which everything is decided.
import type { Logger } from "../../execute/function-code.ts";
import type { Platform } from "../../platform/platform.ts";
import { problemType } from "../../protocol/problem.ts";
import type { Captured, Finished, KeyContext, RouteOptions, Ticket } from "./begin.ts";
import { capture } from "./capture.ts";
import type { Idempotency } from "./idempotency.ts";
import { plainContext } from "./key-context.ts";
import { problemResponse } from "./problems.ts";

export type FetchHandle = (request: Request, context: KeyContext) => Response | Promise<Response>;

/** The answer that a thrown value stands for; null where it is a failure. */
export type AnswerOf = (error: unknown) => Response | null;

// Some throw their answer.
const thrownResponse: AnswerOf = (error) => (error instanceof Response ? error : null);

interface FetchWorld {
  readonly idempotency: Idempotency;
  readonly platform: Platform;
  readonly logger: Logger;
  /** Answers for a framework's own errors, besides a Response that is thrown. */
  readonly answerOf?: AnswerOf;
}

export function fetchHandler(
  world: FetchWorld,
  route: RouteOptions,
  handle: FetchHandle,
): (request: Request) => Promise<Response> {
  const { idempotency, platform } = world;
  return async (request) => {
    const read = await idempotency.read(request, route, request);
    if (read.kind === "answer") return read.response;
    if (read.kind === "plain") return handle(read.request, plainContext(read.request, platform));
    const begun = await idempotency.begin(read.keyed, route);
    if (begun.kind === "answer") return begun.response;
    const { ticket } = begun;
    const work = execute(ticket, () => handle(read.keyed.request, ticket.context), world);
    return route.onCrash === "resume" ? Promise.race([work, drained(ticket)]) : work;
  };
}

async function execute(
  ticket: Ticket,
  handle: () => Response | Promise<Response>,
  world: FetchWorld,
): Promise<Response> {
  let response: Response;
  try {
    response = await handle();
    if (!(response instanceof Response) || response.status === 0) {
      throw new TypeError("a handler behind an idempotency key returned something other than a Response");
    }
  } catch (error) {
    return failed(ticket, error, world);
  }
  const captured = await capture(response, ticket.bytesMax);
  switch (captured.kind) {
    case "whole":
      return sent(await ticket.finish(captured.captured), captured.send);
    case "endless":
      world.logger.error("idempotency: text/event-stream cannot be replayed; take the key off this route");
      return sent(await ticket.finish(captured.captured), captured.send);
    case "passing":
      return captured.send((whole) => ticket.finish(whole));
    case "aborted":
      return failed(ticket, captured.error, world);
  }
}

/** The answer to a failure is made here and not by the framework, because a retry gets it, too. */
async function failed(ticket: Ticket, error: unknown, { logger, answerOf }: FetchWorld): Promise<Response> {
  const thrown = thrownResponse(error) ?? answerOf?.(error) ?? null;
  const answer = thrown === null ? null : await capture(thrown, ticket.bytesMax);
  if (answer?.kind === "whole") return sent(await ticket.fail(error, answer.captured), answer.send);
  logger.error("idempotency: a handler failed", error);
  const bytes = new TextEncoder().encode(
    JSON.stringify({ type: "about:blank", title: "Internal Server Error", status: 500 }),
  );
  const headers = [["content-type", problemType]] as const;
  const captured: Captured = { status: 500, headers, body: { kind: "whole", bytes } };
  return sent(
    await ticket.fail(error, captured),
    (added) => new Response(bytes, { status: 500, headers: [...headers, ...added.headers].map(([n, v]) => [n, v]) }),
  );
}

const sent = (finished: Finished, send: (headers: Finished & { kind: "send" }) => Response): Response =>
  finished.kind === "send" ? send(finished) : finished.response;

/** The process stops, and another one goes on: the caller hears at once to come back. */
const drained = (ticket: Ticket): Promise<Response> =>
  new Promise((resolve) => {
    const { signal } = ticket.context;
    const look = () => {
      if (signal.reason === "draining") resolve(problemResponse("draining"));
    };
    signal.addEventListener("abort", look, { once: true });
  });
