// Reads a body up to a bound while it arrives: who is not known yet must not fill the memory.
import { errors } from "../model/errors.ts";

export async function boundedBytes(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
  bytesMax: number,
): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let count = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Uint8Array);
    count += bytes.byteLength;
    if (count > bytesMax) throw errors.BODY_TOO_LARGE({ max: bytesMax });
    read.push(bytes);
  }
  return read.length === 1 ? read[0]! : Buffer.concat(read);
}

/** A body somebody has read already is still held to the bound. */
export function boundedText(text: string, bytesMax: number): Uint8Array {
  const bytes = Buffer.from(text);
  if (bytes.byteLength > bytesMax) throw errors.BODY_TOO_LARGE({ max: bytesMax });
  return bytes;
}
