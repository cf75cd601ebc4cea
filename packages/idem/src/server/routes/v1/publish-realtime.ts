// POST /v1/realtime/publish: one message, or a stream of text that is passed on while it is being written.
import { errors } from "../../../model/errors.ts";
import { makeUlid } from "../../../model/ulid.ts";
import {
  checkName,
  dataFrame,
  type FrameFacts,
  publishedJson,
  streamChunkFrame,
  streamEndFrame,
  streamStartFrame,
} from "../../../protocol/realtime-frames.ts";
import { realtimeLimits } from "../../realtime/limits.ts";
import { json, type Route, type RouteRequest } from "../../route.ts";
import type { World } from "../../world.ts";

// A publisher has one topic; a few more cost nothing.
const topicsMax = 10;

export const publishRealtime: Route = {
  method: "POST",
  path: "/v1/realtime/publish",
  access: "signing-key",
  bodyBytesMax: realtimeLimits.streamBytesMax,
  streams: true,
  // As long as its publisher writes.
  waits: true,
  contentTypes: ["application/json", "text/plain", "text/stream"],
  errors: "wire",
  async handle(request, world) {
    const facts = factsOf(request, world);
    const isStream = request.headers["content-type"]?.startsWith("text/stream") === true;
    const subscribers = isStream
      ? await publishStream(request, facts, world)
      : await publishMessage(request, facts, world);
    return json({ data: { subscribers } });
  },
};

function factsOf({ query, env }: RouteRequest, { platform }: World): FrameFacts[] {
  const channel = checkName(query.get("channel"), "channel");
  const topics = query.getAll("topic");
  if (topics.length === 0 || topics.length > topicsMax) {
    throw errors.REQUEST_INVALID({ why: `between 1 and ${topicsMax} topics must be named in the query` });
  }
  const runId = query.get("run_id");
  return topics.map((topic) => ({ channel, topic: checkName(topic, "topic"), runId, env, at: platform.wallMs() }));
}

async function publishMessage(request: RouteRequest, facts: readonly FrameFacts[], world: World): Promise<number> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of bodyOf(request)) {
    bytes += piece.length;
    if (bytes > realtimeLimits.messageBytesMax) {
      throw errors.BODY_TOO_LARGE({ max: realtimeLimits.messageBytesMax });
    }
    pieces.push(piece);
  }
  const data = publishedJson(Buffer.concat(pieces).toString());
  return world.channels.publish(
    request.env,
    facts.map((fact) => ({ ...fact, frame: dataFrame(fact, data) })),
  );
}

/** Subscribers always see the end of what they saw begin, also when the publisher dies in the middle. */
async function publishStream(request: RouteRequest, facts: readonly FrameFacts[], world: World): Promise<number> {
  const { env } = request;
  const streamId = makeUlid(world.platform.wallMs(), world.platform.randomBytes(10));
  const say = (...framesOf: ((fact: FrameFacts) => string)[]) =>
    world.channels.publish(
      env,
      framesOf.flatMap((frameOf) => facts.map((fact) => ({ ...fact, frame: frameOf(fact) }))),
    );
  // Characters of several bytes may be cut between two pieces.
  const decoder = new TextDecoder();
  const sayText = async (text: string): Promise<void> => {
    const pieces = [...split(text)].map((piece) => (fact: FrameFacts) => streamChunkFrame(fact, streamId, piece));
    if (pieces.length > 0) await say(...pieces);
  };
  const subscribers = await say((fact) => streamStartFrame(fact, streamId));
  try {
    for await (const piece of bodyOf(request)) await sayText(decoder.decode(piece, { stream: true }));
    await sayText(decoder.decode());
  } finally {
    await say((fact) => streamEndFrame(fact, streamId));
  }
  return subscribers;
}

const bodyOf = ({ stream, body }: RouteRequest): AsyncIterable<Uint8Array> | readonly Uint8Array[] => stream ?? [body];

/** Pieces of whole characters, none longer than a chunk may be. */
function* split(text: string): Generator<string> {
  // A UTF-16 unit takes at most three bytes of UTF-8.
  const unitsMax = Math.floor(realtimeLimits.chunkBytesMax / 3);
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + unitsMax, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end--;
    yield text.slice(at, end);
    at = end;
  }
}
