// Bytes before their content-coding: two compressions of one body need not be equal, and a replay may go to a client that takes none.
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** Each one may blow up what the one before let through. */
const codingCountMax = 2;

/** Null when the coding is not known, the bytes are broken, or more than `bytesMax` come out (316 bytes of brotli can be 200 MB). */
export function decodeContent(bytes: Uint8Array, coding: string | null, bytesMax: number): Uint8Array | null {
  const codings = (coding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  if (codings.length > codingCountMax) return null;
  let decoded = bytes;
  try {
    for (const name of codings.reverse()) {
      const decode = decoders.get(name);
      if (decode === undefined) return null;
      decoded = decode(decoded, bytesMax);
    }
  } catch {
    return null;
  }
  return decoded;
}

type Decode = (bytes: Uint8Array, bytesMax: number) => Uint8Array;
const same: Decode = (bytes) => bytes;
const gunzip: Decode = (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength });

const decoders: ReadonlyMap<string, Decode> = new Map([
  ["", same],
  ["identity", same],
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength })],
  ["br", (bytes, maxOutputLength) => brotliDecompressSync(bytes, { maxOutputLength })],
]);
