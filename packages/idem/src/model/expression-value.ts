// The values an expression meets, JSON and the library's own: their kinds, their fields, and when two are equal.

import { keyCost, type Meter } from "./expression-meter.ts";

export const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";
export const isText = (value: unknown): value is string | number | bigint =>
  typeof value === "string" || isNumeric(value);

export function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A Timestamp or a Duration. */
export const isInstance = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isContainer(value);

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (isNumeric(value)) return "number";
  return typeof value;
}

// Own properties only: `event.constructor` and `event.__proto__` are missing unless the event's JSON has such a key.
export function ownField(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null || Array.isArray(holder)) return undefined;
  return Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
}

// Comparing two equal texts of a megabyte takes 100 µs; 64 characters are a unit.
export function chargeText(a: string, b: string, meter: Meter): void {
  const length = Math.min(a.length, b.length);
  if (length > 64) meter.spend(length / 64);
}

export function isEqual(a: unknown, b: unknown, meter: Meter): boolean {
  if (typeof a === "string" && typeof b === "string") {
    if (a.length !== b.length) return false;
    chargeText(a, b, meter);
    return a === b;
  }
  if (a === b) return true;
  // biome-ignore lint/suspicious/noDoubleEquals: 1 == 1n is the point
  if (isNumeric(a) && isNumeric(b)) return a == b;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  meter.spend(1);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      meter.spend(1);
      if (!isEqual(a[i], b[i], meter)) return false;
    }
    return true;
  }
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (Array.isArray(b)) return false;
  // A Duration is its own properties too: seconds and nanos.
  const keys = Object.keys(a);
  meter.spend(keys.length * 2 * keyCost);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(ownField(a, key), ownField(b, key), meter));
}
