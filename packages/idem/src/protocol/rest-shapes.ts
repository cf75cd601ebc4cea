// Answers of `/v1` to people and tools, in names of the wire (docs/reference/wire.md#reading). Our words for states become the wire's here.
import { type Event, publicEventId } from "../model/event.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { fromJson } from "../model/json.ts";
import type { Run } from "../model/run.ts";
import { readError } from "../model/user-errors.ts";
import { calledEvent } from "./invoked-event.ts";
import { writeFlow, writeTrigger } from "./wire-flow.ts";

// Accounts are a thing of the hosted service; tools only copy the field.
const noAccount = "00000000-0000-0000-0000-000000000000";

export type RestStatus = "Scheduled" | "Running" | "Completed" | "Failed" | "Cancelled" | "Skipped";

/** A run that sleeps or waits in line between two steps is running to its users; before its first step it is scheduled. */
export function restStatus({ state, startedAt }: Pick<Run, "state" | "startedAt">): RestStatus {
  switch (state) {
    case "completed":
      return "Completed";
    case "failed":
      return "Failed";
    case "cancelled":
      return "Cancelled";
    case "running":
      return "Running";
    case "queued":
    case "waiting":
    case "parked":
      return startedAt === null ? "Scheduled" : "Running";
  }
}

export interface RestEnvelope<Data> {
  readonly data: Data;
  readonly metadata: { readonly fetched_at: string; readonly cached_until: null };
}

export const restEnvelope = <Data>(data: Data, now: number): RestEnvelope<Data> => ({
  data,
  metadata: { fetched_at: instant(now), cached_until: null },
});

export function restEvent(event: Event, env: string): Record<string, unknown> {
  const { user, v } = event.extra === null ? {} : (fromJson(event.extra) as { user?: unknown; v?: unknown });
  return {
    internal_id: event.id,
    account_id: noAccount,
    environment_id: env,
    source: event.sourceRunId === null ? "api" : "run",
    source_id: event.sourceRunId,
    received_at: instant(event.receivedAt),
    id: publicEventId(event),
    name: event.name,
    data: calledEvent(event).data,
    ...(user === undefined ? {} : { user }),
    ts: event.ts,
    ...(v === undefined ? {} : { v }),
  };
}

export function restRun(run: Run, env: string) {
  return {
    run_id: run.id,
    run_started_at: instant(run.startedAt ?? run.createdAt),
    function_id: run.fn,
    function_version: 1,
    environment_id: env,
    event_id: run.eventId,
    ...(run.rerunOf === null ? {} : { original_run_id: run.rerunOf }),
    status: restStatus(run),
    ended_at: run.endedAt === null ? null : instant(run.endedAt),
    ...(run.result === null
      ? {}
      : { output: run.state === "completed" ? fromJson(run.result) : readError(run.result) }),
  };
}

/** The queue of a run: one piece of work while it is open, none afterwards. */
export function restJobs(run: Run): Record<string, unknown>[] {
  if (run.endedAt !== null) return [];
  return [
    {
      id: run.id,
      run_id: run.id,
      function_id: run.fn,
      status: run.state === "running" ? "Running" : "Scheduled",
      at: run.dueAt === null || run.dueAt >= Number.MAX_SAFE_INTEGER ? null : instant(run.dueAt),
    },
  ];
}

export function restFunction(
  fn: { readonly fn: string; readonly app: string; readonly config: FunctionConfig; readonly pausedAt: number | null },
  env: string,
): Record<string, unknown> {
  const { config } = fn;
  return {
    id: fn.fn,
    slug: fn.fn,
    function_id: config.id,
    app_id: fn.app,
    environment_id: env,
    name: config.name,
    triggers: config.triggers.map(writeTrigger),
    configuration: writeFlow(config),
    retries: config.retries,
    is_paused: fn.pausedAt !== null,
  };
}

export interface RestCancellation {
  readonly id: string;
  readonly app: string | null;
  readonly functionId: string | null;
  readonly startedAfter: number | null;
  readonly startedBefore: number | null;
  readonly if: string | null;
  readonly createdAt: number;
  readonly state: string;
  readonly cancelledCount: number;
}

export const restCancellation = (cancellation: RestCancellation, env: string): Record<string, unknown> => ({
  id: cancellation.id,
  environment_id: env,
  app_id: cancellation.app,
  function_id: cancellation.functionId,
  started_after: cancellation.startedAfter === null ? null : instant(cancellation.startedAfter),
  started_before: cancellation.startedBefore === null ? null : instant(cancellation.startedBefore),
  if: cancellation.if,
  created_at: instant(cancellation.createdAt),
  state: cancellation.state,
  cancelled: cancellation.cancelledCount,
});

const instant = (ms: number): string => new Date(ms).toISOString();
