// DELETE /api/webhooks/:name: a source is removed; the events it received stay. Its provider gets 404 from now on, and the names of its events
// are free again.
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";
import { appSourceKind } from "../../webhooks/reserved-names.ts";
import { findSetting, writeSource } from "../../webhooks/source-shape.ts";

export const removeWebhook = apiRoute({
  method: "DELETE",
  path: "/api/webhooks/:name",
  summary: "Remove a source of webhooks; what it received stays",
  tag: "webhooks",
  body: { reason: reasonField.describe("Why; kept in the audit") },
  answer: z.object({ removed: z.string() }),
  handle: async ({ params, body, engine, env, actor, world }) => {
    const name = params.name!;
    const { store } = engine;
    const by = { value: null, reason: body.reason, actor: actor.name };
    // Of a receiver in an app the store has the reservation alone.
    const reservation = (await store.reads.settings(env, appSourceKind)).find((each) => each.name === name);
    if (reservation === undefined) {
      const { version } = await findSetting(store, env, name);
      await writeSource(store, env, { ...by, name, over: version });
    } else {
      await store.set({ ...by, env, kind: appSourceKind, name, over: null });
    }
    world.reservedNames.changed(env);
    return { removed: name };
  },
});
