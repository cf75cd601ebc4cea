// From a sender's input to an event that can be stored, or to an error that says which event and why. Nothing of a call is
// stored unless all of it can be.
import { type EventIdScope, webhookScope } from "../model/claim.ts";
import { errors } from "../model/errors.ts";
import { deliverySource, noteSource } from "../model/event.ts";

import { toMarkedJson } from "../model/json.ts";
import { isOwnEvent, ownEventPrefixes } from "../model/own-events.ts";
import type { NewEvent } from "../store/ingest.ts";

export interface EventInput {
  readonly name: string;
  readonly data?: unknown;
  readonly id?: string | undefined;
  readonly ts?: number | undefined;
  readonly v?: string | undefined;
  readonly user?: unknown;
  readonly meta?: unknown;
}

export interface AcceptLimits {
  readonly eventBytesMax: number;
  readonly eventsPerCallMax: number;
}

const nameCharsMax = 256;
const callerIdCharsMax = 1_024;
// The range of a date column anywhere; outside it a `ts` is a mistake of unit, seconds for milliseconds say.
const tsMin = Date.UTC(1980, 0, 1);
const tsMax = Date.UTC(2100, 0, 1);

/** Checks one event and gives it its place in the call. `eventId` is the ULID it will be stored under. */
export function acceptEvent(
  input: unknown,
  where: string,
  facts: {
    eventId: string;
    now: number;
    windowMs: number;
    sourceRunId: string | null;
    allowReserved: boolean;
    idScope?: EventIdScope | undefined;
  },
  limits: AcceptLimits,
): NewEvent {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw errors.EVENT_INVALID({ where, why: `an event is an object with a name, not ${describe(input)}` });
  }
  const { name, data, id, ts, v, user, meta } = readFields(input, where);
  checkName(name, where, facts.allowReserved);
  const named = `${where} "${name}"`;
  if (id !== undefined && id !== null) checkCallerId(id, named);
  const at = ts ?? facts.now;
  if (typeof at !== "number" || !Number.isInteger(at) || at < tsMin || at > tsMax) {
    throw errors.EVENT_INVALID({
      where: named,
      why: `ts is ${describe(at)}; it must be a whole number of milliseconds between 1980 and 2100`,
    });
  }
  if (v !== undefined && v !== null && typeof v !== "string") {
    throw errors.EVENT_INVALID({ where: named, why: `v is ${describe(v)}; it must be a string` });
  }
  const body = data ?? {};
  if (typeof body !== "object" || Array.isArray(body)) {
    throw errors.EVENT_INVALID({ where: named, why: `data is ${describe(body)}; it must be an object` });
  }
  const json = toMarkedJson(body, named);
  if (json[0] !== "{") {
    throw errors.EVENT_INVALID({ where: named, why: "data does not become a JSON object" });
  }
  const extra = extraOf(v, user, meta, named);
  const bytes = Buffer.byteLength(json) + (extra === null ? 0 : Buffer.byteLength(extra));
  if (bytes > limits.eventBytesMax) throw errors.EVENT_TOO_LARGE({ where: named, bytes, max: limits.eventBytesMax });
  return {
    id: facts.eventId,
    callerId: id ?? null,
    windowMs: facts.windowMs,
    ...(facts.idScope === undefined ? {} : { idScope: facts.idScope }),
    name,
    data: json,
    ts: at,
    extra: facts.idScope === webhookScope ? noteSource(extra, deliverySource(id ?? null, name)) : extra,
    sourceRunId: facts.sourceRunId,
  };
}

/** Reads each field once; a getter may answer differently the next time, or throw. */
function readFields(input: object, where: string): EventInput {
  try {
    const { name, data, id, ts, v, user, meta } = input as EventInput;
    return { name, data, id, ts, v, user, meta };
  } catch (error) {
    throw errors.EVENT_INVALID({ where, why: "reading its fields failed" }, { cause: error });
  }
}

function checkName(name: unknown, where: string, allowReserved: boolean): asserts name is string {
  if (typeof name !== "string" || name === "") {
    throw errors.EVENT_INVALID({ where, why: `its name is ${describe(name)}; it must be a non-empty string` });
  }
  if (name.length > nameCharsMax) {
    throw errors.EVENT_INVALID({ where, why: `its name has ${name.length} characters, more than ${nameCharsMax}` });
  }
  if (/[\p{Cc}\p{Cs}]/u.test(name)) {
    throw errors.EVENT_INVALID({ where, why: "its name has control characters or broken Unicode" });
  }
  if (name.endsWith("*")) {
    throw errors.EVENT_INVALID({ where, why: `its name "${name}" ends in *, which is for triggers` });
  }
  if (!allowReserved && isOwnEvent(name)) {
    throw errors.EVENT_INVALID({ where, why: `names that start with ${ownEventPrefixes.join(" or ")} are reserved` });
  }
}

function checkCallerId(id: unknown, where: string): asserts id is string {
  if (typeof id !== "string") {
    throw errors.EVENT_INVALID({ where, why: `its id is ${describe(id)}; it must be a string` });
  }
  // An empty id from an unset variable would make every such event a duplicate of the first.
  if (id === "") throw errors.EVENT_INVALID({ where, why: "its id is empty; leave it out or give it a value" });
  if (id.length > callerIdCharsMax) {
    throw errors.EVENT_INVALID({ where, why: `its id has ${id.length} characters, more than ${callerIdCharsMax}` });
  }
  if (/\p{Cs}/u.test(id)) throw errors.EVENT_INVALID({ where, why: "its id holds broken Unicode" });
}

function extraOf(v: unknown, user: unknown, meta: unknown, where: string): string | null {
  if (v === undefined && user === undefined && meta === undefined) return null;
  return toMarkedJson({ v, user, meta }, where);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "object" || typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  return String(value).slice(0, 40);
}
