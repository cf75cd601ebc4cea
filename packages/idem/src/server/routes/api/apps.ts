// /api/apps: the apps this server serves, and how their last sync went.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { syncApp } from "../../sync-app.ts";

const appItem = z.object({
  app: z.string(),
  url: z.string().nullable().describe("Null for workers that connect"),
  kind: z.enum(["http", "connect", "endpoint"]),
  sdk: z.string().nullable(),
  framework: z.string().nullable(),
  appVersion: z.string().nullable(),
  functionCount: z.number().int(),
  syncedAt: z.number().int().nullable(),
  error: z.string().nullable().describe("Why the last sync or call did not work"),
  workers: z.number().int().nullable().describe("Workers connected right now; null for apps reached by URL"),
});

export const listApps = apiRoute({
  method: "GET",
  path: "/api/apps",
  summary: "List the apps this server serves",
  tag: "apps",
  answer: z.object({
    apps: z.array(appItem),
    tried: z
      .array(z.object({ port: z.number().int(), answered: z.enum(["sdk", "other", "nobody"]) }))
      .describe("Ports of the server's own machine on which apps were looked for, and what was there the last time"),
  }),
  handle: async ({ world, env, engine }) => ({
    tried: [...(world.triedPorts?.() ?? [])],
    apps: (await world.apps.list(env)).map((each) => ({ ...each, app: engine.registry.appName(each.app) })),
  }),
});

/** A person names an app's URL; it is asked for its functions and they are registered. */
export const addApp = apiRoute({
  method: "POST",
  path: "/api/apps",
  summary: "Ask an app for its functions and register them",
  tag: "apps",
  body: {
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .describe("Its serve URL"),
  },
  answer: z.object({
    modified: z.boolean().describe("False when its functions were registered already"),
    app: appItem.nullable().describe("Null when it registered by itself, under a URL of its own choosing"),
  }),
  handle: async ({ body, env, engine, world, signal, audit }) => {
    const { app, modified } = await syncApp(world, env, body.url, { signal });
    if (modified) await audit("add-app", body.url);
    const added = app === null ? undefined : (await world.apps.list(env)).find((each) => each.app === app);
    return { modified, app: added === undefined ? null : { ...added, app: engine.registry.appName(added.app) } };
  },
});
