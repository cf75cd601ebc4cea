// The whole API on one screen. The router, the OpenAPI document and the fuzz test read this table.
import { connectWorkers } from "./connect/connect-workers.ts";
import { dashboardRoutes } from "./dashboard/serve-dashboard.ts";
import { connectRealtime } from "./realtime/connect-realtime.ts";
import type { Route, SocketRoute } from "./route.ts";
import { acceptEvents } from "./routes/accept-events.ts";
import { addApp } from "./routes/add-app.ts";
import { addWebhook } from "./routes/add-webhook.ts";
import { cancelBulk } from "./routes/cancel-bulk.ts";
import { cancelRun } from "./routes/cancel-run.ts";
import { addWebhookSecret, dropWebhookSecret } from "./routes/change-webhook-secrets.ts";
import { checkHealth } from "./routes/check-health.ts";
import { checkLife } from "./routes/check-life.ts";
import { checkpointRun } from "./routes/checkpoint-run.ts";
import { createCancellation } from "./routes/create-cancellation.ts";
import { createRealtimeToken } from "./routes/create-realtime-token.ts";
import { deleteCancellation } from "./routes/delete-cancellation.ts";
import { deleteRun } from "./routes/delete-run.ts";
import { describeDevServer } from "./routes/describe-dev-server.ts";
import { dropEvent } from "./routes/drop-event.ts";
import { explainError } from "./routes/explain-error.ts";
import { explainSubject } from "./routes/explain-subject.ts";
import { exportAlert } from "./routes/export-alert.ts";
import { fetchAppFunctions } from "./routes/fetch-app-functions.ts";
import { fetchCancellations } from "./routes/fetch-cancellations.ts";
import { fetchEvent } from "./routes/fetch-event.ts";
import { fetchEventRuns } from "./routes/fetch-event-runs.ts";
import { fetchEvents } from "./routes/fetch-events.ts";
import { fetchRun } from "./routes/fetch-run.ts";
import { fetchRunJobs } from "./routes/fetch-run-jobs.ts";
import { flushReply } from "./routes/flush-reply.ts";
import { followLive } from "./routes/follow-live.ts";
import { followRealtime } from "./routes/follow-realtime.ts";
import { invokeByHand } from "./routes/invoke-by-hand.ts";
import { invokeFunction } from "./routes/invoke-function.ts";
import { acknowledgeAlert, closeAlert, muteAlert } from "./routes/judge-alert.ts";
import { listAlerts } from "./routes/list-alerts.ts";
import { listApps } from "./routes/list-apps.ts";
import { listAskers } from "./routes/list-askers.ts";
import { listAudit } from "./routes/list-audit.ts";
import { listBulk } from "./routes/list-bulk.ts";
import { listDecisions } from "./routes/list-decisions.ts";
import { listEventTypes } from "./routes/list-event-types.ts";
import { listEvents } from "./routes/list-events.ts";
import { listFunctions } from "./routes/list-functions.ts";
import { listGroups } from "./routes/list-groups.ts";
import { listKeys } from "./routes/list-keys.ts";
import { listRunEffects } from "./routes/list-run-effects.ts";
import { listRuns } from "./routes/list-runs.ts";
import { listWebhooks } from "./routes/list-webhooks.ts";
import { pauseFunction } from "./routes/pause-function.ts";
import { previewRule } from "./routes/preview-rule.ts";
import { publishRealtime } from "./routes/publish-realtime.ts";
import { listChannels, putChannel, removeChannel, testChannel } from "./routes/radar-channels.ts";
import { listRules, putRule, removeRule } from "./routes/radar-rules.ts";
import { raiseSignal } from "./routes/raise-signal.ts";
import { readAlert } from "./routes/read-alert.ts";
import { readBulk } from "./routes/read-bulk.ts";
import { readCheckpointOutput, readEndpointOutput } from "./routes/read-endpoint-output.ts";
import { readEvent } from "./routes/read-event.ts";
import { readEventData } from "./routes/read-event-data.ts";
import { readFunction } from "./routes/read-function.ts";
import { readFunctionCharts } from "./routes/read-function-charts.ts";
import { readKey } from "./routes/read-key.ts";
import { readMetrics } from "./routes/read-metrics.ts";
import { readOpenapi } from "./routes/read-openapi.ts";
import { readRun } from "./routes/read-run.ts";
import { readRunGroup } from "./routes/read-run-group.ts";
import { readRunOutput } from "./routes/read-run-output.ts";
import { readRunActions, readRunEvents } from "./routes/read-run-state.ts";
import { readSession } from "./routes/read-session.ts";
import { readStatus } from "./routes/read-status.ts";
import { readStepInput } from "./routes/read-step-input.ts";
import { readStepOutput } from "./routes/read-step-output.ts";
import { readSuggestion, refuseSuggestion, restoreSuggestion } from "./routes/read-suggestion.ts";
import { readTotals } from "./routes/read-totals.ts";
import { readWebhook } from "./routes/read-webhook.ts";
import { receiveWebhook, receiveWebhookIn } from "./routes/receive-webhook.ts";
import { registerApp } from "./routes/register-app.ts";
import { releaseEvent } from "./routes/release-event.ts";
import { releaseKey } from "./routes/release-key.ts";
import { releaseRun } from "./routes/release-run.ts";
import { removeWebhook } from "./routes/remove-webhook.ts";
import { reportEndpointSteps } from "./routes/report-endpoint-steps.ts";
import { rerunRun } from "./routes/rerun-run.ts";
import { resumeFunction } from "./routes/resume-function.ts";
import { sendEvents } from "./routes/send-events.ts";
import { sendSignal } from "./routes/send-signal.ts";
import { signIn } from "./routes/sign-in.ts";
import { signOut } from "./routes/sign-out.ts";
import { startBulk } from "./routes/start-bulk.ts";
import { startConnection } from "./routes/start-connection.ts";
import { startEndpointRun } from "./routes/start-endpoint-run.ts";
import { teeRealtime } from "./routes/tee-realtime.ts";
import { tellStoryOf } from "./routes/tell-story.ts";

