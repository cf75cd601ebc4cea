// A request's body, bounded while it arrives: what is too large is refused at the first byte too many, and what is
// compressed may not grow beyond the same bound. All bodies together have a bound as well.
import type { Readable } from "node:stream";
import { brotliDecompress, createBrotliDecompress, createGunzip, createInflate, gunzip, inflate } from "node:zlib";
import { errors } from "../model/errors.ts";

/** Bytes of all bodies that are held now. */
export class BodyBudget {
  held = 0;
  constructor(readonly max: number) {}
}

/** What one request holds of the budget; given back once it is answered. */
export class BodyShare {
  private bytes = 0;
  constructor(private readonly budget: BodyBudget) {}

  take(bytes: number): void {
    this.bytes += bytes;
    this.budget.held += bytes;
    if (this.budget.held > this.budget.max) {
      throw errors.SERVER_BUSY({ why: "the bodies of all requests together are too large" });
    }
  }

  giveBack(): void {
    this.budget.held -= this.bytes;
    this.bytes = 0;
  }
}

/** The caller went away in the middle of its request: nobody is left to be answered. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}

const known = ["gzip", "deflate", "br"] as const;
type Encoding = (typeof known)[number];

/** Null for a body that is sent as it is. */
export function encodingOf(header: string | undefined): Encoding | null {
  if (header === undefined) return null;
  const name = header.trim().toLowerCase();
  if (name === "" || name === "identity") return null;
  const encoding = name === "x-gzip" ? "gzip" : known.find((each) => each === name);
  if (encoding === undefined) throw errors.ENCODING_UNSUPPORTED({ given: `"${name.slice(0, 100)}"` });
  return encoding;
}

export async function readBody(
  source: Readable,
  encoding: Encoding | null,
  bytesMax: number,
  share: BodyShare,
): Promise<Buffer> {
  const body = await collect(source, bytesMax, share);
  if (encoding === null || body.length === 0) return body;
  const plain = await expand(body, encoding, bytesMax);
  share.take(plain.length);
  return plain;
}

function collect(source: Readable, bytesMax: number, share: BodyShare): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const fail = (error: Error) => {
      source.off("data", take);
      reject(error);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) return fail(errors.BODY_TOO_LARGE({ max: bytesMax }));
      try {
        share.take(chunk.length);
      } catch (error) {
        return fail(error as Error);
      }
      chunks.push(chunk);
    };
    const leave = () => fail(new CallerGone());
    source.on("data", take);
    source.on("end", () => {
      // It is closed once it was read; an error made for that, with its stack, costs more than the rest of this.
      source.off("close", leave);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    });
    source.on("error", leave);
    source.on("close", leave);
  });
}

type Done = (error: Error | null, plain: Buffer) => void;
type Expand = (body: Buffer, options: { readonly maxOutputLength: number }, done: Done) => void;
const expanders: Readonly<Record<Encoding, Expand>> = { gzip: gunzip, deflate: inflate, br: brotliDecompress };

function expand(body: Buffer, encoding: Encoding, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done: Done = (error, plain) => {
      if (error === null) resolve(plain);
      else reject(expandFailure(error, encoding, bytesMax));
    };
    expanders[encoding](body, { maxOutputLength: bytesMax }, done);
  });
}

function expandFailure(error: Error, encoding: Encoding, bytesMax: number): Error {
  if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return errors.BODY_TOO_LARGE({ max: bytesMax });
  return errors.BODY_INVALID({ why: `it is not what ${encoding} makes of anything (${error.message})` });
}

const openers = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;

/** The body as it arrives. */
export async function* streamBody(
  source: Readable,
  encoding: Encoding | null,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const plain = encoding === null ? source : source.pipe(openers[encoding]());
  if (plain !== source) source.on("error", () => plain.destroy(new CallerGone()));
  let bytes = 0;
  try {
    // The line stays open when the reader stops early: it still carries the answer.
    for await (const chunk of plain.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) throw errors.BODY_TOO_LARGE({ max: bytesMax });
      yield chunk as Buffer;
    }
  } catch (error) {
    if (encoding !== null && String((error as NodeJS.ErrnoException).code).startsWith("Z_")) {
      throw expandFailure(error as Error, encoding, bytesMax);
    }
    throw error;
  }
}
