// An open wait as its step asked for it, and data that would end it.
import type { RunAnswer, TimelineEntry } from "./run-data.ts";

export interface Awaited {
  readonly entry: TimelineEntry;
  readonly kind: "event" | "signal";
  readonly name: string;
  /** The event's condition beside its name, as its author wrote it. */
  readonly condition: string | null;
  /** Null for a wait without an end. */
  readonly until: number | null;
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** The events and signals it waits for, in order; sleeps and invoked runs end by themselves. */
export function awaitedOf({ run }: RunAnswer): Awaited[] {
  return run.timeline.flatMap((entry): Awaited[] => {
    if (entry.state !== "waiting") return [];
    const asked = (entry.input?.value ?? {}) as Readonly<Record<string, unknown>>;
    const until = entry.waitsUntil === null || entry.waitsUntil >= Number.MAX_SAFE_INTEGER ? null : entry.waitsUntil;
    const event = entry.kind === "wait-for-event" ? textOf(asked.event) : null;
    const signal = entry.kind === "wait-for-signal" ? textOf(asked.signal) : null;
    const match = textOf(asked.match);
    const condition = textOf(asked.if) ?? (match === null ? null : `async.${match} == event.${match}`);
    if (event !== null) return [{ entry, kind: "event", name: event, condition, until }];
    return signal === null ? [] : [{ entry, kind: "signal", name: signal, condition: null, until }];
  });
}

// `async.data.invoice == event.data.placementId`, either way round, and `async.data.ok == true`.
const path = "([\\w.]+)";
const literal = `("[^"\\\\]*"|'[^'\\\\]*'|-?\\d+(?:\\.\\d+)?|true|false)`;
const forms = [
  { pattern: new RegExp(`async\\.data\\.${path}\\s*==\\s*event\\.data\\.${path}`, "g"), field: 1, source: 2 },
  { pattern: new RegExp(`event\\.data\\.${path}\\s*==\\s*async\\.data\\.${path}`, "g"), field: 2, source: 1 },
] as const;
const fixed = new RegExp(`async\\.data\\.${path}\\s*==\\s*${literal}`, "g");

/** A beginning for the event's data: what the condition compares with the run's own event is filled in. */
export function fittingData(condition: string | null, eventData: unknown): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  if (condition === null) return data;
  for (const { pattern, field, source } of forms) {
    for (const found of condition.matchAll(pattern)) {
      const value = at(eventData, found[source]!.split("."));
      if (value !== undefined) put(data, found[field]!.split("."), value);
    }
  }
  for (const [, field, value] of condition.matchAll(fixed)) {
    put(data, field!.split("."), JSON.parse(value!.startsWith("'") ? `"${value!.slice(1, -1)}"` : value!));
  }
  return data;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const at = (value: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

function put(data: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined || name === "__proto__") return;
  if (rest.length === 0) {
    data[name] = value;
    return;
  }
  const inner = Object.hasOwn(data, name) && isObject(data[name]) ? data[name] : {};
  data[name] = inner;
  put(inner, rest, value);
}
