// The whole API: who speaks to the server, by the three tables beside the routes. The router, the OpenAPI document and the fuzz test read it.
import { errors } from "../model/errors.ts";
import type { NodeRole } from "../store/sharing.ts";
import { connectWorkers, connectWorkersV0 } from "./connect/connect-workers.ts";
import { dashboardRoutes } from "./dashboard/serve-dashboard.ts";
import { connectRealtime } from "./realtime/connect-realtime.ts";
import type { Route, SocketRoute } from "./route.ts";
import { checkHealth, checkLife } from "./routes/api/check-health.ts";
import { explainError } from "./routes/api/explain-error.ts";
import { readMetrics } from "./routes/api/read-metrics.ts";
import { readOpenapi } from "./routes/api/read-openapi.ts";
import { apiRoutes } from "./routes/api-routes.ts";
import { v1Routes } from "./routes/v1-routes.ts";
import { wireRoutes } from "./routes/wire-routes.ts";

export const routes: readonly Route[] = [
  ...wireRoutes,
  ...v1Routes,
  ...apiRoutes,
  readOpenapi(() => routes),
  // -- the pages of the dashboard
  ...dashboardRoutes,
];

export const sockets: readonly SocketRoute[] = [connectWorkers, connectWorkersV0, connectRealtime];

// The routes of a node, by its role. One that only executes answers for itself (is it up, what does it count) and sends everybody else away
// with a reason, so that a request that came here by mistake is sent again and not lost.
const ofItself: ReadonlySet<Route> = new Set([checkHealth, checkLife, explainError, readMetrics]);

const refuse = (): never => {
  throw errors.WRONG_ROLE({ role: "worker", why: "it executes runs and answers no requests" });
};

export const routesOf = (role: NodeRole, routes: readonly Route[]): readonly Route[] =>
  role === "worker" ? routes.map((route) => (ofItself.has(route) ? route : { ...route, handle: refuse })) : routes;

export const socketsOf = (role: NodeRole, sockets: readonly SocketRoute[]): readonly SocketRoute[] =>
  role === "worker" ? sockets.map((socket) => ({ ...socket, upgrade: refuse })) : sockets;
