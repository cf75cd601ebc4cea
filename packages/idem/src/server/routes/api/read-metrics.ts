// GET /metrics, for Prometheus.
import { errors } from "../../../model/errors.ts";
import type { Route } from "../../route.ts";

export const readMetrics: Route = {
  method: "GET",
  path: "/metrics",
  access: "operator",
  bodyBytesMax: null,
  errors: "problem",
  async handle({ method, path, actor }, world) {
    const metrics = await world.metrics?.();
    if (metrics === undefined) throw errors.ROUTE_UNKNOWN({ method, path });
    return { status: 200, headers: { "content-type": metrics.contentType }, body: await metrics.text(actor.onlyEnv) };
  },
};
