// A call in the words of the wire.
import type { RemoteCall } from "../../execute/remote.ts";
import { executorRequest } from "../../protocol/connect-messages.ts";

const utf8 = new TextEncoder();

export function encodeCall(env: string, app: string, call: RemoteCall, leaseId: string): Uint8Array {
  // Must be JSON, or the worker fails to read the call; the SDK takes both fields or neither.
  const trace = utf8.encode(JSON.stringify({ traceparent: call.traceparent, tracestate: "" }));
  return executorRequest.encode({
    requestId: call.requestId,
    // Ids of things that have no others here; workers only repeat them.
    accountId: env,
    envId: env,
    appId: app,
    functionId: call.fn,
    appName: app,
    functionSlug: call.fn,
    stepId: call.stepId,
    requestPayload: utf8.encode(call.body),
    systemTraceCtx: trace,
    userTraceCtx: trace,
    runId: call.runId,
    leaseId,
    jobId: call.jobId,
  });
}
