// A message takes the next place of its channel. Repeat: known by its id as long as it is kept.
import { channelBounds, firstPlace, floorWithin, type Published, type PublishInput, sizeOf } from "../channels.ts";
import type { StoreReads } from "../reads.ts";
import type { Channel, Database, Moment, Tables } from "./tables.ts";

export function publishMessages(tables: Tables, { now }: Moment, { channel, messages }: PublishInput): Published {
  const first = firstPlace(now);
  const held = tables.channels.get(channel) ?? {
    base: first,
    floor: first,
    last: first,
    bytes: 0,
    at: now,
    messages: [],
  };
  const known = held.messages.find(({ id }) => id === messages[0]!.id);
  if (known !== undefined) return { place: known.place };
  const added = messages.map((message, i) => ({
    ...message,
    place: held.last + 1 + i,
    size: sizeOf(message),
    at: now,
  }));
  const all = [...held.messages, ...added];
  const last = held.last + added.length;
  const bytes = held.bytes + added.reduce((sum, { size }) => sum + size, 0);
  const { floor } = floorWithin(all, { floor: held.floor, last, bytes });
  tables.channels.put(channel, from({ ...held, last, bytes, at: now, messages: all }, floor));
  return { place: held.last + 1 };
}

/** The channel without its messages up to a place. */
function from(channel: Channel, floor: number): Channel {
  const messages = channel.messages.filter(({ place }) => place > floor);
  return { ...channel, floor, messages, bytes: messages.reduce((sum, { size }) => sum + size, 0) };
}

export function reapMessages(tables: Tables, { now }: Moment, max: number): void {
  const { keptMs, rowKeptMs, environmentBytesMax } = channelBounds;
  const channels = tables.channels.entries().sort(([, a], [, b]) => a.at - b.at);
  const isHeavy = channels.reduce((sum, [, { bytes }]) => sum + bytes, 0) > environmentBytesMax;
  const quietest = new Set(isHeavy ? channels.filter(([, { bytes }]) => bytes > 0).slice(0, Math.min(max, 100)) : []);
  for (const each of channels) {
    const [name, channel] = each;
    const old = channel.messages.filter(({ at }) => quietest.has(each) || at < now - keptMs);
    if (old.length > 0) tables.channels.put(name, from(channel, old.at(-1)!.place));
    else if (channel.messages.length === 0 && channel.at < now - rowKeptMs) tables.channels.delete(name);
  }
}

export const memoryChannels = (database: Database): Pick<StoreReads, "channels" | "messages"> => ({
  async channels(env, channels) {
    const { channels: known } = database.env(env);
    return channels.flatMap((channel) => {
      const row = known.get(channel);
      return row === undefined ? [] : [{ channel, base: row.base, floor: row.floor, last: row.last }];
    });
  },
  async messages(env, channel, after, { limit, bytes }) {
    const row = database.env(env).channels.get(channel);
    if (row === undefined) return null;
    let total = 0;
    const next = row.messages.filter(({ place }) => place > after).slice(0, limit);
    const messages = next.filter(({ size }, i) => {
      total += size;
      return total <= bytes || i === 0;
    });
    const { base, floor, last } = row;
    return { base, floor, last, messages: messages.map(({ place, topic, body }) => ({ place, topic, body })) };
  },
});
