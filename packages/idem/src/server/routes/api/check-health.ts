// Whether requests should be sent here: the server answers and its store takes operations. To ask whether the process lives, and end it
// if not, there is `/health/live`: a store that is away does not come back because a server is started again.

import { type Readiness, readyOr } from "../../../engine/readiness.ts";
import { json, type Route, type RouteAnswer } from "../../route.ts";

export function healthAnswer({ isReady, reasons }: Readiness): RouteAnswer {
  if (isReady) return json({ status: 200, message: "OK" });
  const message = reasons.map(({ why }) => why).join("; ");
  const code = reasons.find((reason) => reason.code !== undefined)?.code;
  return json({ status: 503, message, ...(code === undefined ? {} : { code }), reasons }, 503);
}

export const checkHealth: Route = {
  method: "GET",
  path: "/health",
  access: "open",
  bodyBytesMax: null,
  errors: "wire",
  isVital: true,
  handle: async (_, world) => {
    const health = await world.health.check();
    return healthAnswer(readyOr(health.isWell ? [] : [{ part: "store", why: health.why, code: health.code }]));
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
