// Idem's own API, for the dashboard, tools and clients elsewhere, and what the server says of itself.
import type { Route } from "../route.ts";
import { addWebhook } from "./api/add-webhook.ts";
import { addApp, listApps } from "./api/apps.ts";
import { makeBackup, readBackup } from "./api/back-up.ts";
import { listBulk, readBulk, startBulk, stopBulk } from "./api/bulk.ts";
import { cancelRun } from "./api/cancel-run.ts";
import { addWebhookSecret, dropWebhookSecret } from "./api/change-webhook-secrets.ts";
import { checkHealth, checkLife } from "./api/check-health.ts";
import { dropEvent, releaseEvent } from "./api/decide-event.ts";
import { examineStore } from "./api/examine-store.ts";
import { explainError } from "./api/explain-error.ts";
import { explainSubject } from "./api/explain-subject.ts";
import { exportAlert } from "./api/export-alert.ts";
import { followLive } from "./api/follow-live.ts";
import { invokeFunction } from "./api/invoke-function.ts";
import { acknowledgeAlert, closeAlert, muteAlert } from "./api/judge-alert.ts";
import { endLimit, raiseLimit } from "./api/limit-function.ts";
import { listAlerts } from "./api/list-alerts.ts";
import { listAskers } from "./api/list-askers.ts";
import { listAudit } from "./api/list-audit.ts";
import { listDecisions } from "./api/list-decisions.ts";
import { listEventTypes } from "./api/list-event-types.ts";
import { listEvents } from "./api/list-events.ts";
import { listFunctions } from "./api/list-functions.ts";
import { listGroups } from "./api/list-groups.ts";
import { listKeys } from "./api/list-keys.ts";
import { listRunEffects } from "./api/list-run-effects.ts";
import { listRuns } from "./api/list-runs.ts";
import { listWebhooks } from "./api/list-webhooks.ts";
import { listWorkers } from "./api/list-workers.ts";
import { pauseFunction, resumeFunction } from "./api/pause-function.ts";
import { previewRule } from "./api/preview-rule.ts";
import { countHistory, pruneHistory } from "./api/prune.ts";
import { publishVerdicts } from "./api/publish-verdicts.ts";
import { listChannels, putChannel, removeChannel, testChannel } from "./api/radar-channels.ts";
import { listRules, putRule, removeRule } from "./api/radar-rules.ts";
import { readAlert } from "./api/read-alert.ts";
import { readEvent } from "./api/read-event.ts";
import { readEventData } from "./api/read-event-data.ts";
import { readFunction } from "./api/read-function.ts";
import { readFunctionCharts } from "./api/read-function-charts.ts";
import { readKey } from "./api/read-key.ts";
import { readLine } from "./api/read-line.ts";
import { readMetrics } from "./api/read-metrics.ts";
import { readOverview } from "./api/read-overview.ts";
import { readRun } from "./api/read-run.ts";
import { readRunGroup } from "./api/read-run-group.ts";
import { readRunHistory } from "./api/read-run-history.ts";
import { readRunInput } from "./api/read-run-input.ts";
import { readRunLogs } from "./api/read-run-logs.ts";
import { readRunOutput } from "./api/read-run-output.ts";
import { readStatus } from "./api/read-status.ts";
import { readStepInput } from "./api/read-step-input.ts";
import { readStepOutput } from "./api/read-step-output.ts";
import { readStore } from "./api/read-store.ts";
import { readSuggestion, refuseSuggestion, restoreSuggestion } from "./api/read-suggestion.ts";
import { readTotals } from "./api/read-totals.ts";
import { readWebhook } from "./api/read-webhook.ts";
import { releaseKey } from "./api/release-key.ts";
import { releaseRun } from "./api/release-run.ts";
import { removeWebhook } from "./api/remove-webhook.ts";
import { previewRerun, rerunRun } from "./api/rerun-run.ts";
import { resolveEffect } from "./api/resolve-effect.ts";
import { search } from "./api/search.ts";
import { listSearchFields, putSearchFields, removeSearchFields } from "./api/search-fields.ts";
import { sendEvents } from "./api/send-events.ts";
import { sendSignal } from "./api/send-signal.ts";
import { readSession, signIn, signOut } from "./api/session.ts";
import { speakMcp } from "./api/speak-mcp.ts";
import { listViews, putView, removeView } from "./api/views.ts";

export const apiRoutes = [
  // -- apps
  addApp,
  listApps,
  // -- the audit
  listAudit,
  // -- work on many runs at once
  listBulk,
  startBulk,
  readBulk,
  stopBulk,
  // -- events and what became of them
  listDecisions,
  listEventTypes,
  listEvents,
  search,
  listSearchFields,
  putSearchFields,
  removeSearchFields,
  sendEvents,
  readEvent,
  readEventData,
  releaseEvent,
  dropEvent,
  sendSignal,
  // -- agents and editors
  speakMcp,
  // -- the command line elsewhere
  readStore,
  examineStore,
  makeBackup,
  readBackup,
  pruneHistory,
  countHistory,
  // -- why
  explainSubject,
  // -- functions
  listFunctions,
  readFunction,
  readFunctionCharts,
  invokeFunction,
  pauseFunction,
  resumeFunction,
  raiseLimit,
  endLimit,
  publishVerdicts,
  // -- keys, and runs by key
  listGroups,
  listAskers,
  readOverview,
  readLine,
  listWorkers,
  readTotals,
  listKeys,
  readKey,
  releaseKey,
  resolveEffect,
  // -- runs
  listRuns,
  readRun,
  cancelRun,
  readRunLogs,
  readRunHistory,
  readRunInput,
  readRunOutput,
  listRunEffects,
  readRunGroup,
  releaseRun,
  rerunRun,
  previewRerun,
  readStepInput,
  readStepOutput,
  // -- the radar
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
  // -- saved views
  listViews,
  putView,
  removeView,
  // -- webhooks
  listWebhooks,
  addWebhook,
  readWebhook,
  addWebhookSecret,
  dropWebhookSecret,
  removeWebhook,
  // -- who asks, and what is new
  signIn,
  readSession,
  signOut,
  followLive,
  // -- the server itself
  readStatus,
  checkHealth,
  checkLife,
  explainError,
  readMetrics,
] as const satisfies readonly Route[];
