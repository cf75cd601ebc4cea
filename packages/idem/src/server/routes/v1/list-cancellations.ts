// GET /v1/cancellations: bulk cancels of the last days, newest first.
import { restCancellation } from "../../../protocol/rest-shapes.ts";
import { bulkOf } from "../../bulk-work.ts";
import { cancellationOf } from "../../cancellation.ts";
import { v1Route } from "../../v1-route.ts";

export const listCancellations = v1Route({
  method: "GET",
  path: "/v1/cancellations",
  handle: async ({ engine, env, world }) =>
    (await bulkOf(world).list(env))
      .filter(({ action }) => action === "cancel")
      .map((progress) => restCancellation(cancellationOf(progress, engine), env)),
});
