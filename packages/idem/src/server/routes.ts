// The whole API: who speaks to the server, by the three tables beside the routes. The router, the OpenAPI document and the fuzz test read it.
import { connectWorkers } from "./connect/connect-workers.ts";
import { dashboardRoutes } from "./dashboard/serve-dashboard.ts";
import { connectRealtime } from "./realtime/connect-realtime.ts";
import type { Route, SocketRoute } from "./route.ts";
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

export const sockets: readonly SocketRoute[] = [connectWorkers, connectRealtime];
