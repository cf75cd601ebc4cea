// POST /v1/checkpoint/:runId/async: steps an app has run, safe before it goes on (docs/reference/wire.md#checkpoints).
import { errors } from "../../../model/errors.ts";
import { readOps } from "../../../protocol/wire-ops.ts";
import { json, type Route } from "../../route.ts";

export const checkpointRun: Route = {
  method: "POST",
  path: "/v1/checkpoint/:runId/async",
  access: "signing-key",
  // A full buffer of steps, each as large as a step may be, is refused step by step and not by the socket.
  bodyBytesMax: 32 * 1024 * 1024,
  errors: "wire",
  async handle(request, world) {
    const body = request.json() as { steps?: unknown; generation_id?: unknown; request_id?: unknown } | null;
    if (typeof body !== "object" || body === null || !Array.isArray(body.steps)) {
      throw errors.BODY_INVALID({ why: "a checkpoint holds a list of steps" });
    }
    const from = {
      generation: typeof body.generation_id === "number" ? body.generation_id : null,
      requestId: typeof body.request_id === "string" && body.request_id !== "" ? body.request_id : null,
    };
    const engine = await world.engine(request.env);
    await engine.checkpoint(request.params.runId!, from, readOps(body.steps));
    return json({ status: 200 });
  },
};
