// Names and values of a query or a form, as bytes. As text, what is not UTF-8 would become the same replacement character on both sides.

export type FormPair = readonly [Buffer, Buffer];

/** In the order they came. */
export function formPairs(text: string): FormPair[] {
  return text
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=");
      return equals === -1
        ? [decode(pair), Buffer.alloc(0)]
        : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

/** By name, then value. */
export const sortedPairs = (pairs: readonly FormPair[]): FormPair[] =>
  [...pairs].sort(([a, x], [b, y]) => Buffer.compare(a, b) || Buffer.compare(x, y));

/** Percent-decoded once, `+` is a space; what is no escape stands for itself (URL standard, "percent-decode"). */
function decode(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const out = Buffer.alloc(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    const high = byte === 0x25 ? hexDigit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2]);
    if (low !== -1) {
      out[length++] = high * 16 + low;
      at += 2;
    } else out[length++] = byte === 0x2b ? 0x20 : byte;
  }
  return out.subarray(0, length);
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}
