// Rotating a source's secret: a second one is added, both are accepted, and once the provider signs with the new one the old is dropped.
import { z } from "zod";
import { chooseSecret, shownSource, withoutOldSecret, withSecret } from "../../../toolkit/webhooks/source-setting.ts";
import { apiRoute } from "../../api/api-route.ts";
import { findSource, sourceItem, sourceItemOf, writeSource } from "../../webhooks/source-shape.ts";
import { secretField } from "./add-webhook.ts";

export const addWebhookSecret = apiRoute({
  method: "POST",
  path: "/api/webhooks/:name/secrets",
  summary: "Add a secret to a source; the one before is accepted too, until it is dropped",
  tag: "webhooks",
  body: { secret: secretField.optional() },
  answer: z.object({
    source: sourceItem,
    secret: z.string().nullable().describe("Shown this once, where it was made here"),
  }),
  handle: async ({ params, body, engine, env, now, world, actor }) => {
    const { setting, value } = await findSource(engine.store, env, params.name!);
    const { secret, made } = chooseSecret(value.config.provider, body.secret, (n) => world.platform.randomBytes(n));
    const changed = withSecret(value, secret, now);
    const write = {
      name: setting.name,
      over: setting.version,
      value: changed,
      reason: "a secret was added",
      actor: actor.name,
    };
    await writeSource(engine.store, env, write);
    return { source: sourceItemOf(world, env, shownSource(setting.name, changed)), secret: made };
  },
});

export const dropWebhookSecret = apiRoute({
  method: "DELETE",
  path: "/api/webhooks/:name/secrets/old",
  summary: "Drop a source's older secret",
  tag: "webhooks",
  answer: z.object({ source: sourceItem }),
  handle: async ({ params, engine, env, world, actor }) => {
    const { setting, value } = await findSource(engine.store, env, params.name!);
    const changed = withoutOldSecret(value);
    const write = {
      name: setting.name,
      over: setting.version,
      value: changed,
      reason: "the older secret was dropped",
      actor: actor.name,
    };
    await writeSource(engine.store, env, write);
    return { source: sourceItemOf(world, env, shownSource(setting.name, changed)) };
  },
});
