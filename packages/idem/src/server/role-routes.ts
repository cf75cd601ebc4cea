// What a node answers, by its role. One that only executes answers for itself (is it up, what does it count) and sends everybody
// else away with a reason, so that a request that came here by mistake is sent again and not lost.
import { errors } from "../model/errors.ts";
import type { NodeRole } from "../store/sharing.ts";
import type { Route, SocketRoute } from "./route.ts";
import { checkHealth } from "./routes/api/check-health.ts";
import { checkLife } from "./routes/api/check-life.ts";
import { explainError } from "./routes/api/explain-error.ts";
import { readMetrics } from "./routes/api/read-metrics.ts";

const ofItself: ReadonlySet<Route> = new Set([checkHealth, checkLife, explainError, readMetrics]);

const refuse = (): never => {
  throw errors.OTHER_NODE({ why: "this node has the role worker, which executes runs and answers no requests" });
};

export const routesOf = (role: NodeRole, routes: readonly Route[]): readonly Route[] =>
  role === "worker" ? routes.map((route) => (ofItself.has(route) ? route : { ...route, handle: refuse })) : routes;

export const socketsOf = (role: NodeRole, sockets: readonly SocketRoute[]): readonly SocketRoute[] =>
  role === "worker" ? sockets.map((socket) => ({ ...socket, upgrade: refuse })) : sockets;
