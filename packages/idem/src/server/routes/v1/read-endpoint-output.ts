// GET /v1/http/runs/:runId/output: where the caller of a durable endpoint is sent when its run goes on without it. Waits for
// the end and answers as the app's handler did: status, headers and body.
import { errors } from "../../../model/errors.ts";
import { endpointOutput } from "../../../protocol/endpoint-output.ts";
import { readRunId } from "../../../protocol/endpoint-request.ts";
import { endpointLimits } from "../../endpoints/limits.ts";
import type { Route, RouteAnswer, RouteRequest } from "../../route.ts";
import type { World } from "../../world.ts";

const outputAt = (path: string): Route => ({
  method: "GET",
  path,
  // The token in the query is the credential.
  access: "open",
  bodyBytesMax: null,
  waits: true,
  errors: "wire",
  handle: answerOutput,
});

export const readEndpointOutput = outputAt("/v1/http/runs/:runId/output");
/** Where the specification of SDKs has it. */
export const readCheckpointOutput = outputAt("/v1/checkpoint/:runId/output");

async function answerOutput(request: RouteRequest, world: World): Promise<RouteAnswer> {
  const runId = readRunId(request.params.runId);
  const engine = await world.engine(envOf(request, runId, world));
  const stop = new AbortController();
  const timer = world.platform.timer(endpointLimits.outputWaitMs, () => stop.abort(), { background: true });
  const { stopSignal } = world.endpoints;
  try {
    const end = await engine.ends.wait(runId, {
      signal: AbortSignal.any([request.signal, stop.signal, stopSignal]),
      lookAfterMs: endpointLimits.lookAfterMs,
    });
    const { status, headers, body } = endpointOutput(end);
    // Pages of the app must not act in the name of this server, whose address they would have.
    return { status, headers: { ...headers, "content-security-policy": "sandbox" }, body };
  } catch (error) {
    if (stopSignal.aborted) throw errors.SERVER_BUSY({ why: "it is stopping" });
    if (!stop.signal.aborted) throw error;
    // Still open: the caller asks again, as callers that follow redirects do by themselves.
    // Relative: a proxy may have this path under another.
    return { status: 302, headers: { location: `?${request.query}` }, body: null };
  } finally {
    timer.cancel();
  }
}

function envOf(request: RouteRequest, runId: string, { tokens, credentials }: World): string {
  const token = tokens.read(request.query.get("token"), "run-output");
  if (token !== null && token.claims.run === runId) return token.env;
  // Dev asks nobody; a token from before a restart is as good as any.
  if (!credentials.required) return request.env;
  throw errors.UNAUTHORIZED({ why: "its token is for another run, or has expired" });
}
