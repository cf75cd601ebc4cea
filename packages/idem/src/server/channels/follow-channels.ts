// Reads channels of the store as they grow, for everybody in this process who follows them: each from its own place, in order, nothing twice.
//
//   a message was published …   found
//   by this process             at once: its commit is known
//   by another, with a hint     as soon as the hint is heard
//   by another, without one     with the next look at all channels that are followed, within a second
//
// Messages a follower cannot take now stay in the store; it reads on from its place once it can. Where that is gone by then, it hears of the gap.
import type { Platform, Timer } from "../../platform/platform.ts";
import {
  type ChannelRow,
  channelBounds,
  firstPlace,
  type Message,
  type MessagePage,
  type NewMessage,
} from "../../store/channels.ts";
import type { Store } from "../../store/store.ts";

// A page of the largest messages is a few of them.
const room = { limit: 200, bytes: 1024 * 1024 };
// As many names as one statement asks for.
const rowsAtOnce = 500;

/** Somebody who hears a channel. */
export interface Follower {
  hasRoom(): boolean;
  /** False when there is no room for it now; then it is offered again after `goOn`. */
  hear(message: Message): boolean;
  missed(gap: Gap): void;
}

export interface Following {
  /** Up to where it has heard. */
  readonly at: number;
  /** There is room again. */
  goOn(): void;
  /** Resolves once it has heard everything that is there by now, or was stopped. */
  caughtUp(): Promise<void>;
  stop(): void;
}

interface Reader extends Following {
  at: number;
  readonly follower: Follower;
  /** Reads on by itself until it has what the others have. */
  isBehind: boolean;
  isReading: boolean;
  /** There is more since it last read. */
  again: boolean;
  isStopped: boolean;
  readonly waiting: (() => void)[];
}

interface Channel {
  readonly env: string;
  readonly name: string;
  readonly readers: Set<Reader>;
  /** Up to where it was handed out. */
  at: number;
  looking: Promise<void> | null;
  again: boolean;
  /** The last look failed. */
  isDue: boolean;
}

/** Gone: after one place, up to and with the other. */
export interface Gap {
  readonly after: number;
  readonly upTo: number;
}

/** Where a follower without a place begins: behind the last message, or with the first one that is stored. */
export type Beginning = "now" | "first";

export interface Start {
  readonly at: number;
  readonly gap: Gap | null;
}

type Reads = Pick<Store["reads"], "channels" | "messages" | "now">;

export interface FollowChannelsOptions {
  readonly store: Pick<Store, "publish" | "shared"> & { readonly reads: Reads };
  readonly platform: Pick<Platform, "timer">;
  readonly report: (what: string, error: unknown) => void;
}

export class FollowChannels {
  private readonly channels = new Map<string, Channel>();
  private ticking: Timer | null = null;
  private unsubscribe: (() => void) | null = null;
  private isClosed = false;
  private isTroubled = false;

  constructor(private readonly options: FollowChannelsOptions) {}

  /** Places from which to follow these channels, given those a follower comes back with. */
  async starts(env: string, names: readonly string[], from: readonly number[] | Beginning): Promise<Start[]> {
    const { reads } = this.options.store;
    // Before the rows: what is not there yet begins later.
    const now = await reads.now();
    const rows = await this.rows(env, names);
    return names.map((name, i) => startOf(rows.get(name), typeof from === "string" ? from : from[i]!, now));
  }

  private async rows(env: string, names: readonly string[]): Promise<ReadonlyMap<string, ChannelRow>> {
    const rows = await this.options.store.reads.channels(env, names);
    return new Map(rows.map((row) => [row.channel, row]));
  }

  /** Everything after the place `at`; where nobody can have said anything yet, it is not looked for at once. */
  follow(env: string, name: string, at: number, looksNow: boolean, follower: Follower): Following {
    const key = keyOf(env, name);
    const channel = this.channels.get(key) ?? {
      env,
      name,
      readers: new Set<Reader>(),
      at,
      looking: null,
      again: false,
      isDue: false,
    };
    this.channels.set(key, channel);
    const reader: Reader = {
      at,
      follower,
      isBehind: false,
      isReading: false,
      again: false,
      isStopped: false,
      waiting: [],
      goOn: () => {
        if (reader.isBehind) void this.catchUp(channel, reader);
      },
      caughtUp: () => this.caughtUp(channel, reader),
      stop: () => {
        reader.isStopped = true;
        release(reader);
        channel.readers.delete(reader);
        if (channel.readers.size === 0) this.forget(key);
      },
    };
    channel.readers.add(reader);
    if (at < channel.at) {
      reader.isBehind = true;
      void this.catchUp(channel, reader);
    }
    // Published since its place was read.
    if (looksNow) void this.look(channel);
    this.begin();
    return reader;
  }

