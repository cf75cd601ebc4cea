// Whether the process answers at all. It asks nothing of the store.
import { json, type Route } from "../../route.ts";

export const checkLife: Route = {
  method: "GET",
  path: "/health/live",
  access: "open",
  bodyBytesMax: null,
  errors: "wire",
  isVital: true,
  handle: () => json({ status: 200, message: "OK" }),
};