export const routes: readonly Route[] = [
  // -- events, from whoever has an event key
  acceptEvents,
  invokeFunction,
  sendSignal,
  // -- webhooks, from whoever can sign them
  receiveWebhook,
  receiveWebhookIn,
  // -- apps
  describeDevServer,
  registerApp,
  // -- runs, as the SDK reports and reads them
  checkpointRun,
  readRunActions,
  readRunEvents,
  // -- durable endpoints
  readEndpointOutput,
  readCheckpointOutput,
  reportEndpointSteps,
  startEndpointRun,
  // -- workers that connect
  flushReply,
  startConnection,
  // -- realtime
  createRealtimeToken,
  followRealtime,
  publishRealtime,
  teeRealtime,
  // -- events and runs, as users of Inngest read them (wire page §18)
  createCancellation,
  deleteCancellation,
  deleteRun,
  fetchAppFunctions,
  fetchCancellations,
  fetchEventRuns,
  fetchEvent,
  fetchEvents,
  fetchRunJobs,
  fetchRun,
  // -- Idem's own, for tools and the dashboard
  addApp,
  listApps,
  listAudit,
  listBulk,
  startBulk,
  readBulk,
  cancelBulk,
  listDecisions,
  listEventTypes,
  listEvents,
  sendEvents,
  readEvent,
  readEventData,
  releaseEvent,
  dropEvent,
  explainSubject,
  tellStoryOf,
  listFunctions,
  readFunction,
  readFunctionCharts,
  invokeByHand,
  pauseFunction,
  resumeFunction,
  listGroups,
  listAskers,
  readTotals,
  followLive,
  listKeys,
  readKey,
  releaseKey,
  listRuns,
  readRun,
  cancelRun,
  readRunOutput,
  listRunEffects,
  readRunGroup,
  releaseRun,
  rerunRun,
  readStepInput,
  readStepOutput,
  raiseSignal,
  signIn,
  readSession,
  signOut,
  readStatus,
  listAlerts,
  readAlert,
  exportAlert,
  acknowledgeAlert,
  muteAlert,
  closeAlert,
  readSuggestion,
  refuseSuggestion,
  restoreSuggestion,
  previewRule,
  listRules,
  putRule,
  removeRule,
  listChannels,
  putChannel,
  removeChannel,
  testChannel,
  listWebhooks,
  addWebhook,
  readWebhook,
  addWebhookSecret,
  dropWebhookSecret,
  removeWebhook,
  // -- the pages of the dashboard
  ...dashboardRoutes,
  // -- the server itself
  checkHealth,
  checkLife,
  explainError,
  readMetrics,
  readOpenapi(() => routes),
];

export const sockets: readonly SocketRoute[] = [connectWorkers, connectRealtime];
