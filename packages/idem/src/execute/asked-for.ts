// The input of a tool, as people read it beside its step's outcome. Never headers or bodies of requests: they carry secrets.
import { inputText, keptInput } from "../model/step-input.ts";
import type { NewEvent } from "../store/ingest.ts";

export const askedToSleep = (until: number): string => inputText({ until: instantOf(until) });

/** `match` and `if` as their author wrote them. */
export const askedToWait = (
  wait: { readonly event: string; readonly match?: string | undefined; readonly if?: string | null | undefined },
  until: number,
): string =>
  inputText({
    event: wait.event,
    ...(wait.match === undefined ? {} : { match: wait.match }),
    ...(wait.if === undefined || wait.if === null ? {} : { if: wait.if }),
    until: instantOf(until),
  });

export const askedForSignal = (signal: string, until: number): string => inputText({ signal, until: instantOf(until) });

/** The data is JSON already, as the child gets it. */
export const askedToInvoke = (target: string, { data }: Pick<NewEvent, "data">): string =>
  keptInput(`{"function":${JSON.stringify(target)},"data":${data}}`);

export function askedToFetch(method: string, url: URL): string {
  return inputText({ method, url: `${url.origin}${url.pathname}${url.search}` });
}

/** An instant beyond any date is written as its number. */
const instantOf = (ms: number): string | number => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : ms);
