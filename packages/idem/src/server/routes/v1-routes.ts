// /v1, as the official SDK (docs/reference/wire.md#paths) and its users (docs/reference/wire.md#reading) speak it.
import type { Route } from "../route.ts";
import { annotateRun } from "./v1/annotate-run.ts";
import { cancelRun } from "./v1/cancel-run.ts";
import { listCancellations, startCancellation, stopCancellation } from "./v1/cancellations.ts";
import { checkpointRun } from "./v1/checkpoint-run.ts";
import { createRealtimeToken } from "./v1/create-realtime-token.ts";
import { followRealtime } from "./v1/follow-realtime.ts";
import { listEventRuns } from "./v1/list-event-runs.ts";
import { listEvents } from "./v1/list-events.ts";
import { listFunctions } from "./v1/list-functions.ts";
import { listRunJobs } from "./v1/list-run-jobs.ts";
import { publishRealtime } from "./v1/publish-realtime.ts";
import { readCheckpointOutput, readEndpointOutput } from "./v1/read-endpoint-output.ts";
import { readEvent } from "./v1/read-event.ts";
import { readRun } from "./v1/read-run.ts";
import { reportEndpointSteps } from "./v1/report-endpoint-steps.ts";
import { sendSignal } from "./v1/send-signal.ts";
import { startEndpointRun } from "./v1/start-endpoint-run.ts";
import { teeRealtime } from "./v1/tee-realtime.ts";

export const v1Routes = [
  // -- runs, as the SDK reports them
  checkpointRun,
  annotateRun,
  sendSignal,
  // -- durable endpoints
  readEndpointOutput,
  readCheckpointOutput,
  reportEndpointSteps,
  startEndpointRun,
  // -- realtime
  createRealtimeToken,
  followRealtime,
  publishRealtime,
  teeRealtime,
  // -- events and runs, as users of Inngest read them
  listEvents,
  readEvent,
  listEventRuns,
  readRun,
  listRunJobs,
  cancelRun,
  listFunctions,
  listCancellations,
  startCancellation,
  stopCancellation,
] as const satisfies readonly Route[];
