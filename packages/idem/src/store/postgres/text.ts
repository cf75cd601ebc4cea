// Texts in an index, and their order.
import { createHash } from "node:crypto";

// An index takes no more than 2,704 bytes, and there are other columns in it.
const indexedBytesMax = 1_500;
const shownChars = 200;

/** What an index finds a text by: itself, or where it is too long its beginning, for people, and a hash of all of it, for equality. */
export function indexable(text: string): string {
  if (text.length * 3 <= indexedBytesMax || Buffer.byteLength(text) <= indexedBytesMax) return text;
  const shown = text.slice(0, shownChars).replace(/[\uD800-\uDBFF]$/, "");
  return `${shown}…${createHash("sha256").update(text).digest("hex")}`;
}

/** For sorting: what is locked together is locked in one order everywhere. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
