// POST /v1/checkpoint/:runId/async: steps an app has run, safe before it goes on (docs/reference/wire.md#checkpoints).
import { errors } from "../../../model/errors.ts";
import { isJsonObject } from "../../../model/json.ts";
import { generationOf } from "../../../protocol/call-request.ts";
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
    const body = request.json();
    if (!isJsonObject(body) || !Array.isArray(body.steps)) {
      throw errors.BODY_INVALID({ why: "a checkpoint holds a list of steps" });
    }
    const from = {
      generation: generationOf(body),
      requestId: typeof body.request_id === "string" && body.request_id !== "" ? body.request_id : null,
    };
    const engine = await world.engine(request.env);
    await engine.checkpoint(request.params.runId!, from, readOps(body.steps));
    return json({ status: 200 });
  },
};
