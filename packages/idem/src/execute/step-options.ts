// What step tools are asked with, and every word of it.
import { type Foreign, refuseUnknown } from "../model/known-options.ts";

export type TimeInput = string | number | Date | { readonly epochMilliseconds: number };

export interface InvokeTarget {
  readonly id: string;
}

export interface WaitForEventOptions {
  readonly event: string;
  readonly timeout: TimeInput;
  readonly match?: string;
  readonly if?: string;
}

export interface WaitForSignalOptions {
  readonly signal: string;
  readonly timeout: TimeInput;
  readonly onConflict?: "fail" | "replace";
}

export interface InvokeOptions {
  readonly function: InvokeTarget | string;
  readonly data?: unknown;
  readonly v?: string;
  readonly timeout?: TimeInput;
}

export interface SendSignalOptions {
  readonly signal: string;
  readonly data?: unknown;
}

export interface FetchInit {
  readonly method?: string;
  readonly headers?: Record<string, string> | Iterable<readonly [string, string]>;
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
