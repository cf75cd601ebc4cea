// Bounds the fields of a form, counted in its bytes: 10 MiB of `a&a&…` are five million pairs, and gigabytes once they are built.

/** As many as body parsers take (body-parser, PHP); a thousand take some milliseconds. */
export const formFieldsMax = 1_000;

/** Of `a=1&b=2`, also in a query. */
export const hasTooManyPairs = (bytes: Uint8Array): boolean => occursMoreOften(bytes, "&", formFieldsMax);

/** Of multipart/form-data; a line that begins as a delimiter does is counted as one. */
export const hasTooManyParts = (bytes: Uint8Array): boolean => occursMoreOften(bytes, "\n--", formFieldsMax);

function occursMoreOften(bytes: Uint8Array, text: string, max: number): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(text); at !== -1; at = buffer.indexOf(text, at + text.length)) {
    if (++count > max) return true;
  }
  return false;
}