  /** This process published these; the first has that place. */
  published(env: string, name: string, messages: readonly NewMessage[], place: number): void {
    const channel = this.channels.get(keyOf(env, name));
    if (channel === undefined) return;
    // The next one is there already; anything else is read in its order.
    if (channel.looking !== null || channel.at !== place - 1) {
      void this.look(channel);
      return;
    }
    for (const [i, { topic, body }] of messages.entries())
      this.handOut(channel, { place: place + i, topic, body }, null);
  }

  close(): void {
    this.isClosed = true;
    this.ticking?.cancel();
    this.unsubscribe?.();
    for (const { readers } of this.channels.values()) for (const reader of [...readers]) reader.stop();
  }

  // ------------------------------------------------------------------------------------------------ looking

  private begin(): void {
    const { store, platform } = this.options;
    if (this.isClosed) return;
    this.unsubscribe ??=
      store.shared?.subscribe((hint) => {
        if (hint.kind !== "published") return;
        const channel = this.channels.get(keyOf(hint.env, hint.channel));
        if (channel !== undefined) void this.look(channel);
      }) ?? null;
    this.ticking ??= platform.timer(Math.min(store.shared?.pollMs ?? tickMs, tickMs), () => void this.tick(), {
      background: true,
    });
  }

  private forget(key: string): void {
    this.channels.delete(key);
    if (this.channels.size > 0) return;
    this.ticking?.cancel();
    this.ticking = null;
  }

  /** Everything that another process may have said, and what could not be read or heard before. */
  private async tick(): Promise<void> {
    try {
      if (this.options.store.shared !== null) await this.lookForOthers();
      for (const channel of [...this.channels.values()]) {
        if (channel.isDue) void this.look(channel);
        for (const reader of channel.readers) if (reader.isBehind) void this.catchUp(channel, reader);
      }
    } catch (error) {
      this.report(error);
    } finally {
      this.ticking = null;
      if (this.channels.size > 0) this.begin();
    }
  }

  private async lookForOthers(): Promise<void> {
    const byEnv = new Map<string, Channel[]>();
    for (const channel of this.channels.values()) {
      const known = byEnv.get(channel.env);
      if (known === undefined) byEnv.set(channel.env, [channel]);
      else known.push(channel);
    }
    for (const [env, all] of byEnv) {
      for (let from = 0; from < all.length; from += rowsAtOnce) {
        const some = all.slice(from, from + rowsAtOnce);
        const rows = await this.rows(
          env,
          some.map(({ name }) => name),
        );
        for (const channel of some)
          if ((rows.get(channel.name)?.last ?? channel.at) !== channel.at) void this.look(channel);
      }
    }
  }

  /** Reads what is new; asked for while it reads, it reads once more. */
  private look(channel: Channel): Promise<void> {
    channel.again = true;
    channel.looking ??= this.readOn(channel);
    return channel.looking;
  }

  private async readOn(channel: Channel): Promise<void> {
    try {
      while (channel.again && channel.readers.size > 0) {
        channel.again = false;
        channel.isDue = false;
        const page = await this.read(channel, channel.at);
        if (page === null) continue;
        if (page.last < channel.at) this.goBack(channel, page.last);
        if (page.floor > channel.at) this.passOver(channel, page.floor);
        for (const message of page.messages) this.handOut(channel, message, page);
        if (page.messages.length > 0 && page.last > channel.at) channel.again = true;
      }
    } catch (error) {
      channel.isDue = true;
      this.report(error);
    } finally {
      // In the same turn as the last look at `again`: anybody who asks from here on begins anew.
      channel.looking = null;
    }
  }

  /** Nobody here has heard what was up to there, and it is gone. */
  private passOver(channel: Channel, floor: number): void {
    channel.at = floor;
    for (const reader of channel.readers) {
      if (reader.isBehind || reader.at >= floor) continue;
      reader.isBehind = true;
      void this.catchUp(channel, reader);
    }
  }

  /** The store has lost what it had: it was replaced by a copy that is older. */
  private goBack(channel: Channel, last: number): void {
    channel.at = last;
    for (const reader of channel.readers) {
      if (reader.at <= last) continue;
      reader.follower.missed({ after: reader.at, upTo: last });
      reader.at = last;
    }
  }

