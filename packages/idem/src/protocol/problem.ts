// From an error's code to what HTTP says about it. The only place where a code gets a number.
// Two shapes, because two audiences read them: SDKs want `{ error, status }` (docs/reference/wire.md#paths), tools want RFC 9457.
import { type ErrorCode, errorTable, type IdemError } from "../model/errors.ts";

const statusByCode: Partial<Record<ErrorCode, number>> = {
  EVENT_TOO_LARGE: 413,
  METADATA_TOO_LARGE: 413,
  EVENT_BATCH_TOO_LARGE: 413,
  EVENT_NAME_RESERVED: 403,
  FUNCTION_UNKNOWN: 404,
  RUN_UNKNOWN: 404,
  SUBJECT_UNKNOWN: 404,
  KEY_UNKNOWN: 404,
  EFFECT_UNKNOWN: 404,
  EFFECT_NOT_OPEN: 409,
  OUTCOME_UNKNOWN: 409,
  BULK_UNKNOWN: 404,
  BULK_MISMATCH: 422,
  RUN_STEP_UNKNOWN: 404,
  RERUN_OTHER_KEY: 409,
  RUN_ENDED: 409,
  EVENT_NOT_WAITING: 409,
  // Routes meet these two in what an app reports, and there the report is the request.
  REPLY_INVALID: 400,
  REPLY_TOO_LARGE: 413,
  SIGNAL_TAKEN: 409,
  CHECKPOINT_STALE: 409,
  CALL_STALE: 409,
  APP_SYNC_FAILED: 502,
  RUN_EXISTS: 409,
  BODY_TOO_LARGE: 413,
  CONTENT_TYPE_UNSUPPORTED: 415,
  ENCODING_UNSUPPORTED: 415,
  ROUTE_UNKNOWN: 404,
  API_UNSUPPORTED: 404,
  ENV_UNKNOWN: 404,
  METHOD_UNSUPPORTED: 405,
  UNAUTHORIZED: 401,
  WORKERS_TOO_MANY: 429,
  SIGN_IN_REFUSED: 401,
  SIGN_IN_LIMITED: 429,
  EVENT_QUOTA_REACHED: 429,
  CSRF_REFUSED: 403,
  FORBIDDEN_ROLE: 403,
  ORIGIN_REFUSED: 403,
  APP_CALL_REFUSED: 403,
  DASHBOARD_CLOSED: 403,
  DASHBOARD_REFUSED: 403,
  SERVER_ONLY: 501,
  STORE_NOT_BESIDE: 501,
  COMMAND_FAILED: 502,
  BACKUP_NOT_HERE: 501,
  BACKUP_UNKNOWN: 404,
  BACKUP_OF_OTHERS: 403,
  SOURCE_UNKNOWN: 404,
  ALERT_UNKNOWN: 404,
  ALERT_CLOSED: 409,
  RULE_UNKNOWN: 404,
  RULE_KEPT: 409,
  CHANNEL_UNKNOWN: 404,
  SOURCE_TAKEN: 409,
  SOURCE_CHANGED: 409,
  TICK_IN_FLIGHT: 409,
  TICK_PARKED: 409,
  // The sender does nothing wrong, and shall try again.
  SECRET_KEY_MISSING: 503,
  SECRET_UNREADABLE: 503,
  STORE_BROKEN: 503,
  STORE_FILE_GONE: 503,
  SERVER_FAILED: 500,
};

/** A code that is not in the table follows from whether trying again helps: later, or only once the caller changed something. */
export function statusOf(code: ErrorCode): number {
  const given = statusByCode[code];
  if (given !== undefined) return given;
  return errorTable[code].retry === "later" ? 503 : 400;
}

/** RFC 9457. `type` leads to the server's own page about the code. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly next: string;
}

export const problemType = "application/problem+json";

export function problemOf(error: IdemError): Problem {
  const { code, facts, next } = error;
  return {
    type: `/docs/errors/${code}`,
    title: titleOf(code),
    status: statusOf(code),
    detail: errorTable[code].what(facts as never),
    code,
    next,
  };
}

export interface WireError {
  readonly error: string;
  readonly status: number;
  readonly code: ErrorCode;
}

export const wireErrorOf = (error: IdemError): WireError => ({
  error: error.message,
  status: statusOf(error.code),
  code: error.code,
});

const titleOf = (code: ErrorCode): string => {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
};
