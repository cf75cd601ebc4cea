// Whether requests should be sent here: the server answers and its store takes operations. Who asks whether the process lives, to end it
// if not, asks `/health/live`: a store that is away does not come back because a server is started again.

import { healthOf } from "../../health-of-world.ts";
import { json, type Route } from "../../route.ts";

export const checkHealth: Route = {
  method: "GET",
  path: "/health",
  access: "open",
  bodyBytesMax: null,
  errors: "wire",
  isVital: true,
  handle: async (_, world) => {
    const health = await healthOf(world).check();
    if (health.isWell) return json({ status: 200, message: "OK" });
    return json({ status: 503, message: health.why, code: health.code }, 503);
  },
};

/** Whether the process answers at all. It asks nothing of the store. */
export const checkLife: Route = {
  method: "GET",
  path: "/health/live",
  access: "open",
  bodyBytesMax: null,
  errors: "wire",
  isVital: true,
  handle: () => json({ status: 200, message: "OK" }),
};
