// PostgreSQL's text holds every character but U+0000, which JavaScript's strings, and so a sender's event id, may well contain. It is
// written with a marker no text of people contains; the marker itself is written with it too, so nothing two senders wrote ever becomes one.
import { createHash } from "node:crypto";

const marker = "\uFFFF";

export const encodeText = (text: string): string =>
  text.includes("\u0000") || text.includes(marker)
    ? text.replaceAll(marker, `${marker}1`).replaceAll("\u0000", `${marker}0`)
    : text;

export const decodeText = (text: string): string =>
  text.includes(marker) ? text.replace(/\uFFFF([01])/g, (_, kind: string) => (kind === "0" ? "\u0000" : marker)) : text;

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
