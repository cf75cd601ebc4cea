// A Fetch response as bytes. Up to the limit it is held back until its outcome is saved: save, then send. Beyond, it is sent on while it
// comes, and its end is held back instead, so that no caller has the whole of a response that is not recorded.
import type { Captured, Finished } from "./begin.ts";
import { essenceOf } from "./fingerprint.ts";
import { isBodiless } from "./replay.ts";

type Finish = (captured: Captured) => Promise<Finished>;

export type Capture =
  | { readonly kind: "whole"; readonly captured: Captured; send(headers: Finished & { kind: "send" }): Response }
  /** Too large to be held back. `send` finishes it before its last chunk leaves. */
  | { readonly kind: "passing"; send(finish: Finish): Response }
  /** Events without an end: nothing of it is held back, and its record says so before it begins. */
  | { readonly kind: "endless"; readonly captured: Captured; send(headers: Finished & { kind: "send" }): Response }
  /** The body broke off, and nothing has been sent. */
  | { readonly kind: "aborted"; readonly error: unknown };

export async function capture(response: Response, bytesMax: number): Promise<Capture> {
  const { status } = response;
  const head = { status, headers: [...response.headers] as [string, string][] };
  const again = (
    body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
    added: Finished & { kind: "send" },
  ) => rebuilt(response, isBodiless(status) ? null : body, added.headers);
  const { body } = response;
  if (body === null) {
    const captured: Captured = { ...head, body: { kind: "whole", bytes: null } };
    return { kind: "whole", captured, send: (added) => again(null, added) };
  }
  if (essenceOf(response.headers.get("content-type")) === "text/event-stream") {
    const captured: Captured = { ...head, body: { kind: "overflow" } };
    return { kind: "endless", captured, send: (added) => again(body, added) };
  }
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    while (length <= bytesMax) {
      const { done, value } = await reader.read();
      if (done) {
        const bytes = joined(chunks, length);
        const captured: Captured = { ...head, body: { kind: "whole", bytes } };
        return { kind: "whole", captured, send: (added) => again(bytes, added) };
      }
      chunks.push(value);
      length += value.byteLength;
    }
  } catch (error) {
    return { kind: "aborted", error };
  }
  const send = (finish: Finish): Response => {
    const added = [["idempotency-status", "executed"]] as const;
    return rebuilt(response, passedOn(chunks, reader, head, finish), added);
  };
  return { kind: "passing", send };
}

/** The same response with another body: the handler's headers, then the added ones. */
function rebuilt(
  response: Response,
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
  added: readonly (readonly [string, string])[],
): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of added) headers.set(name, value);
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

function passedOn(
  held: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  head: Pick<Captured, "status" | "headers">,
  finish: Finish,
): ReadableStream<Uint8Array> {
  const next = async (): Promise<Uint8Array | null> => {
    const { done, value } = await reader.read();
    if (!done) return value;
    return null;
  };
  return new ReadableStream<Uint8Array>({
    // One chunk is always kept back: it may be the last.
    async pull(controller) {
      let chunk: Uint8Array | null;
      try {
        chunk = await next();
      } catch (error) {
        await finish({ ...head, body: { kind: "aborted", error } });
        controller.error(error);
        return;
      }
      if (chunk !== null) {
        held.push(chunk);
        controller.enqueue(held.shift()!);
        return;
      }
      const finished = await finish({ ...head, body: { kind: "overflow" } });
      // The head is sent: a caller who must not believe this response sees it break off.
      if (finished.kind === "instead") {
        controller.error(new Error("another attempt has this idempotency key"));
        return;
      }
      for (const last of held.splice(0)) controller.enqueue(last);
      controller.close();
    },
    // The caller is gone; the work is not, and its outcome is recorded.
    async cancel() {
      try {
        while ((await next()) !== null) {}
        await finish({ ...head, body: { kind: "overflow" } });
      } catch (error) {
        await finish({ ...head, body: { kind: "aborted", error } });
      }
    },
  });
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