  private handOut(channel: Channel, message: Message, page: MessagePage | null): void {
    channel.at = message.place;
    for (const reader of [...channel.readers]) {
      if (reader.isStopped || message.place <= reader.at) continue;
      if (reader.isBehind) {
        reader.again = true;
        continue;
      }
      if (isNext(reader.at, message, page) && reader.follower.hear(message)) {
        reader.at = message.place;
        continue;
      }
      reader.isBehind = true;
      void this.catchUp(channel, reader);
    }
  }

  private async read({ env, name }: Channel, after: number): Promise<MessagePage | null> {
    const { store } = this.options;
    const page = await store.reads.messages(env, name, after, room);
    this.isTroubled = false;
    // A message that was handed out must not be unsaid by a standby that takes over.
    if (page !== null && page.messages.length > 0) await store.shared?.stand();
    return page;
  }

  /** Reads for one that has less than the others, until it has as much or has no room. */
  private async catchUp(channel: Channel, reader: Reader): Promise<void> {
    reader.again = true;
    if (reader.isReading || reader.isStopped) return;
    reader.isReading = true;
    try {
      while (reader.again) {
        // No gap is announced either: by the time there is room it may be larger.
        if (!reader.follower.hasRoom()) return;
        reader.again = false;
        const page = await this.read(channel, reader.at);
        if (reader.isStopped) return;
        if (page === null || page.last <= reader.at) continue;
        if (reader.at < page.floor) {
          // A channel that was forgotten and is new: its followers have heard all there was.
          if (page.floor > page.base) reader.follower.missed({ after: reader.at, upTo: page.floor });
          reader.at = page.floor;
        }
        for (const message of page.messages) {
          // Some went between the look at the channel and the one at its messages.
          if (message.place !== reader.at + 1) break;
          if (!reader.follower.hear(message)) return;
          reader.at = message.place;
        }
        reader.again = true;
      }
      reader.isBehind = false;
      release(reader);
    } catch (error) {
      this.report(error);
    } finally {
      reader.isReading = false;
    }
  }

  private async caughtUp(channel: Channel, reader: Reader): Promise<void> {
    await this.look(channel);
    if (!reader.isBehind || reader.isStopped) return;
    await new Promise<void>((resolve) => {
      reader.waiting.push(resolve);
      void this.catchUp(channel, reader);
    });
  }

  /** Once, until the store answers again: it is tried every second. */
  private report(error: unknown): void {
    if (this.isClosed || this.isTroubled) return;
    this.isTroubled = true;
    this.options.report("reading what was published", error);
  }
}

// The longest that anything waits for a look.
const tickMs = 1_000;

const keyOf = (env: string, name: string): string => JSON.stringify([env, name]);

// Nodes know the store's time to a few milliseconds.
const clocksDifferMs = 60_000;

/**
 *   │ comes back with …           │ the channel                     │ begins at           │ hears of a gap
 *   │ no place                    │ is not known                    │ the present         │ no
 *   │                             │ is known                        │ its last message    │ no
 *   │ no place, wants the first   │ is known                        │ what is kept        │ if that is not all
 *   │ a place it has              │ is known                        │ that place          │ no
 *   │ a place before what is kept │ is known                        │ what is kept        │ yes
 *   │ a place before it began     │ began since, and keeps all      │ its first message   │ no, if its row would still be there
 *   │ a place                     │ is not known                    │ that place          │ no, if its row would still be there
 *   │ a place it does not have    │ lost what it had                │ its last message    │ yes
 */
function startOf(row: ChannelRow | undefined, from: number | Beginning, now: number): Start {
  const present = firstPlace(now - clocksDifferMs);
  const last = row?.last ?? present;
  if (from === "first" && row !== undefined) {
    return { at: row.floor, gap: row.floor === row.base ? null : { after: row.base, upTo: row.floor } };
  }
  if (from === "now" || from === "first") return { at: last, gap: null };
  const isRecent = from > firstPlace(now - channelBounds.rowKeptMs + clocksDifferMs);
  if (row === undefined) {
    return from <= firstPlace(now + clocksDifferMs) && isRecent
      ? { at: Math.min(from, present), gap: null }
      : { at: present, gap: { after: from, upTo: present } };
  }
  if (from > last) return { at: last, gap: { after: from, upTo: last } };
  if (from >= row.floor) return { at: from, gap: null };
  const isWhole = from < row.base && row.floor === row.base && isRecent;
  return { at: row.floor, gap: isWhole ? null : { after: from, upTo: row.floor } };
}

const isNext = (at: number, { place }: Message, page: MessagePage | null): boolean =>
  place === at + 1 || (page !== null && at < page.base && place === page.base + 1);

function release({ waiting }: Reader): void {
  for (const resolve of waiting.splice(0)) resolve();
}
