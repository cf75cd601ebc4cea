// The options of step tools, and every word of them.
import { type Foreign, refuseUnknown } from "../model/known-options.ts";

export type TimeInput = string | number | Date | { readonly epochMilliseconds: number };

export interface InvokeTarget {
  readonly id: string;
}

export interface WaitForEventOptions {
  /** The name of the event that is waited for. */
  readonly event: string;
  /** The longest wait, or its end; then the answer is null. */
  readonly timeout: TimeInput;
  /** A path that must be equal in the run's own event and the arriving one: "data.orderId". */
  readonly match?: string;
  /** CEL over `event` (the run's own) and `async` (the arriving one). */
  readonly if?: string;
}

export interface WaitForSignalOptions {
  /** The signal's name, which its sender uses too. */
  readonly signal: string;
  /** The longest wait, or its end; then the answer is null. */
  readonly timeout: TimeInput;
  /** If another run waits for it already, this step fails, by default, or takes its place. */
  readonly onConflict?: "fail" | "replace";
}

export interface InvokeOptions {
  /** The function itself, or its name, `<app>-<id>`. */
  readonly function: InvokeTarget | string;
  /** The `event.data` of its handler. */
  readonly data?: unknown;
  /** The version of the event that it is given. */
  readonly v?: string;
  /** The longest wait for its end; then the step fails, and the other run goes on. */
  readonly timeout?: TimeInput;
}

export interface SendSignalOptions {
  /** The signal's name, as the run that waits for it gave it. */
  readonly signal: string;
  /** The data for that run. */
  readonly data?: unknown;
}

export interface FetchInit {
  /** GET unless given. */
  readonly method?: string;
  /** Sent, and never kept: they carry secrets. */
  readonly headers?: Record<string, string> | Iterable<readonly [string, string]>;
  /** Text; JSON is written before. */
  readonly body?: string | null;
}

type Warn = Foreign["warn"];

// Asked before a step has an outcome, not on a replay of what an earlier version let pass.
export const checkWaitForEvent = (step: string, options: unknown, warn: Warn): void =>
  refuseUnknown<WaitForEventOptions>(
    `step.waitForEvent("${step}")`,
    options,
    { event: true, timeout: true, match: true, if: true },
    { options: { schema: "schemas are given to the client, as `events`" }, warn },
  );

export const checkWaitForSignal = (step: string, options: unknown): void =>
  refuseUnknown<WaitForSignalOptions>(`step.waitForSignal("${step}")`, options, {
    signal: true,
    timeout: true,
    onConflict: true,
  });

export const checkInvoke = (step: string, options: unknown, warn: Warn): void =>
  refuseUnknown<InvokeOptions>(
    `step.invoke("${step}")`,
    options,
    { function: true, data: true, v: true, timeout: true },
    { options: { user: "what the other function needs is its `data`", meta: "an invoked event has none" }, warn },
  );

export const checkSendSignal = (step: string, options: unknown): void =>
  refuseUnknown<SendSignalOptions>(`step.sendSignal("${step}")`, options, { signal: true, data: true });

const whatIsSent = "a step's request is its method, headers and body";

export const checkFetch = (step: string, init: unknown, warn: Warn): void =>
  refuseUnknown<FetchInit>(
    `step.fetch("${step}")`,
    init,
    { method: true, headers: true, body: true },
    {
      // The rest of what fetch itself takes.
      options: {
        cache: whatIsSent,
        credentials: whatIsSent,
        dispatcher: whatIsSent,
        duplex: whatIsSent,
        integrity: whatIsSent,
        keepalive: whatIsSent,
        mode: whatIsSent,
        next: whatIsSent,
        priority: whatIsSent,
        redirect: whatIsSent,
        referrer: whatIsSent,
        referrerPolicy: whatIsSent,
        signal: "a request ends with its step: by the step's `timeout`, or when the run is cancelled",
        window: whatIsSent,
      },
      warn,
    },
  );
