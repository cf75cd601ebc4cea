// The script for the worlds of one function: the event that starts it, its twin, and what else may be delivered. Pure.
import { defaultWindowMs, type FunctionConfig } from "../model/function-config.ts";
import { tickEventName } from "../model/tick.ts";
import type { Change } from "./mends/change.ts";
import type { CleanFacts } from "./schedules.ts";
import type { Json, WorldRecord } from "./thing.ts";
import { entityField, otherFields, withAnother } from "./twin.ts";
import type { VerifyFunctionOptions } from "./verify-function.ts";
import type { DeliveredEvent, WorldScript } from "./worker/world-script.ts";

export interface FunctionScript {
  readonly script: Omit<WorldScript, "startMs">;
  /** Somebody sends its event. */
  readonly isSent: boolean;
  /** The field of its data that says which entity it is about. */
  readonly entity: string | null;
}

const tickName = "verify/tick";
const hour = 60 * 60 * 1_000;
/** The world's clock at its beginning. */
export const firstStart = Date.UTC(2026, 5, 1, 9);
/** Of the other clean run: in another year, month, day, hour and minute. */
export const secondStart = Date.UTC(2027, 10, 23, 16, 41, 7, 389);
// Longer than any memory the registry knows that is not for ever.
const outageMs = 46 * 24 * hour;

export function functionScript(options: VerifyFunctionOptions, changes: readonly Change[]): FunctionScript {
  const { modules, fn, event, second = null, fixtures = [], waits = {} } = options;
  const { config } = fn;
  const names = config.triggers.flatMap((each) => ("event" in each ? [each.event] : []));
  const isSent = event !== undefined && event !== null;
  const delivered = deliveredOf(options);
  const about = config.triggers.length === 0 ? config.id : delivered.name;
  const entity = isSent ? entityField(about, delivered.data, options.entity ?? null) : null;
  const twinData = options.twin ?? (entity === null ? null : withAnother(delivered.data, entity));
  const fields = otherFields(delivered.data, entity);
  const script = {
    modules,
    env: fn.env,
    fn: fn.fn,
    names: [...names, delivered.name, ...(second === null ? [] : [second.name])],
    tickName,
    event: delivered,
    twin: isSent && twinData !== null ? { ...delivered, id: `${delivered.id}-twin`, data: twinData } : null,
    second: second === null ? null : { data: {}, ...second, id: `${delivered.id}-second` },
    changed: Object.fromEntries(fields.map((field) => [field, changedField(delivered.data, field)])),
    windowMs: config.idempotency?.windowMs ?? defaultWindowMs,
    outageMs,
    fixtures,
    waits,
    databases: { databases: options.databases ?? [], isSetUp: false },
    changes,
  };
  return { script, isSent, entity };
}

function deliveredOf({ event, fn }: VerifyFunctionOptions): DeliveredEvent {
  const { triggers } = fn.config;
  if (event !== undefined && event !== null) {
    // A function that is only invoked listens to no name.
    const name = triggers.length === 0 ? tickName : event.name;
    return { name, id: event.id ?? "verify-event", data: event.data ?? {} };
  }
  const cron = triggers.flatMap((each) => ("cron" in each ? [each.cron] : []))[0];
  const at = new Date(firstStart).toISOString();
  const data = cron === undefined ? {} : { cron, scheduledAt: at, fireAt: at };
  return { name: tickName, id: `${tickEventName}-1`, data };
}

function changedField(data: Json, field: string): Json {
  const record = data as { readonly [name: string]: Json };
  return { ...record, [field]: (withAnother({ value: record[field]! }, "value") as { value: Json }).value };
}

/** Facts about the function after a clean run. */
export function cleanFacts(
  { script, isSent }: Omit<FunctionScript, "entity">,
  { triggers, idempotency, unkeyed, batch }: FunctionConfig,
  clean: WorldRecord,
  hasTwin: boolean,
): CleanFacts {
  const names = triggers.flatMap((each) => ("event" in each ? [each.event] : []));
  return {
    effectCount: clean.effects.length,
    effectsElsewhere: clean.effects.flatMap(({ index, watcher }) => (/^(sql|files)$/.test(watcher) ? [] : [index])),
    effectsInSteps: clean.effects.flatMap(({ index, step, isLate }) => (step !== null && !isLate ? [index] : [])),
    commitCount: clean.commits,
    commitsOfCode: clean.commitsOfCode,
    steps: clean.steps,
    hasWaits: clean.hasWaits,
    isSent,
    hasKey: idempotency !== null,
    // Two invocations of a function are meant twice, unless its key says otherwise.
    isUnkeyed: unkeyed !== undefined || (triggers.length === 0 && idempotency === null),
    isBatched: batch !== undefined,
    otherNames: names.filter((name) => name !== script.event.name && !name.includes("*")),
    hasTwin,
    otherFields: Object.keys(script.changed),
  };
}
