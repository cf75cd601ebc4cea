// POST /invoke/:slug: starts exactly this function, with an event that carries the body's data (docs/reference/wire.md#paths).
// An `id` in the body, or the sender's seed, makes a second asking the same as the first.
import { normaliseEvent } from "../../../protocol/event-body.ts";
import { idsOfSeed, seedHeader } from "../../../protocol/event-seed.ts";
import { readEventJson } from "../../../protocol/read-json.ts";
import { readTraceparent, traceparentHeader } from "../../../protocol/traceparent.ts";
import { sendResultOf } from "../../../sdk/send-result.ts";
import { json, type Route } from "../../route.ts";
import { eventWindowOf, wantsDecisions } from "./send-events.ts";

const bodyBytesMax = 1024 * 1024;

export const invokeFunction: Route = {
  method: "POST",
  path: "/invoke/:slug",
  access: "signing-key",
  bodyBytesMax,
  errors: "wire",
  async handle(request, world) {
    const { env, headers, params, body } = request;
    const event = normaliseEvent(body.length === 0 ? {} : readEventJson(body), "The event");
    const engine = await world.engine(env);
    const [eventId] = idsOfSeed(headers[seedHeader], 1) ?? [];
    const accepted = await engine.invoke(params.slug!, event, eventWindowOf(request), {
      ...(eventId === undefined ? {} : { eventId }),
      trace: readTraceparent(headers[traceparentHeader]),
    });
    const { ids, decisions } = sendResultOf(accepted, (fn) => engine.registry.fullName(fn));
    return json({ id: ids[0], status: 200, ...(wantsDecisions(request) ? { decisions } : {}) });
  },
};
