// The server's routes that are answered beside an embedded engine: the pages and what people ask and do. The wire of apps, workers and
// senders is not: here functions and events come from the program itself. Nobody signs in either; the application knows its people.
import { errors } from "../../model/errors.ts";
import type { MountedClient } from "../../sdk/open-dashboard.ts";
import { dashboardRoutes, dashboardRoutesAt } from "../dashboard/serve-dashboard.ts";
import type { Route } from "../route.ts";
import { addWebhook } from "../routes/api/add-webhook.ts";
import { addApp } from "../routes/api/apps.ts";
import { makeBackup, readBackup } from "../routes/api/back-up.ts";
import { addWebhookSecret, dropWebhookSecret } from "../routes/api/change-webhook-secrets.ts";
import { checkHealth, checkLife, healthAnswer } from "../routes/api/check-health.ts";
import { examineStore } from "../routes/api/examine-store.ts";
import { explainError } from "../routes/api/explain-error.ts";
import { countHistory } from "../routes/api/prune.ts";
import { readOpenapi } from "../routes/api/read-openapi.ts";
import { removeWebhook } from "../routes/api/remove-webhook.ts";
import { signOut } from "../routes/api/session.ts";
import { routes } from "../routes.ts";

const ofServers: ReadonlySet<Route> = new Set([
  addApp,
  examineStore,
  makeBackup,
  readBackup,
  countHistory,
  addWebhook,
  addWebhookSecret,
  dropWebhookSecret,
  removeWebhook,
  signOut,
]);

const openapiPath = readOpenapi(() => routes).path;

const isAnswered = (route: Route): boolean =>
  route === explainError || route.path === openapiPath || (route.access === "operator" && !ofServers.has(route));

/** Refused before anything of a body is read, to those who may ask at all. */
const refused = (route: Route): Route => ({
  ...route,
  access: "operator",
  viewerMay: true,
  bodyBytesMax: null,
  streams: false,
  errors: "problem",
  handle: ({ method }) => {
    throw errors.SERVER_ONLY({ method, path: route.path });
  },
});

/** Asked by probes, which have no session: it says that the client can do its work, or which part cannot. */
const mountedHealth = (health: MountedClient["health"]): Route => ({
  ...checkHealth,
  handle: async () => healthAnswer(await health()),
});

export const isHealthPath = (path: string): boolean => path === checkHealth.path || path === checkLife.path;

/** For a mount path that begins and ends with a slash. */
export const mountedRoutes = (base: string, { health }: Pick<MountedClient, "health">): readonly Route[] => [
  ...routes
    .filter((route) => !dashboardRoutes.includes(route))
    .map((route) => {
      if (route === checkHealth) return mountedHealth(health);
      return isAnswered(route) || route === checkLife ? route : refused(route);
    }),
  ...dashboardRoutesAt(base),
];
