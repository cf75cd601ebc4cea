// The wire of realtime: what is asked when a token is requested, and the frames subscribers receive (docs/reference/wire.md#realtime).
import { errors } from "../model/errors.ts";

export interface ChannelTopic {
  readonly channel: string;
  readonly topic: string;
}

// One subscription page of a large dashboard; the list has to fit into a token, and the token into a URL.
const topicsMax = 50;
const nameCharsMax = 512;

/** `[{ "channel", "name": "<topic>", "kind": "run" }]` */
export function readTokenRequest(body: unknown): ChannelTopic[] {
  if (!Array.isArray(body) || body.length === 0) {
    throw errors.REQUEST_INVALID({ why: "the body must be a list of { channel, name }, one for each topic" });
  }
  if (body.length > topicsMax) {
    throw errors.REQUEST_INVALID({ why: `${body.length} topics were asked for, more than ${topicsMax}` });
  }
  return body.map((entry: unknown) => {
    const { channel, name } = (typeof entry === "object" && entry !== null ? entry : {}) as Record<string, unknown>;
    return { channel: checkName(channel, "channel"), topic: checkName(name, "name") };
  });
}

/** The name of a channel or topic. */
export function checkName(value: unknown, field: string): string {
  if (typeof value !== "string" || value === "") {
    throw errors.REQUEST_INVALID({ why: `"${field}" must be a non-empty string` });
  }
  if (value.length > nameCharsMax) {
    throw errors.REQUEST_INVALID({ why: `"${field}" has ${value.length} characters, more than ${nameCharsMax}` });
  }
  return value;
}

export interface FrameFacts extends ChannelTopic {
  readonly runId: string | null;
  readonly env: string;
  readonly at: number;
}

/** `data` is JSON text. */
export const dataFrame = (facts: FrameFacts, data: string): string => frame("data", facts, data, null);

export const streamStartFrame = (facts: FrameFacts, streamId: string): string =>
  frame("datastream-start", facts, JSON.stringify(streamId), null);

export const streamChunkFrame = (facts: FrameFacts, streamId: string, text: string): string =>
  frame("chunk", facts, JSON.stringify(text), streamId);

export const streamEndFrame = (facts: FrameFacts, streamId: string): string =>
  frame("datastream-end", facts, JSON.stringify(streamId), null);

/** The last frame before the server closes the connection. */
export const closingFrame = (reason: string): string => JSON.stringify({ kind: "closing", data: { reason } });

function frame(kind: string, facts: FrameFacts, data: string, streamId: string | null): string {
  const rest = JSON.stringify({
    kind,
    channel: facts.channel,
    topic: facts.topic,
    run_id: facts.runId ?? undefined,
    env_id: facts.env,
    created_at: new Date(facts.at).toISOString(),
    stream_id: streamId ?? undefined,
  });
  return `${rest.slice(0, -1)},"data":${data}}`;
}

/**
 * A publication, as JSON text on one line. The SDK says application/json whatever it was given, also for a bare string.
 * The text is kept as it came, numbers beyond a double included; line breaks in JSON are only ever between its tokens.
 */
export function publishedJson(text: string): string {
  if (text === "") return "null";
  try {
    JSON.parse(text);
    return text.replaceAll(/[\r\n]+/g, " ");
  } catch {
    return JSON.stringify(text);
  }
}

/** A frame with the place after which its reader goes on when it comes back. SDKs pass the field over. */
export const withPlace = (frameJson: string, place: string): string => `${frameJson.slice(0, -1)},"place":"${place}"}`;

/** Said first. */
export const subscribedFrame = (place: string): string => JSON.stringify({ kind: "sub", place });

/** Everything published after one place up to another is gone. SDKs pass a kind over that they do not know. */
export const gapFrame = (channel: string, after: number, upTo: number, place: string): string =>
  JSON.stringify({ kind: "gap", channel, data: { after, up_to: upTo }, place });

/** One frame as a server-sent event. */
export const asServerSentEvent = (frameJson: string, place?: string): string =>
  `data: ${frameJson}\n${place === undefined ? "" : `id: ${place}\n`}\n`;

/** An event that an app wrote, with an id of ours: of several the last one counts. */
export const withEventId = (event: string, place: string): string => `${event.slice(0, -1)}id: ${place}\n\n`;
