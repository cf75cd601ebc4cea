// POST /v1/checkpoint/:runId/steps: what an app's HTTP handler did next in the run it drives, or how it ended.
import { readEndpointReport } from "../../../protocol/endpoint-request.ts";
import { endpointLimits } from "../../endpoints/limits.ts";
import { json, type Route } from "../../route.ts";

export const reportEndpointSteps: Route = {
  method: "POST",
  path: "/v1/checkpoint/:runId/steps",
  access: "signing-key",
  bodyBytesMax: endpointLimits.reportBytesMax,
  errors: "wire",
  async handle(request, { endpoints }) {
    const report = readEndpointReport(request.json(), request.params.runId!);
    await endpoints.report(request.env, report);
    return json({ data: { run_id: report.runId } });
  },
};
