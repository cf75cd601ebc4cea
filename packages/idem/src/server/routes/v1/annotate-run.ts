// POST /v1/runs/:runId/metadata: what an app says about a run or a step, scores among it (docs/reference/wire.md#metadata).
import { errors } from "../../../model/errors.ts";
import { readMetadataRequest } from "../../../protocol/wire-metadata.ts";
import { metadataBytesMax } from "../../../store/metadata.ts";
import { json, type Route } from "../../route.ts";

export const annotateRun: Route = {
  method: "POST",
  path: "/v1/runs/:runId/metadata",
  access: "signing-key",
  bodyBytesMax: metadataBytesMax,
  errors: "wire",
  async handle(request, world) {
    const { env } = request;
    const runId = request.params.runId!;
    const changes = readMetadataRequest(request.json(), runId);
    const { store } = await world.engine(env);
    const answer = await store.annotate({ env, runId, changes });
    if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId });
    if (answer.kind === "too-large") throw errors.METADATA_TOO_LARGE({ runId, bytes: answer.bytes, max: answer.max });
    return json({ data: { run_id: runId } });
  },
};
