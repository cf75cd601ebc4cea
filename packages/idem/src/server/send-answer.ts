// Writes an answer to the line. Streams go as fast as their reader takes them, and end when it leaves.
import type { ServerResponse } from "node:http";
import type { RouteAnswer } from "./route.ts";

/** Everything but a stream. */
export type PlainBody = Exclude<RouteAnswer["body"], AsyncIterable<string | Uint8Array>>;

export const isStream = (body: RouteAnswer["body"]): body is AsyncIterable<string | Uint8Array> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;

const jsonType = "application/json; charset=utf-8";

/** The whole answer at once. */
export function sendPlain(
  response: ServerResponse,
  { status, headers }: RouteAnswer,
  body: PlainBody,
  extra: Readonly<Record<string, string>> | null,
): void {
  const isJson = typeof body === "object" && body !== null && "json" in body;
  const payload = isJson ? (JSON.stringify(body.json) ?? "null") : ((body as string | Uint8Array | null) ?? "");
  // Set one by one: spreading objects into each other is a tenth of what a small request costs.
  const all: Record<string, string | number> = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  if (isJson) all["content-type"] = jsonType;
  if (extra !== null) Object.assign(all, extra);
  if (headers !== undefined) Object.assign(all, headers);
  // Bodies are forbidden with these, and so is saying how long they are.
  const isBare = status === 204 || status === 304;
  if (!isBare) all["content-length"] = Buffer.byteLength(payload);
  response.writeHead(status, all);
  // Node leaves the body out for HEAD.
  if (isBare) response.end();
  else response.end(payload);
}

/** Resolves once the stream is over or its reader has left; rejects with what the stream threw, and the line must be cut. */
export async function sendStream(
  response: ServerResponse,
  { status, headers }: RouteAnswer,
  body: AsyncIterable<string | Uint8Array>,
  extra: Readonly<Record<string, string>> | null,
): Promise<void> {
  response.writeHead(status, {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...extra,
    ...headers,
  });
  const iterator = body[Symbol.asyncIterator]();
  const gone = new Promise<null>((resolve) => response.once("close", () => resolve(null)));
  const drained = () => new Promise<void>((resolve) => response.once("drain", resolve));
  try {
    // A reader of events waits for the headers, which are known before the first piece.
    response.flushHeaders();
    while (!response.destroyed && response.req.method !== "HEAD") {
      const next = await Promise.race([iterator.next(), gone]);
      if (next === null || next.done === true) break;
      if (!response.write(next.value)) await Promise.race([drained(), gone]);
    }
    response.end();
  } finally {
    // Not awaited: an iterator in the middle of `next` answers `return` only afterwards.
    void iterator.return?.()?.then(undefined, () => {});
  }
}
