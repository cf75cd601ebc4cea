// The bytes of a Node request, as they came. Later readers of the request (express.json(), busboy, a handler's own loop) must find
// the same stream again: what was read is put back before the stream announced its end.
import type { IncomingMessage } from "node:http";
import { errors } from "../../../model/errors.ts";

/** A request whose bytes were kept: by this door, or by a parser with `verify: keepRawBody`. */
export interface KeptBody {
  rawBody?: Uint8Array;
}

/** Requests whose bytes are as the client sent them; a parser's are decoded. */
const asSent = new WeakSet<object>();

export const isAsSent = (request: object): boolean => asSent.has(request);

/**
 * For parsers that come first: `express.json({ verify: keepRawBody })` keeps the bytes beside what it makes of them.
 */
export function keepRawBody(request: object, _response: object, bytes: Uint8Array): void {
  (request as KeptBody).rawBody = bytes;
}

/**
 * Reads it all and puts it back; more than `bytesMax` is left where it is, and what was read so far answered, for it is enough to refuse it.
 * Rejects when the client goes before it has sent everything.
 */
export async function keptBody(request: IncomingMessage & KeptBody, bytesMax: number): Promise<Uint8Array> {
  if (request.rawBody instanceof Uint8Array) return request.rawBody;
  // Not touched at all: a stream that ends while nobody hears it, never ends for who comes later.
  if (!mayHaveBody(request)) return new Uint8Array();
  const bytes = await readThrough(request, bytesMax);
  if (bytes.length <= bytesMax) {
    request.rawBody = bytes;
    asSent.add(request);
    if (bytes.length === 0) tellTheEndAgain(request);
  }
  return bytes;
}

/** Throws BODY_ALREADY_READ when it was read before and its bytes were not kept: what was made of them cannot be compared. */
export function checkUnread(request: IncomingMessage & KeptBody): void {
  if (request.rawBody instanceof Uint8Array || !mayHaveBody(request) || !request.readableDidRead) return;
  throw errors.BODY_ALREADY_READ({ method: request.method ?? "GET" });
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

function readThrough(request: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const read: Buffer[] = [];
    let count = 0;
    const done = () => {
      request.off("readable", look).off("end", look).off("error", fail).off("close", gone);
    };
    const look = () => {
      while (request.readableLength > 0 && count <= bytesMax) {
        const chunk = request.read() as Buffer;
        read.push(chunk);
        count += chunk.length;
      }
      if (!request.complete && count <= bytesMax) return;
      done();
      const bytes = read.length === 1 ? read[0]! : Buffer.concat(read);
      // In the same turn as the last read: `end` is emitted in the next one, and only when nothing is left.
      if (count > 0 && count <= bytesMax) request.unshift(bytes);
      resolve(bytes);
    };
    const fail = (error: Error) => {
      done();
      reject(error);
    };
    const gone = () => fail(new Error("The client closed the connection before it had sent its request"));
    request.on("readable", look).on("end", look).on("error", fail).on("close", gone);
  });
}

/** A body that was announced and then empty has ended by now; later listeners for the end still hear of it. */
function tellTheEndAgain(request: IncomingMessage): void {
  request.on("newListener", (event: string, hear: () => void) => {
    if (event === "end" && request.readableEnded) queueMicrotask(() => hear.call(request));
  });
}
