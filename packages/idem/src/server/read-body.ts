// A request's body, bounded while it arrives: what is too large is refused at the first byte too many, and what is
// compressed may grow neither beyond the same bound nor beyond a multiple of what was sent. All bodies together have a bound as well.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Zlib } from "node:zlib";
import { errors } from "../model/errors.ts";
import {
  type Encoding,
  encodingNamed,
  expand,
  expandedBytesMax,
  expanderStreams,
  isTooLong,
} from "../protocol/content-coding.ts";
import type { BodyShare } from "./body-budget.ts";

/** The caller went away in the middle of its request: nobody is left to be answered. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";
}
/** One for all: an error with its stack for each of a thousand that are cut at once costs more than the rest of it. */
const callerGone = new CallerGone();

/** Null for a body that is sent as it is. */
export function encodingOf(header: string | undefined): Encoding | null {
  if (header === undefined) return null;
  const name = header.trim().toLowerCase();
  if (name === "" || name === "identity") return null;
  const encoding = encodingNamed(name);
  if (encoding === undefined) throw errors.ENCODING_UNSUPPORTED({ given: `"${name.slice(0, 100)}"` });
  return encoding;
}

/**
 * A body that came together with its head, as small ones do, once Node has taken it apart: nothing has to be listened for. Null where some of it is
 * still to come, or where its head does not say how long it is. No longer than its head says, which is for the caller to judge.
 */
export function bodyAtHand(source: IncomingMessage, share: BodyShare): Buffer | null {
  const { readableLength } = source;
  if (readableLength === 0 || readableLength !== Number(source.headers["content-length"])) return null;
  share.take(readableLength);
  return source.read() as Buffer;
}

export async function readBody(
  source: Readable,
  encoding: Encoding | null,
  bytesMax: number,
  share: BodyShare,
): Promise<Buffer> {
  const body = await collect(source, bytesMax, share);
  if (encoding === null || body.length === 0) return body;
  const plainMax = expandedBytesMax(body.length, bytesMax);
  // Taken before it is there: many at once would each find room.
  share.take(plainMax);
  try {
    const plain = await expand(body, encoding, plainMax);
    share.giveBack(plainMax - plain.length);
    return plain;
  } catch (error) {
    throw isTooLong(error) ? tooLarge(body.length, bytesMax) : expandFailure(error as Error, encoding);
  }
}

function collect(source: Readable, bytesMax: number, share: BodyShare): Promise<Buffer> {
  // It will not be closed a second time.
  if (source.destroyed) return Promise.reject(callerGone);
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
    const leave = () => fail(callerGone);
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

const expandFailure = (error: Error, encoding: Encoding): Error =>
  errors.BODY_INVALID({ why: `it is not what ${encoding} makes of anything (${error.message})` });

/** Names the bound, of two, that a compressed body was found to exceed. */
function tooLarge(sent: number, bytesMax: number): Error {
  const max = expandedBytesMax(sent, bytesMax);
  return errors.BODY_TOO_LARGE(max < bytesMax ? { max, sent } : { max });
}

/** The body as it arrives. */
export async function* streamBody(
  source: Readable,
  encoding: Encoding | null,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const plain = encoding === null ? source : source.pipe(expanderStreams[encoding]());
  if (plain !== source) source.on("error", () => plain.destroy(callerGone));
  let bytes = 0;
  try {
    // The line stays open when the reader stops early: it still carries the answer.
    for await (const chunk of plain.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) throw errors.BODY_TOO_LARGE({ max: bytesMax });
      const sent = plain === source ? bytes : (plain as Readable & Zlib).bytesWritten;
      if (bytes > expandedBytesMax(sent, bytesMax)) throw tooLarge(sent, bytesMax);
      yield chunk as Buffer;
    }
  } catch (error) {
    if (encoding !== null && String((error as NodeJS.ErrnoException).code).startsWith("Z_")) {
      throw expandFailure(error as Error, encoding);
    }
    throw error;
  }
}
