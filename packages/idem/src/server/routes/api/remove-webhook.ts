// DELETE /api/webhooks/:name: a source is removed; the events it received stay. Its provider gets 404 from now on.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";
import { findSetting, writeSource } from "../../webhooks/source-shape.ts";

export const removeWebhook = apiRoute({
  method: "DELETE",
  path: "/api/webhooks/:name",
  summary: "Remove a source of webhooks; what it received stays",
  tag: "webhooks",
  body: { reason: reasonField.describe("Why; kept in the audit") },
  answer: z.object({ removed: z.string() }),
  handle: async ({ params, body, engine, env, actor }) => {
    const setting = await findSetting(engine.store, env, params.name!);
    const write = { name: setting.name, over: setting.version, value: null, reason: body.reason, actor: actor.name };
    await writeSource(engine.store, env, write);
    return { removed: setting.name };
  },
});
