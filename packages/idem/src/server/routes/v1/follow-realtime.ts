// GET /v1/realtime/sse: the same subscription as a WebSocket's, for clients that read server-sent events; and the way a
// durable endpoint's caller goes on hearing its run after the app handed it over.

import { endWithRun } from "../../realtime/end-with-run.ts";
import { EventLine } from "../../realtime/event-line.ts";
import { readRealtimeToken } from "../../realtime/realtime-token.ts";
import type { Route } from "../../route.ts";

export const followRealtime: Route = {
  method: "GET",
  path: "/v1/realtime/sse",
  // The token in the query is the credential.
  access: "open",
  bodyBytesMax: null,
  waits: true,
  errors: "wire",
  async handle(request, world) {
    const token = request.query.get("token");
    const { env, topics, runId } = readRealtimeToken(world.tokens, token);
    const from = request.headers["last-event-id"] ?? request.query.get("from");
    // A run's stream opens without a place. A caller that loses it before the first event comes back without one, and must miss nothing.
    const subscribe = await world.channels.prepare(env, topics, from, token!, runId === null ? "now" : "first");
    const over = new AbortController();
    const line = new EventLine(() => {
      subscription.stop();
      over.abort();
    }, runId !== null);
    const subscription = subscribe(line);
    request.signal.addEventListener("abort", () => line.abandon(), { once: true });
    if (request.signal.aborted) line.abandon();
    if (runId !== null) void endWithRun(world, env, runId, line, subscription, over.signal);
    return {
      status: 200,
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        // nginx would keep events back until its buffer is full.
        "x-accel-buffering": "no",
      },
      body: line,
    };
  },
};
