// Numbers that a double cannot hold. JSON has no bound on digits, JavaScript has 2^53: two ids past it become one number. In a text of JSON
// they are told apart: an integer past 2^53 in plain digits was written so by somebody who had them; with an exponent (`9007199254740992e0`)
// it is what a JavaScript number became, and its last digits mean nothing. Both are the same value to every reader of JSON.
import { createHash } from "node:crypto";

/** A number as it was written, of which a double would lose digits. */
export class WrittenNumber {
  constructor(readonly text: string) {}
}

// Fewer digits fit into every double. Texts without such a number, which is nearly all of them, are not looked at further.
const maybeLong = /\d[\d.]{15}/;
const maybeDouble = /\d[\d.]{15}|\de\+/;
// The text of a string, or a number.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/gs;

export const mayHoldLong = (text: string): boolean => maybeLong.test(text);
export const mayHoldDouble = (text: string): boolean => maybeDouble.test(text);

export type NumberKind =
  | "plain"
  /** An integer past 2^53, with all its digits. */
  | "integer"
  /** With more digits after the point than a double keeps. */
  | "decimal"
  /** An integer past 2^53 that was a double: which one was meant is not known. */
  | "lost";

export function kindOfNumber(literal: string): NumberKind {
  const value = Number(literal);
  if (/[eE]/.test(literal)) return Number.isInteger(value) && !Number.isSafeInteger(value) ? "lost" : "plain";
  if (literal.length < 16) return "plain";
  if (!literal.includes(".")) return Number.isSafeInteger(value) ? "plain" : "integer";
  return digitsOf(literal) === digitsOf(String(value)) ? "plain" : "decimal";
}

/** One text for one number, however many zeros it was written with: `12.50` and `1.25e1` are `125e-1`. */
export function digitsOf(literal: string): string {
  const [, sign, whole, part = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(literal)!;
  const digits = (whole! + part).replace(/^0+(?=\d)/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept}e${Number(exponent) - part.length + digits.length - kept.length}`;
}

/** Parses with a value of your own for some numbers; undefined leaves one as it is. The text is JSON that was parsed before. */
export function parseWithNumbers(text: string, read: (literal: string) => unknown): unknown {
  // No text holds its own hash, so nothing in it can be taken for one of these.
  const mark = createHash("sha256").update(text).digest("hex");
  const values: unknown[] = [];
  const marked = text.replace(token, (each) => {
    const value = each.startsWith('"') ? undefined : read(each);
    if (value === undefined) return each;
    values.push(value);
    return `{"${mark}":${values.length - 1}}`;
  });
  if (values.length === 0) return JSON.parse(text);
  return JSON.parse(marked, (_name, value) =>
    typeof value === "object" && value !== null && Object.hasOwn(value, mark) ? values[value[mark]] : value,
  );
}

/** As JSON.parse, but numbers that would lose digits stay as they were written. */
export function parseWritten(text: string): unknown {
  if (!mayHoldLong(text)) return JSON.parse(text);
  return parseWithNumbers(text, (literal) => {
    const kind = kindOfNumber(literal);
    return kind === "integer" || kind === "decimal" ? new WrittenNumber(literal) : undefined;
  });
}

/** Says of every integer past 2^53 in JSON that was made of JavaScript's numbers that its digits are lost. */
export const markLost = (text: string): string =>
  mayHoldLong(text) ? text.replace(token, (each) => (isPlainInteger(each) && isLong(each) ? `${each}e0` : each)) : text;

const isPlainInteger = (literal: string): boolean => /^-?\d{16,}$/.test(literal);
const isLong = (literal: string): boolean => !Number.isSafeInteger(Number(literal));

export const isLostInteger = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);

/** The double after this one. */
export function nextDouble(value: number): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0]! += 1n;
  return new Float64Array(bits.buffer)[0]!;
}
