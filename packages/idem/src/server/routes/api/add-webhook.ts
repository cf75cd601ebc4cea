// POST /api/webhooks: a source is made. A secret is given, or made here where the provider takes one; then it is shown this once.
import { z } from "zod";
import {
  chooseSecret,
  newSource,
  readSourceName,
  shownSource,
  sourceFields,
} from "../../../toolkit/webhooks/source-setting.ts";
import { apiRoute } from "../../api/api-route.ts";
import { sourceItem, sourceItemOf, writeSource } from "../../webhooks/source-shape.ts";

export const secretField = z.string().min(1).max(1_024);

export const addWebhook = apiRoute({
  method: "POST",
  path: "/api/webhooks",
  summary: "Make a source of webhooks, received at /w/<name>",
  tag: "webhooks",
  body: {
    name: z.string().min(1).max(64),
    ...sourceFields,
    secret: secretField.optional().describe("As the provider shows it; made here where the provider takes one of ours"),
  },
  answer: z.object({
    source: sourceItem,
    secret: z.string().nullable().describe("Shown this once: the one that was made here; null when it was given"),
  }),
  handle: async ({ body, engine, env, now, world, actor }) => {
    const { name, secret: given, ...config } = body;
    const source = readSourceName(name);
    const { secret, made } = chooseSecret(config.provider, given, (n) => world.platform.randomBytes(n));
    const value = newSource(config, secret, now);
    await writeSource(engine.store, env, {
      name: source,
      over: 0,
      value,
      reason: "made over the API",
      actor: actor.name,
    });
    world.reservedNames.changed(env);
    return { source: sourceItemOf(world, env, shownSource(source, value)), secret: made };
  },
});
