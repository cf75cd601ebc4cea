// Channels: short logs of messages that one process leaves and others read, each from its own place. They carry realtime, and messages that
// reached one node and belong to another.
//
// The row of a channel is its turn: a publisher has it until its commit. So places are given in the order of the commits, one after the
// other, and a reader that has read up to a place has missed nothing before it.

/** Bounds of a channel: how much is kept, and for how long. */
export const channelBounds = {
  messagesMax: 1_000,
  // Sixteen of the largest messages.
  bytesMax: 8 * 1024 * 1024,
  keptMs: 60 * 60 * 1_000,
  // A reader that comes back by then with a place hears what it missed, or that it did.
  rowKeptMs: 25 * 60 * 60 * 1_000,
  // Of all channels of an environment, as sweeps find it.
  environmentBytesMax: 256 * 1024 * 1024,
} as const;

export interface NewMessage {
  /** Made before the first try. */
  readonly id: string;
  /** By which readers choose; null for what is for all of them. */
  readonly topic: string | null;
  readonly body: string;
}

export interface PublishInput {
  readonly env: string;
  readonly channel: string;
  /** At least one; kept together, in this order. */
  readonly messages: readonly NewMessage[];
}

export interface Published {
  /** Of the first of them; the others follow. */
  readonly place: number;
}

/** A channel has the places after `floor` up to `last`. Those before `base` were of a channel of this name that was forgotten. */
export interface ChannelRow {
  readonly channel: string;
  readonly base: number;
  readonly floor: number;
  readonly last: number;
}

export interface Message {
  readonly place: number;
  readonly topic: string | null;
  readonly body: string;
}

export interface MessagePage extends Omit<ChannelRow, "channel"> {
  /** After the place that was asked for, or what is left after it; one at least where there is any. */
  readonly messages: readonly Message[];
}

export interface PageRoom {
  readonly limit: number;
  readonly bytes: number;
}

export const sizeOf = ({ body, topic }: Pick<NewMessage, "body" | "topic">): number =>
  Buffer.byteLength(body) + Buffer.byteLength(topic ?? "");

/**
 * The first place of an unknown channel: behind every place that one of its name ever had, as long as no millisecond brings a thousand
 * messages for an hour.
 */
export const firstPlace = (now: number): number => now * 1_000;

interface Kept {
  readonly place: number;
  readonly size: number;
}

/** Up to which place the oldest must go, given the oldest in their order; the newest always stays. */
export function floorWithin(
  oldest: readonly Kept[],
  { floor, last, bytes }: { readonly floor: number; readonly last: number; readonly bytes: number },
): { readonly floor: number; readonly bytes: number } {
  const { messagesMax, bytesMax } = channelBounds;
  let kept = { floor, bytes };
  for (const { place, size } of oldest) {
    if (place === last || (last - kept.floor <= messagesMax && kept.bytes <= bytesMax)) break;
    kept = { floor: place, bytes: kept.bytes - size };
  }
  return kept;
}
