// POST /v1/checkpoint: an app's HTTP handler has begun a run and says what it did so far.
import { functionUuid } from "../../../model/function-uuid.ts";
import { readEndpointStart } from "../../../protocol/endpoint-request.ts";
import { endpointLimits } from "../../endpoints/limits.ts";
import { mintRealtimeToken } from "../../realtime/realtime-token.ts";
import { json, type Route } from "../../route.ts";

export const startEndpointRun: Route = {
  method: "POST",
  path: "/v1/checkpoint",
  access: "signing-key",
  bodyBytesMax: endpointLimits.reportBytesMax,
  errors: "wire",
  async handle(request, { endpoints, tokens, platform }) {
    const { env } = request;
    const start = readEndpointStart(request.json(), platform.wallMs());
    const { fn } = await endpoints.start(env, start);
    const { runId, call } = start;
    const lifeMs = endpointLimits.tokenLifeMs;
    return json({
      data: {
        fn_id: functionUuid(env, fn),
        app_id: functionUuid(env, call.domain),
        run_id: runId,
        token: tokens.mint(env, "run-output", { run: runId }, lifeMs),
        // The run speaks to its caller on a channel of the run's name.
        realtime_token: mintRealtimeToken(tokens, env, { topics: [{ channel: runId, topic: runId }], runId, lifeMs }),
      },
    });
  },
};
