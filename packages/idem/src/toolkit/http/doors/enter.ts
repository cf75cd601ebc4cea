// The way of a Node request past its key, the same for Node's own server, Express and Fastify.
import type { IncomingMessage, ServerResponse } from "node:http";
import { errors } from "../../../model/errors.ts";
import type { KeyContext, RouteOptions, Ticket } from "../begin.ts";
import type { Idempotency } from "../idempotency.ts";
import { problemResponse } from "../problems.ts";
import { HeldResponse } from "./held-response.ts";
import { checkUnread } from "./kept-body.ts";
import { type DoorRequest, fetchRequest, hasKey, isMeant } from "./node-request.ts";
import { takeMethods } from "./taken-methods.ts";

export type Way =
  /** No key applies: the handler runs, unprotected by choice. */
  | { readonly kind: "plain" }
  | { readonly kind: "answer"; readonly response: Response }
  /** The client left before anything was executed; nobody is there to be answered. */
  | { readonly kind: "gone" }
  | { readonly kind: "execute"; readonly context: KeyContext; readonly held: HeldResponse };

export async function enter(
  keys: Idempotency,
  route: RouteOptions,
  request: DoorRequest,
  response: ServerResponse,
  native: unknown,
): Promise<Way> {
  if (!isMeant(request.method, route)) return { kind: "plain" };
  // Its requests do not say whether they have a body, and tell their end before it can be put back.
  if (request.httpVersionMajor > 1) throw unsupported();
  const asked = fetchRequest(request, route);
  if (hasKey(asked, route) && route.fingerprint?.body !== "headers") checkUnread(request);
  const read = await keys.read(asked, route, native);
  if (read.kind === "answer") return isGone(request) ? { kind: "gone" } : read;
  if (read.kind === "plain") return { kind: "plain" };
  if (isGone(request)) return { kind: "gone" };
  const begun = await keys.begin(read.keyed, route);
  if (begun.kind === "answer") return begun;
  const { ticket } = begun;
  if (isGone(request)) {
    await giveUp(ticket);
    return { kind: "gone" };
  }
  keepFromAborting(request, response);
  const held = new HeldResponse(response, ticket, keys);
  onDraining(ticket, route, (answer) => held.interrupt(answer));
  return { kind: "execute", context: ticket.context, held };
}

const unsupported = () =>
  errors.TOOLKIT_OPTION_INVALID({
    call: "idempotent",
    option: "server",
    why: "Node's own HTTP/2 requests cannot be put behind a key; end HTTP/2 in front of this server",
  });

/** A request that was read to its end is destroyed, too; only its connection tells. */
const isGone = ({ socket }: IncomingMessage): boolean => socket.destroyed;

/** Claimed, and the handler has not begun: said in the words that release the key. */
async function giveUp(ticket: Ticket): Promise<void> {
  const left = new Error("The client left before the handler began");
  const vouched = await ticket.context
    .beforeEffects(() => {
      throw left;
    })
    .catch((error: unknown) => error);
  await ticket.fail(vouched, { status: 503, headers: [], body: { kind: "whole", bytes: null } });
}

/**
 * Everything of the request is here, so a client that leaves takes nothing away: a parser behind this door that still reads it must not
 * take the body for broken, because the refusal would be stored. Anything unread by the end is let go of.
 */
function keepFromAborting(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete) return;
  const methods = takeMethods(request, {
    // Node ends a request that was read to its end by itself, and without an error.
    destroy: (error) =>
      error === undefined || request.readableEnded ? methods.before("destroy")(error) : (request as unknown),
  });
  response.once("close", () => {
    methods.putBack("destroy");
    if (request.socket.destroyed) request.destroy();
    else request.resume();
  });
}

/** The process stops, and another one goes on with what may be resumed: the caller hears at once to come back. */
export function onDraining(ticket: Ticket, route: RouteOptions, hear: (answer: Response) => void): void {
  if (route.onCrash !== "resume") return;
  const { signal } = ticket.context;
  const look = () => {
    if (signal.reason === "draining") hear(problemResponse("draining"));
  };
  if (signal.aborted) look();
  else signal.addEventListener("abort", look, { once: true });
}
