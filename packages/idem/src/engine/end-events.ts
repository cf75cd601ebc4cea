// The end of a run as system events that functions can be triggered by and runs can wait for
// (docs/reference/wire.md#system-events). An event nobody listens to is not stored.
import { type Event, publicEventId } from "../model/event.ts";
import type { EndState } from "../model/run.ts";
import { noteTrace, traceOf, writeTraceparent } from "../protocol/traceparent.ts";
import type { NestedIngest } from "../store/advance.ts";
import type { NewEvent } from "../store/ingest.ts";
import { type PrepareOptions, pairsFor, type RunIds } from "./prepare-ingest.ts";

const namesByState = {
  completed: ["inngest/function.finished"],
  failed: ["inngest/function.finished", "inngest/function.failed"],
  cancelled: ["inngest/function.finished", "inngest/function.cancelled"],
} as const satisfies Record<EndState, readonly string[]>;

const endNames: ReadonlySet<string> = new Set(Object.values(namesByState).flat());

/** Whether the name is that of an event for the end of a run. */
export const isEndEvent = (name: string): boolean => endNames.has(name);

export interface EndedRun {
  readonly id: string;
  readonly fn: string;
  readonly event: Event;
  /** All that it was started with. */
  readonly events: readonly Event[];
  /** The span of the pass that ended it; null or absent where nobody listens, or where it was ended from outside. */
  readonly traceparent?: string | null;
}

export function endEvents(
  run: EndedRun,
  state: EndState,
  result: string,
  eventIds: readonly string[],
  options: PrepareOptions,
  runIds: RunIds,
): NestedIngest | null {
  // A function that handles ends would otherwise hear of its own for ever.
  if (isEndEvent(run.event.name)) return null;
  const data = endData(run, state, result);
  const at = traceOf(run.event);
  const traceparent = run.traceparent ?? (at === null ? null : writeTraceparent(at));
  const noted = traceparent === null ? null : noteTrace({ extra: null }, traceparent).extra;
  const { registry, now: ts } = options;
  const told = namesByState[state].map((name, i) => {
    const event = { id: eventIds[i]!, callerId: null, windowMs: 0, name, data, ts, extra: noted, sourceRunId: run.id };
    return event satisfies NewEvent;
  });
  const { registration } = registry;
  // As most ends: no function hears of any of them.
  if (told.every(({ name }) => registry.match(name).length === 0)) {
    return { registration, events: told.map(unlessAwaited), pairs: none };
  }
  const pairs = [...pairsFor(told, options, runIds, () => null)];
  const decided = new Set(pairs.map(({ event }) => event));
  const events = told.map((event, i) => (decided.has(i) ? event : unlessAwaited(event)));
  return { registration, events, pairs };
}

const none: readonly never[] = [];

/** Stored only if a run waits for it. Fields one by one: docs/performance.md#objects. */
const unlessAwaited = ({ id, callerId, windowMs, name, data, ts, extra, sourceRunId }: NewEvent) => ({
  id,
  callerId,
  windowMs,
  name,
  data,
  ts,
  extra,
  sourceRunId,
  ifAwaited: true,
});

/** Put together from JSON texts that are already there: this is on the path of every run. */
function endData(run: EndedRun, state: EndState, result: string): string {
  const { event, events } = run;
  const payload = payloadText(event);
  const all = events.length === 1 ? payload : events.map(payloadText).join(",");
  const outcome = state === "completed" ? `"result":${result}` : `"error":${result}`;
  return `{"function_id":${JSON.stringify(run.fn)},"run_id":"${run.id}","event":${payload},"events":[${all}],${outcome},"_inngest":{"status":"${state}"}}`;
}

const payloadText = (event: Event): string =>
  `{"id":${JSON.stringify(publicEventId(event))},"name":${JSON.stringify(event.name)},"data":${event.data},"ts":${event.ts}}`;
