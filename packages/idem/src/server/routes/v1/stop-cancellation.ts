// DELETE /v1/cancellations/:cancellation: nothing more is cancelled; what is stays so.
import { bulkOf } from "../../bulk-work.ts";
import { v1Route } from "../../v1-route.ts";

export const stopCancellation = v1Route({
  method: "DELETE",
  path: "/v1/cancellations/:cancellation",
  handle: async ({ params, env, world, actor }) => {
    await bulkOf(world).cancel(env, params.cancellation!, { actor });
    return undefined;
  },
});
