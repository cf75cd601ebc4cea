// Bodies that came compressed. A few bytes can stand for gigabytes (28 of brotli for 6), so what comes out has two bounds, whichever is
// smaller: the one its reader has for any body, and a multiple of what was sent. It is made outside the event loop.
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, gunzip, inflate } from "node:zlib";

const encodings = ["gzip", "deflate", "br"] as const;
export type Encoding = (typeof encodings)[number];

/** By its name in Content-Encoding, in lower case; undefined for one that nobody here undoes, such as zstd. */
export const encodingNamed = (name: string): Encoding | undefined =>
  name === "x-gzip" ? "gzip" : encodings.find((each) => each === name);

/** JSON of real senders becomes 5 to 30 times as long; a list of one event over and over some hundred times, which the floor lets pass. */
export const expansionMax = 100;
/** Up to here the multiple is not asked: a short text may be one word repeated. */
export const expansionFloorBytes = 64 * 1_024;

/** Bound of what so many bytes may expand to, where any body may have `bytesMax`. */
export const expandedBytesMax = (encodedBytes: number, bytesMax: number): number =>
  Math.min(bytesMax, Math.max(expansionFloorBytes, encodedBytes * expansionMax));

type Done = (error: Error | null, plain: Buffer) => void;
type Expand = (body: Uint8Array, options: { readonly maxOutputLength: number }, done: Done) => void;
const expanders: Readonly<Record<Encoding, Expand>> = { gzip: gunzip, deflate: inflate, br: brotliDecompress };

/** Rejects with what zlib says of it: `isTooLong` when more than `bytesMax` come out. */
export const expand = (body: Uint8Array, encoding: Encoding, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const done: Done = (error, plain) => (error === null ? resolve(plain) : reject(error));
    expanders[encoding](body, { maxOutputLength: Math.max(1, bytesMax) }, done);
  });

export const isTooLong = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === "ERR_BUFFER_TOO_LARGE";

/** The same piece by piece; its `bytesWritten` is what it has been given so far. */
export const expanderStreams = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;
