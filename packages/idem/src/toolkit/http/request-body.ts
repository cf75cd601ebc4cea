// A request's body, read up to the route's bound and then there to be read again. The copy has no abort signal: the caller going away
// does not end what was begun for them.
import { createHash, timingSafeEqual } from "node:crypto";
import { errors } from "../../model/errors.ts";
import type { FingerprintOf } from "./fingerprint.ts";
import type { RouteSettings } from "./route-settings.ts";

export type ReadBody =
  | {
      readonly kind: "read";
      readonly compared: FingerprintOf["body"];
      /** Empty where the body was not read. */
      readonly bytes: Uint8Array;
      /** To be called once at most. */
      again(): Request;
    }
  | { readonly kind: "too-large" }
  | { readonly kind: "broken" };

const nothing = new Uint8Array(0);

export async function readBody(request: Request, settings: RouteSettings): Promise<ReadBody> {
  const { body } = request;
  if (settings.fingerprint.body === "headers") {
    return { kind: "read", compared: { kind: "none" }, bytes: nothing, again: () => again(request, body) };
  }
  const bytesMax = settings.requestBytesMax;
  if (body === null) {
    const compared = { kind: "bytes", bytes: nothing, bytesMax } as const;
    return { kind: "read", compared, bytes: nothing, again: () => again(request, null) };
  }
  // Such as by a `principal` that looked into it.
  if (request.bodyUsed) throw errors.BODY_ALREADY_READ({ method: request.method });
  // A body announced as too large is not read at all, unless its sender vouches for it by a digest.
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) {
    const sha256 = digestOf(request.headers.get("content-digest"));
    if (sha256 === null) return { kind: "too-large" };
    const verified = () => body.pipeThrough(verifying(sha256));
    return {
      kind: "read",
      compared: { kind: "digest", sha256 },
      bytes: nothing,
      again: () => again(request, verified()),
    };
  }
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.byteLength;
      if (length > bytesMax) {
        await reader.cancel();
        return { kind: "too-large" };
      }
      chunks.push(value);
    }
  } catch {
    return { kind: "broken" };
  }
  const bytes = new Uint8Array(Buffer.concat(chunks, length));
  return { kind: "read", compared: { kind: "bytes", bytes, bytesMax }, bytes, again: () => again(request, bytes) };
}

function again(request: Request, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null): Request {
  const { method, headers } = request;
  return new Request(request.url, { method, headers, body, duplex: "half" });
}

/** RFC 9530: `sha-256=:base64:`, among others. */
function digestOf(header: string | null): string | null {
  return /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header ?? "")?.[1] ?? null;
}

/** Breaks off at the end when the bytes were not the ones announced, so that a handler which reads to the end does not succeed with them. */
function verifying(sha256: string): TransformStream<Uint8Array, Uint8Array> {
  const hash = createHash("sha256");
  return new TransformStream({
    transform(chunk, controller) {
      hash.update(chunk);
      controller.enqueue(chunk);
    },
    flush(controller) {
      const isSame = timingSafeEqual(hash.digest(), Buffer.from(sha256, "base64"));
      if (!isSame) controller.error(new Error("the body is not the one its Content-Digest announced"));
    },
  });
}
