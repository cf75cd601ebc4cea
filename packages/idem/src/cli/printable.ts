// What a terminal is shown: text from payloads made safe, without passwords, and as wide as it is.
import { printable } from "../model/printable.ts";

export { printable };

/** JSON on one line, safe to print. */
export const printableJson = (value: unknown): string => printable(JSON.stringify(value) ?? "undefined");

// The last gate before a screen or a log: whatever a message quotes, the password of an address in it is left out.

const credentials = /([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>:@/]*:[^\s"'<>]*@/gi;
const secretWords = /([?&]password=)[^&\s"'<>]*/gi;

export const withoutSecrets = (text: string): string => text.replace(credentials, "$1…@").replace(secretWords, "$1…");

// East Asian wide and full-width forms, and emoji, take two columns.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
const combining = /\p{Mn}|\p{Me}/u;

const charWidth = (char: string): number => (combining.test(char) ? 0 : wide.test(char) ? 2 : 1);

export function textWidth(text: string): number {
  // Nearly everything shown is plain ASCII.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

/** At most `columns` wide, with an ellipsis where something was left out. */
export function fit(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const char of text) {
    width += charWidth(char);
    if (width > columns - 1) break;
    kept += char;
  }
  return `${kept}…`;
}
