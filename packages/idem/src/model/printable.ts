// Text from payloads, made safe for a terminal, a log and a message: an event may not move the cursor, change colours, add a line or reorder
// what is read.

// Control characters, format characters (bidirectional overrides, zero-width), line and paragraph separators, and halves of
// surrogate pairs.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export const printable = (text: string): string =>
  text.replaceAll(unsafe, (char) => {
    const code = char.codePointAt(0)!;
    return named[char] ?? (code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`);
  });
