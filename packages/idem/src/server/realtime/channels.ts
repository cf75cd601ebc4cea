// The listeners of channels, in this process. Messages are kept in the store for a while (store/channels.ts) and read from there, so
// they reach subscribers of every node, each once and in order. One that cannot keep up is left where it is and reads on when
// it can; it hears of those that are gone by then. The others and the publisher do not wait for it.
import { errors } from "../../model/errors.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import { type ChannelTopic, gapFrame, withPlace } from "../../protocol/realtime-frames.ts";
import type { Message, NewMessage } from "../../store/channels.ts";
import type { Beginning, FollowChannels, Following, Gap, Start } from "../channels/follow-channels.ts";
import type { PublishQueue } from "../channels/publish-queue.ts";
import { realtimeLimits } from "./limits.ts";
import { placesFrom, placeText } from "./place.ts";

/** The way out to one subscriber. */
export interface Line {
  /** Said first: where it begins to hear. */
  began(place: string): void;
  /** `sent` is called once the bytes are no longer held here. */
  frame(bytes: Buffer, place: string, sent: () => void): void;
  /** A server-sent event as an app wrote it; absent where only frames are spoken. */
  event?(text: string, place: string, sent: () => void): void;
  /** False when the last ping was not answered. */
  ping(): boolean;
  /** Tells the subscriber why, then lets it go; resolves once it is gone. */
  close(reason: string): Promise<void>;
}

export interface Subscription {
  /** Ending it twice is the same as once. */
  stop(): void;
  /** Resolves once everything that is published by now was handed over, or it has ended. */
  caughtUp(): Promise<void>;
}

interface Subscriber {
  readonly env: string;
  /** Its holder's. */
  readonly token: string;
  readonly topics: ReadonlyMap<string, ReadonlySet<string>>;
  readonly line: Line;
  /** In the order of its channels, as its places are written. */
  readonly following: Following[];
  waitingBytes: number;
}

type Limits = { readonly [K in keyof typeof realtimeLimits]: number };

export interface ChannelsOptions {
  readonly platform: Pick<Platform, "timer">;
  readonly follow: FollowChannels;
  readonly queue: PublishQueue;
  /** Other than they are. */
  readonly limits?: Partial<Limits>;
}

export class Channels {
  private readonly subscribers = new Set<Subscriber>();
  /** Subscribers of each token and of each environment. */
  private readonly byHolder = new Map<string, number>();
  private readonly limits: Limits;
  /** Asked for and not there yet. */
  private comingCount = 0;
  private waitingBytes = 0;
  private pings: Timer | null = null;
  private isClosed = false;
  /** One message is the same bytes for all who hear its channel alone. */
  private readonly written = new WeakMap<Message, Buffer>();

  constructor(private readonly options: ChannelsOptions) {
    this.limits = { ...realtimeLimits, ...options.limits };
  }

  get count(): number {
    return this.subscribers.size;
  }

  /** Throws SERVER_BUSY. */
  private checkRoom(env: string, token: string): void {
    if (this.isClosed) throw errors.SERVER_BUSY({ why: "it is stopping" });
    const { subscribersMax, subscribersPerTokenMax, subscribersPerEnvironmentMax } = this.limits;
    if (this.subscribers.size + this.comingCount >= subscribersMax) {
      throw errors.SERVER_BUSY({ why: `${subscribersMax} subscribers are connected` });
    }
    if ((this.byHolder.get(ofToken(token)) ?? 0) >= subscribersPerTokenMax) {
      throw errors.SERVER_BUSY({ why: `${subscribersPerTokenMax} subscribers with this token are connected` });
    }
    if ((this.byHolder.get(ofEnvironment(env)) ?? 0) >= subscribersPerEnvironmentMax) {
      throw errors.SERVER_BUSY({ why: `${subscribersPerEnvironmentMax} subscribers of "${env}" are connected` });
    }
  }

  /**
   * The beginning of a subscriber of these topics: after the place it comes back with. Without one it begins now, or with the first message that is
   * stored. The result makes it a subscriber.
   */
  async prepare(
    env: string,
    topics: readonly ChannelTopic[],
    from: string | null,
    token: string,
    begins: Beginning = "now",
  ): Promise<(line: Line) => Subscription> {
    this.checkRoom(env, token);
    const byChannel = new Map<string, Set<string>>();
    for (const { channel, topic } of topics) {
      const known = byChannel.get(channel) ?? new Set();
      byChannel.set(channel, known.add(topic));
    }
    const names = [...byChannel.keys()];
    const places = from === null ? begins : placesFrom(from, names.length);
    this.comingCount++;
    try {
      const found = await this.options.follow.starts(env, names.map(storedName), places);
      const starts = found.map((start, i) => ({ ...start, channel: names[i]! }));
      return (line) => this.subscribe({ env, token, topics: byChannel, line, following: [], waitingBytes: 0 }, starts);
    } finally {
      this.comingCount--;
    }
  }

  private subscribe(subscriber: Subscriber, starts: readonly (Start & { readonly channel: string })[]): Subscription {
    const { env, token, line, following } = subscriber;
    this.checkRoom(env, token);
    this.subscribers.add(subscriber);
    this.countHolders(subscriber, 1);
    this.pings ??= this.armPings();
    const places = starts.map(({ at }) => at);
    line.began(placeText(places));
    for (const [i, { channel, gap }] of starts.entries())
      if (gap !== null) this.tellGap(subscriber, i, channel, gap, places);
    for (const [i, { channel, at }] of starts.entries()) {
      const placeAt = (place: number): string =>
        placeText(places.map((each, n) => (n === i ? place : (following[n]?.at ?? each))));
      following.push(
        this.options.follow.follow(env, storedName(channel), at, true, {
          hasRoom: () => this.hasRoom(subscriber),
          hear: (message) => this.hear(subscriber, channel, message, placeAt(message.place)),
          missed: (gone) => {
            const now = places.map((each, n) => following[n]?.at ?? each);
            this.tellGap(subscriber, i, channel, gone, now);
          },
        }),
      );
    }
    return {
      stop: () => this.remove(subscriber),
      caughtUp: async () => void (await Promise.all(following.map((each) => each.caughtUp()))),
    };
  }

