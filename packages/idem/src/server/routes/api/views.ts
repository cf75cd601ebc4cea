// /api/views: lists as people want to come back to them, by a name, for everyone of the environment: what a page's address says, and nothing of
// what it shows. Kept as settings, so the audit knows who keeps and who removes them.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import type { Store } from "../../../store/store.ts";
import { apiRoute } from "../../api/api-route.ts";

const tag = "views";
const kind = "view";
// A menu of them is read by people; an address is cut at two thousand characters by some of those who send it on.
const viewsMax = 100;
const nameCharsMax = 60;
const queryCharsMax = 2_000;

const viewItem = z.object({
  name: z.string(),
  page: z.enum(["runs", "events"]),
  query: z.string().describe("What stands behind `?` in the page's address: filters, order and columns"),
});
type View = z.infer<typeof viewItem>;

const viewsIn = async (store: Store, env: string): Promise<View[]> =>
  (await store.reads.settings(env, kind)).map(({ name, value }) => ({ ...(JSON.parse(value) as View), name }));

export const listViews = apiRoute({
  method: "GET",
  path: "/api/views",
  summary: "List the saved views of the pages of runs and events",
  tag,
  answer: z.object({ views: z.array(viewItem).describe("By name") }),
  handle: async ({ engine, env }) => ({ views: await viewsIn(engine.store, env) }),
});

export const putView = apiRoute({
  method: "PUT",
  path: "/api/views/:view",
  summary: "Save a view under its name, or another one in its place",
  tag,
  body: { page: viewItem.shape.page, query: z.string().max(queryCharsMax) },
  answer: z.object({ view: viewItem }),
  handle: async ({ params, body, engine, env, actor }) => {
    const name = params.view!.trim();
    // Said here, because the name stands in the path.
    if (name === "" || name.length > nameCharsMax || /\p{C}/u.test(name))
      throw errors.REQUEST_INVALID({ why: `a view's name is 1 to ${nameCharsMax} characters that can be read` });
    const views = await viewsIn(engine.store, env);
    if (views.length >= viewsMax && !views.some((view) => view.name === name))
      throw errors.REQUEST_INVALID({ why: `there are ${viewsMax} views, which is the most an environment can have` });
    const value = { page: body.page, query: body.query };
    const reason = `saved: ${body.page}${body.query === "" ? "" : `?${body.query}`}`;
    const setting = { env, kind, name, value: JSON.stringify(value), over: null, reason, actor: actor.name };
    await engine.store.set(setting);
    return { view: { name, ...value } };
  },
});

export const removeView = apiRoute({
  method: "DELETE",
  path: "/api/views/:view",
  summary: "Remove a saved view",
  tag,
  answer: z.object({ removed: z.string() }),
  handle: async ({ params, engine, env, actor }) => {
    const name = params.view!.trim();
    const setting = { env, kind, name, value: null, over: null, reason: "removed", actor: actor.name };
    await engine.store.set(setting);
    return { removed: name };
  },
});
