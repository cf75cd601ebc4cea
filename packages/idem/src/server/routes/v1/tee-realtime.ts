// POST /v1/realtime/publish/tee: what a run says to its caller (server-sent events), passed on to those who follow it.
import { checkName } from "../../../protocol/realtime-frames.ts";
import { WholeEvents } from "../../realtime/event-line.ts";
import { realtimeLimits } from "../../realtime/limits.ts";
import { json, type Route } from "../../route.ts";

export const teeRealtime: Route = {
  method: "POST",
  path: "/v1/realtime/publish/tee",
  access: "signing-key",
  bodyBytesMax: realtimeLimits.teeBytesMax,
  streams: true,
  // As long as its publisher writes.
  waits: true,
  contentTypes: ["application/octet-stream", "text/event-stream"],
  errors: "wire",
  async handle(request, { channels, endpoints }) {
    const channel = checkName(request.query.get("channel"), "channel");
    const events = new WholeEvents();
    for await (const piece of untilStopped(request.stream ?? [request.body], endpoints.stopSignal)) {
      await channels.tee(request.env, channel, events.take(piece));
    }
    return json({ data: { channel } });
  },
};

/** The SDK leaves the stream of a call open that ended with a step; a server that stops does not wait for its end. */
async function* untilStopped(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let leave = () => {};
  const stopped = new Promise<null>((resolve) => {
    leave = () => resolve(null);
    signal.addEventListener("abort", leave, { once: true });
  });
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), stopped]);
      if (next === null || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
