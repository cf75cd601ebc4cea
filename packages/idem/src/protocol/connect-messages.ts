// Messages between workers that connect and the gateway (docs/reference/wire.md#workers-that-connect): binary frames, each an envelope with a
// kind and a message of that kind. Only here do the wire's words stand; where it says "request", we say "call".
import {
  bool,
  bytes,
  int32,
  int64,
  list,
  type MessageValue,
  message,
  nested,
  optional,
  text,
  uint32,
} from "./protobuf-message.ts";

export const connectProtocol = "v0.connect.inngest.com";
export const protobufType = "application/protobuf";

export const frameKind = {
  gatewayHello: 0,
  workerConnect: 1,
  gatewayConnectionReady: 2,
  gatewayExecutorRequest: 3,
  workerReady: 4,
  workerRequestAck: 5,
  workerReply: 6,
  workerReplyAck: 7,
  workerPause: 8,
  workerHeartbeat: 9,
  gatewayHeartbeat: 10,
  gatewayClosing: 11,
  workerRequestExtendLease: 12,
  workerRequestExtendLeaseAck: 13,
  syncFailed: 14,
  workerStatus: 15,
} as const;

export const frame = message({ kind: int32(1), payload: bytes(2) });

export const startRequest = message({ excludeGateways: list(text(1)) });

export const startResponse = message({
  connectionId: text(1),
  gatewayEndpoint: text(2),
  gatewayGroup: text(3),
  sessionToken: text(4),
  syncToken: text(5),
});

const authData = message({ sessionToken: text(1), syncToken: text(2) });

const workerApp = message({
  appName: text(1),
  appVersion: optional(text(2)),
  /** JSON of the functions, as in a registration. */
  functions: bytes(4),
});
export type WorkerApp = MessageValue<typeof workerApp>;

const systemAttributes = message({ cpuCores: int32(1), memBytes: int64(2), os: text(3) });
const timestamp = message({ seconds: int64(1), nanos: int32(2) });

export const workerConnect = message({
  connectionId: text(1),
  /** The host's name unless the worker was given one: several workers may share it. */
  instanceId: text(2),
  authData: optional(nested(3, authData)),
  capabilities: bytes(4),
  apps: list(nested(5, workerApp)),
  workerManualReadinessAck: bool(6),
  systemAttributes: optional(nested(7, systemAttributes)),
  environment: optional(text(8)),
  framework: text(9),
  platform: optional(text(10)),
  sdkVersion: text(11),
  sdkLanguage: text(12),
  startedAt: optional(nested(13, timestamp)),
  maxWorkerConcurrency: optional(int64(14)),
});
export type WorkerConnect = MessageValue<typeof workerConnect>;

/** Durations as text: "10s". */
export const connectionReady = message({
  heartbeatInterval: text(1),
  extendLeaseInterval: text(2),
  statusInterval: text(3),
});

export const executorRequest = message({
  requestId: text(1),
  accountId: text(2),
  envId: text(3),
  appId: text(4),
  appName: text(5),
  functionId: text(6),
  functionSlug: text(7),
  stepId: optional(text(8)),
  requestPayload: bytes(9),
  systemTraceCtx: bytes(10),
  userTraceCtx: bytes(11),
  runId: text(12),
  leaseId: text(13),
  jobId: text(14),
});

export const requestAck = message({
  requestId: text(1),
  accountId: text(2),
  envId: text(3),
  appId: text(4),
  functionSlug: text(5),
  stepId: optional(text(6)),
  systemTraceCtx: bytes(7),
  userTraceCtx: bytes(8),
  runId: text(9),
});

export const extendLease = message({
  requestId: text(1),
  accountId: text(2),
  envId: text(3),
  appId: text(4),
  functionSlug: text(5),
  stepId: optional(text(6)),
  systemTraceCtx: bytes(7),
  userTraceCtx: bytes(8),
  runId: text(9),
  leaseId: text(10),
});
export type ExtendLease = MessageValue<typeof extendLease>;

export const extendLeaseAck = message({
  requestId: text(1),
  accountId: text(2),
  envId: text(3),
  appId: text(4),
  functionSlug: text(5),
  /** Without one the worker has to stop: the lease is no longer its own. */
  newLeaseId: optional(text(6)),
});

export const sdkStatus = { notCompleted: 0, done: 1, error: 2 } as const;

export const sdkResponse = message({
  requestId: text(1),
  accountId: text(2),
  envId: text(3),
  appId: text(4),
  status: int32(5),
  body: bytes(6),
  noRetry: bool(7),
  retryAfter: optional(text(8)),
  sdkVersion: text(9),
  requestVersion: uint32(10),
  systemTraceCtx: bytes(11),
  userTraceCtx: bytes(12),
  runId: text(13),
});
export type SdkResponse = MessageValue<typeof sdkResponse>;

export const replyAck = message({ requestId: text(1) });
export const flushResponse = message({ requestId: text(1) });

export const workerStatus = message({ inFlightRequestIds: list(text(1)), shutdownRequested: bool(2) });

/** A worker's answer in the terms of an HTTP one, which is how every other app answers (docs/reference/wire.md#an-answer). */
export function toHttpAnswer(response: SdkResponse): { status: number; headers: Record<string, string>; body: string } {
  return {
    status: statusOf(response),
    headers: {
      "x-inngest-sdk": response.sdkVersion,
      "x-inngest-req-version": String(response.requestVersion),
      "x-inngest-no-retry": String(response.noRetry),
      ...(response.retryAfter === null ? {} : { "retry-after": response.retryAfter }),
    },
    body: new TextDecoder().decode(response.body),
  };
}

function statusOf({ status, noRetry }: SdkResponse): number {
  if (status === sdkStatus.notCompleted) return 206;
  // A function that failed for good is sent as "done" by SDK 4.24: of its HTTP statuses only 200, 206 and 500 have a name here.
  if (noRetry) return 400;
  return status === sdkStatus.done ? 200 : 500;
}
