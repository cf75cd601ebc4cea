// POST /e/:key: events come in, all of a request or none (docs/reference/wire.md#events). A request that is sent again with its seed
// finds its events stored and gets the same answer. Idem's own client also asks for the decisions.
import { limits } from "../../../engine/limits.ts";
import { type EventIdScope, webhookScope } from "../../../model/claim.ts";
import { lasting, parseDuration } from "../../../model/duration.ts";
import { errors } from "../../../model/errors.ts";
import { defaultWindowMs } from "../../../model/function-config.ts";
import { deliveryHeader, sharedDelivery, sourceRunHeader } from "../../../protocol/app-event.ts";
import { formTypes, normaliseEvents, readEventBody } from "../../../protocol/event-body.ts";
import { idsOfSeed, seedHeader } from "../../../protocol/event-seed.ts";
import { readEventJson } from "../../../protocol/read-json.ts";
import { readTraceparent, traceparentHeader } from "../../../protocol/traceparent.ts";
import { sendResultOf } from "../../../sdk/send-result.ts";
import { json, type Route, type RouteRequest } from "../../route.ts";
import type { World } from "../../world.ts";

// 5,000 events of 2 KiB; more at once is a copy of something, and can be sent in parts.
const bodyBytesMax = 10 * 1024 * 1024;

export const sendEvents: Route = {
  method: "POST",
  path: "/e/:key",
  access: "event-key",
  bodyBytesMax,
  contentTypes: ["application/json", ...formTypes],
  errors: "wire",
  async handle(request, world) {
    const { env, headers, query, body } = request;
    const given = await readEventBody({
      contentType: headers["content-type"],
      bytes: body,
      formName: query.get("name"),
      json: () => readEventJson(body),
    });
    if (given.length > limits.eventsPerCallMax) {
      throw errors.EVENT_BATCH_TOO_LARGE({ count: given.length, max: limits.eventsPerCallMax });
    }
    world.eventQuotas?.of(request.params.key)?.takeEvents(given.length);
    const known = {
      eventIds: idsOfSeed(headers[seedHeader], given.length) ?? [],
      sourceRunId: sourceRunOf(headers[sourceRunHeader]),
      idScope: idScopeOf(request, world),
      trace: readTraceparent(headers[traceparentHeader]),
    };
    const engine = await world.engine(env);
    const events = normaliseEvents(given);
    if (known.idScope === undefined) await world.reservedNames.refuseSent(engine, events);
    else await world.reservedNames.noteDelivered(engine, events, headers[deliveryHeader] === sharedDelivery);
    const accepted = await engine.accept(events, eventWindowOf(request), [], known);
    if (wantsDecisions(request))
      return json({ ...sendResultOf(accepted, (fn) => engine.registry.fullName(fn)), status: 200 });
    return json({ ids: accepted.events.map(({ id }) => id), status: 200 });
  },
};

/** The run whose step sends, by its own word: shown in timelines, and nothing is decided by it. */
const sourceRunOf = (header: string | undefined): string | null =>
  header !== undefined && /^[0-9A-Z]{26}$/.test(header) ? header : null;

/** A sender that speaks for a provider shows a signing key: event keys may be in browsers, and must not take the ids of deliveries to come. */
function idScopeOf(
  { env, headers }: RouteRequest,
  { credentials }: Pick<World, "credentials">,
): EventIdScope | undefined {
  if (headers[deliveryHeader] === undefined) return undefined;
  if (!credentials.required || credentials.envOfBearer(headers.authorization) === env) return webhookScope;
  throw errors.UNAUTHORIZED({ why: "deliveries of webhooks need the environment's signing key beside the event key" });
}

/** Ids of these events stay taken for this long: `x-idem-window: 1h`. */
export function eventWindowOf({ headers }: Pick<RouteRequest, "headers">): number {
  const window = headers["x-idem-window"];
  return window === undefined ? defaultWindowMs : lasting(parseDuration(window, "x-idem-window"), "x-idem-window");
}

export const wantsDecisions = ({ headers, query }: Pick<RouteRequest, "headers" | "query">): boolean =>
  headers["x-idem-decisions"] === "1" || query.get("decisions") === "1";
