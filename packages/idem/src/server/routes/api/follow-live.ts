// GET /api/live: what changes, as server-sent events, for pages that are looked at.
import { liveDigest } from "../../live/digest-shape.ts";
import { EventLine } from "../../realtime/event-line.ts";
import type { Route } from "../../route.ts";

export const followLive: Route = {
  method: "GET",
  path: "/api/live",
  access: "operator",
  bodyBytesMax: null,
  waits: true,
  errors: "problem",
  about: {
    summary: "Follow what changes, as server-sent events named `digest`: at most two a second",
    tag: "runs",
    answer: liveDigest,
  },
  async handle(request, world) {
    // The environment is opened, so that what is committed in it is seen.
    await world.engine(request.env);
    const line = new EventLine(() => stop());
    line.began(null);
    let stop = () => {};
    stop = world.live.listen(request.env, line, request.actor);
    request.signal.addEventListener("abort", () => line.abandon(), { once: true });
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
