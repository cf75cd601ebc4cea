// Waits an app asks for, as the store keeps them (docs/reference/wire.md#waits).
import { destinationKey } from "../dedup/destination-key.ts";
import { durationMsMax, parseDuration, parseInstant } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { anyEvent } from "../model/expression-equality.ts";
import { noValue, type Outcome } from "../model/step.ts";
import { serializeError } from "../model/user-errors.ts";
import type { WireOp } from "../protocol/wire-ops.ts";
import { askedForSignal, askedToInvoke, askedToSleep, askedToWait } from "./asked-for.ts";
import type { RemoteRun } from "./call-remote.ts";
import { type PlannedWait, planCondition } from "./ports.ts";

export type WaitOp = Extract<WireOp, { op: "sleep" | "wait-for-event" | "wait-for-signal" | "invoke" }>;

export function planWait(op: WaitOp, run: Pick<RemoteRun, "ports" | "destination" | "limits">): PlannedWait {
  const { ports, destination, limits } = run;
  const { stepId, name, repeat } = op;
  const base = { stepId, name, repeat };
  const now = ports.now();
  switch (op.op) {
    case "sleep": {
      const timeoutAt = timeOf(op.until, name, now);
      const input = askedToSleep(timeoutAt);
      return {
        kind: "ready",
        wait: { ...base, kind: "time", stepKind: "sleep", timeoutAt, onTimeout: noValue, input },
      };
    }
    case "wait-for-event": {
      const timeoutAt = timeOf(op.timeout, name, now);
      return {
        kind: "ready",
        wait: {
          ...base,
          kind: "event",
          stepKind: "wait-for-event",
          timeoutAt,
          onTimeout: noValue,
          input: askedToWait(op, timeoutAt),
          eventName: op.event,
          ...(op.if === null ? anyEvent : planCondition(op.if, ports)),
        },
      };
    }
    case "wait-for-signal": {
      const timeoutAt = timeOf(op.timeout, name, now);
      return {
        kind: "ready",
        wait: {
          ...base,
          kind: "signal",
          stepKind: "wait-for-signal",
          timeoutAt,
          onTimeout: noValue,
          input: askedForSignal(op.signal, timeoutAt),
          signal: op.signal,
          onTaken: op.replaces ? "replace" : failure(errors.SIGNAL_TAKEN({ signal: op.signal })),
        },
      };
    }
    case "invoke": {
      const timeoutAt = op.timeout === null ? now + limits.invokeTimeoutMs : timeOf(op.timeout, name, now);
      const event = ports.acceptInvoked({ ...op, step: base, timeoutAt });
      const timedOut = errors.INVOKE_TIMED_OUT({ step: name, function: op.function });
      return {
        kind: "invoke",
        wait: {
          ...base,
          kind: "run",
          stepKind: "invoke",
          timeoutAt,
          // The name SDKs know it by.
          onTimeout: failure(Object.assign(new Error(timedOut.message), { name: "InngestInvokeTimeoutError" })),
          input: askedToInvoke(op.function, event),
        },
        invoke: {
          function: op.function,
          event,
          stepKey: destinationKey(destination, name, repeat),
          runId: ports.newId(),
        },
      };
    }
  }
}

/** A duration or an instant; nothing, and what is past, is now. */
function timeOf(text: string, step: string, now: number): number {
  if (text === "") return now;
  const where = `step "${step}"`;
  const at = /^\d{4}-\d\d/.test(text) ? parseInstant(text, where) : now + parseDuration(text, where);
  if (at - now > durationMsMax) {
    throw errors.STEP_INVALID({ step, why: "it would wait longer than the 366 days allowed" });
  }
  return Math.max(at, now);
}

const failure = (error: Error): Outcome => ({ kind: "error", json: serializeError(error) });
