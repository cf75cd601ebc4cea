// Common to the modes: describing a route, reading its request, and answering duplicates.

import { errors } from "../../../model/errors.ts";
import type { KnownOptions } from "../../../model/known-options.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { ReadRequest, RouteOptions } from "../begin.ts";
import { problemResponse } from "../problems.ts";
import { replayResponse } from "../replay.ts";
import type { RouteSettings } from "../route-settings.ts";
import type { Told } from "./look-key.ts";
import type { WithinLimits } from "./within.ts";

/** The part of `idempotency(…)` that a mode uses. */
export interface KeyReader {
  readonly platform: Platform;
  readonly isSealed?: boolean;
  read(request: Request, route: RouteOptions, native?: unknown): Promise<ReadRequest>;
}

/** A route without the choices that its mode has made. */
export type ModeOptions = Pick<
  RouteOptions,
  | "required"
  | "methods"
  | "scope"
  | "window"
  | "replayHeaders"
  | "responseBytesMax"
  | "requestBytesMax"
  | "key"
  | "fingerprint"
  | "onAnswer"
>;

/** Every option that all modes have. */
export const modeOptions = {
  required: true,
  methods: true,
  scope: true,
  window: true,
  replayHeaders: true,
  responseBytesMax: true,
  requestBytesMax: true,
  key: true,
  fingerprint: true,
  onAnswer: true,
} as const satisfies KnownOptions<ModeOptions>;

/** A seal may have to be awaited, and a transaction of SQLite cannot: better no answer than one that lies open where it was to be sealed. */
export function refuseSeal({ isSealed }: KeyReader, call: string): void {
  if (isSealed !== true) return;
  throw errors.TOOLKIT_OPTION_INVALID({
    call,
    option: "seal",
    why: "this mode keeps responses as they are; answer with a reference instead of a secret, or use idempotency(…).handler",
  });
}

export const limitsOf = ({ windowMs, responseBytesMax, replayHeaders }: RouteSettings): WithinLimits => ({
  windowMs,
  bytesMax: responseBytesMax,
  replayHeaders,
});

/** The answer to everybody but the first. */
export function toldResponse(told: Told): Response {
  switch (told.kind) {
    case "duplicate": {
      const { outcome, completedAt } = told;
      if (outcome.kind === "response") return replayResponse(outcome, told);
      const extra = { original_status: outcome.status, completed_at: new Date(completedAt).toISOString() };
      return problemResponse("response-gone", { extra });
    }
    case "mismatch":
      return problemResponse("key-reused");
    case "parked":
      return problemResponse("outcome-unknown");
    case "in-flight":
      return problemResponse("in-flight", { retryAfterMs: told.leaseLeftMs });
  }
}

/** `onAnswer` sees every answer that is not the handler's own; what `read` answers, it has seen there. */
export function seen(response: Response, request: Request, { onAnswer }: RouteOptions): Response {
  if (response.headers.get("idempotency-status") !== "executed") onAnswer?.(response.headers, request);
  return response;
}

/** The whole body, or null when it has more bytes than that. The request itself is still to be read. */
export async function bytesOf(request: Request, bytesMax: number): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array();
  const reader = request.clone().body!.getReader();
  const parts: Uint8Array[] = [];
  for (let length = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(Buffer.concat(parts));
    length += value.length;
    parts.push(value);
    if (length > bytesMax) return null;
  }
}