  /** One message for each of the topics it has; resolves once it is stored, with how many subscribers of this process hear it. */
  async publish(env: string, said: readonly (ChannelTopic & { readonly frame: string })[]): Promise<number> {
    await this.leave(
      env,
      said[0]!.channel,
      said.map(({ topic, frame }) => ({ topic, body: frame })),
    );
    return said.reduce((sum, { channel, topic }) => sum + this.countOf(env, channel, topic), 0);
  }

  /** Server-sent events as an app wrote them, for everyone on the channel who reads such. */
  async tee(env: string, channel: string, events: readonly string[]): Promise<void> {
    await this.leave(
      env,
      channel,
      events.map((body) => ({ topic: null, body })),
    );
  }

  private leave(env: string, channel: string, messages: readonly Omit<NewMessage, "id">[]): Promise<void> {
    return this.options.queue.publish(env, storedName(channel), messages);
  }

  private countOf(env: string, channel: string, topic: string): number {
    let count = 0;
    for (const subscriber of this.subscribers) {
      if (subscriber.env === env && subscriber.topics.get(channel)?.has(topic)) count++;
    }
    return count;
  }

  /** Everyone hears why; resolves once all have gone. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.subscribers].map((subscriber) => this.drop(subscriber, "the server is stopping")));
  }

  /** False when it has to wait until the subscriber has read what it has. */
  private hear(subscriber: Subscriber, channel: string, message: Message, place: string): boolean {
    const { line, topics } = subscriber;
    const { topic, body } = message;
    if (topic === null) {
      if (line.event === undefined) return true;
      return this.hand(subscriber, Buffer.byteLength(body), (sent) => line.event!(body, place, sent));
    }
    if (!topics.get(channel)!.has(topic)) return true;
    const isAlone = topics.size === 1;
    const bytes = (isAlone ? this.written.get(message) : undefined) ?? Buffer.from(withPlace(body, place));
    if (isAlone) this.written.set(message, bytes);
    return this.hand(subscriber, bytes.length, (sent) => line.frame(bytes, place, sent));
  }

  private tellGap(
    subscriber: Subscriber,
    i: number,
    channel: string,
    { after, upTo }: Gap,
    places: readonly number[],
  ): void {
    const place = placeText(places.map((each, n) => (n === i ? upTo : each)));
    const bytes = Buffer.from(gapFrame(channel, after, upTo, place));
    // However little room there is: it is what a reader must know.
    this.give(subscriber, bytes.length, (sent) => subscriber.line.frame(bytes, place, sent));
  }

  private hasRoom({ waitingBytes }: Subscriber): boolean {
    return waitingBytes <= this.limits.waitingBytesMax / 2 && this.waitingBytes < this.limits.waitingBytesTotalMax;
  }

  private hand(subscriber: Subscriber, size: number, send: (sent: () => void) => void): boolean {
    const { waitingBytesMax, waitingBytesTotalMax } = this.limits;
    if (subscriber.waitingBytes > 0 && subscriber.waitingBytes + size > waitingBytesMax) return false;
    if (this.waitingBytes + size > waitingBytesTotalMax) return false;
    this.give(subscriber, size, send);
    return true;
  }

  private give(subscriber: Subscriber, size: number, send: (sent: () => void) => void): void {
    subscriber.waitingBytes += size;
    this.waitingBytes += size;
    let isSent = false;
    send(() => {
      if (isSent) return;
      isSent = true;
      subscriber.waitingBytes -= size;
      this.waitingBytes -= size;
      if (this.hasRoom(subscriber)) for (const each of subscriber.following) each.goOn();
    });
  }

  private drop(subscriber: Subscriber, reason: string): Promise<void> {
    this.remove(subscriber);
    return subscriber.line.close(reason);
  }

  private remove(subscriber: Subscriber): void {
    if (!this.subscribers.delete(subscriber)) return;
    this.countHolders(subscriber, -1);
    for (const each of subscriber.following) each.stop();
    if (this.subscribers.size === 0) {
      this.pings?.cancel();
      this.pings = null;
    }
  }

  private countHolders({ env, token }: Subscriber, by: 1 | -1): void {
    for (const holder of [ofToken(token), ofEnvironment(env)]) {
      const count = (this.byHolder.get(holder) ?? 0) + by;
      if (count === 0) this.byHolder.delete(holder);
      else this.byHolder.set(holder, count);
    }
  }

  private armPings(): Timer {
    return this.options.platform.timer(
      this.limits.pingMs,
      () => {
        this.pings = null;
        for (const subscriber of [...this.subscribers]) {
          if (!subscriber.line.ping()) void this.drop(subscriber, "the last ping was not answered");
        }
        if (this.subscribers.size > 0) this.pings = this.armPings();
      },
      { background: true },
    );
  }
}

const ofToken = (token: string): string => `token ${token}`;
const ofEnvironment = (env: string): string => `environment ${env}`;

/** Channels of people stand apart from what nodes leave for each other. */
const storedName = (channel: string): string => `realtime ${channel}`;
