// Whether the server answers at all. It asks nothing of the store: a load balancer that takes a slow disk for a dead
// server would take the server away from those who can wait.
import { json, type Route } from "../route.ts";

export const checkHealth: Route = {
  method: "GET",
  path: "/health",
  access: "open",
  bodyBytesMax: null,
  errors: "wire",
  handle: () => json({ status: 200, message: "OK" }),
};
