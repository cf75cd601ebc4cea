// Who listens to which channel, in this process. Nothing is kept: what is published reaches whoever is connected at that
// moment, at most once. A subscriber that cannot keep up is dropped with a reason, so that it knows it missed something;
// the others and the publisher do not wait for it.
import { errors } from "../../model/errors.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import type { ChannelTopic } from "../../protocol/realtime-frames.ts";
import { realtimeLimits } from "./limits.ts";

/** The way out to one subscriber. */
export interface Line {
  /** `sent` is called once the bytes are no longer held here. */
  frame(bytes: Buffer, sent: () => void): void;
  /** Server-sent events as an app wrote them; absent where only frames are spoken. */
  events?(bytes: Buffer, sent: () => void): void;
  /** False when the last ping was not answered. */
  ping(): boolean;
  /** Tells the subscriber why, then lets it go; resolves once it is gone. */
  close(reason: string): Promise<void>;
}

interface Subscriber {
  readonly env: string;
  readonly topics: ReadonlyMap<string, ReadonlySet<string>>;
  readonly line: Line;
  waitingBytes: number;
}

type Limits = { readonly [K in keyof typeof realtimeLimits]: number };

export class Channels {
  private readonly subscribers = new Set<Subscriber>();
  private readonly byChannel = new Map<string, Set<Subscriber>>();
  private waitingBytes = 0;
  private pings: Timer | null = null;
  private isClosed = false;

  constructor(
    private readonly platform: Pick<Platform, "timer">,
    private readonly limits: Pick<
      Limits,
      "subscribersMax" | "waitingBytesMax" | "waitingBytesTotalMax" | "pingMs"
    > = realtimeLimits,
  ) {}

  get count(): number {
    return this.subscribers.size;
  }

  /** Throws SERVER_BUSY; ask before a connection is taken. */
  checkRoom(): void {
    if (this.isClosed) throw errors.SERVER_BUSY({ why: "it is stopping" });
    const { subscribersMax } = this.limits;
    if (this.subscribers.size >= subscribersMax) {
      throw errors.SERVER_BUSY({ why: `${subscribersMax} subscribers are connected` });
    }
  }

  /** The answer ends the subscription; ending it twice is the same as once. */
  subscribe(env: string, topics: readonly ChannelTopic[], line: Line): () => void {
    this.checkRoom();
    const byChannel = new Map<string, Set<string>>();
    for (const { channel, topic } of topics) {
      const known = byChannel.get(channel) ?? new Set();
      byChannel.set(channel, known.add(topic));
    }
    const subscriber: Subscriber = { env, topics: byChannel, line, waitingBytes: 0 };
    this.subscribers.add(subscriber);
    for (const channel of byChannel.keys()) {
      const name = nameOf(env, channel);
      const others = this.byChannel.get(name) ?? new Set();
      this.byChannel.set(name, others.add(subscriber));
    }
    this.pings ??= this.armPings();
    return () => this.remove(subscriber);
  }

  /** How many subscribers it was handed to. */
  publish(env: string, { channel, topic }: ChannelTopic, frame: string): number {
    const bytes = Buffer.from(frame);
    let count = 0;
    for (const subscriber of this.of(env, channel)) {
      if (!subscriber.topics.get(channel)!.has(topic)) continue;
      if (this.hand(subscriber, bytes, (sent) => subscriber.line.frame(bytes, sent))) count++;
    }
    return count;
  }

  /** Server-sent events as they are, to everyone on the channel who hears them; one whole event or several at a time. */
  tee(env: string, channel: string, bytes: Buffer): number {
    let count = 0;
    for (const subscriber of this.of(env, channel)) {
      const { line } = subscriber;
      if (line.events === undefined) continue;
      if (this.hand(subscriber, bytes, (sent) => line.events!(bytes, sent))) count++;
    }
    return count;
  }

  /** Everyone is told; resolves once all have gone. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.subscribers].map((subscriber) => this.drop(subscriber, "the server is stopping")));
  }

  private of(env: string, channel: string): readonly Subscriber[] {
    const found = this.byChannel.get(nameOf(env, channel));
    // A copy: handing something over may drop the subscriber from the set.
    return found === undefined ? [] : [...found];
  }

  private hand(subscriber: Subscriber, bytes: Buffer, send: (sent: () => void) => void): boolean {
    const { waitingBytesMax, waitingBytesTotalMax } = this.limits;
    const size = bytes.length;
    if (subscriber.waitingBytes + size > waitingBytesMax) {
      void this.drop(subscriber, `too slow: ${subscriber.waitingBytes} bytes are still waiting to be read`);
      return false;
    }
    if (this.waitingBytes + size > waitingBytesTotalMax) {
      void this.drop(subscriber, "the server holds too much for slow subscribers");
      return false;
    }
    subscriber.waitingBytes += size;
    this.waitingBytes += size;
    let isSent = false;
    send(() => {
      if (isSent) return;
      isSent = true;
      subscriber.waitingBytes -= size;
      this.waitingBytes -= size;
    });
    return true;
  }

  private drop(subscriber: Subscriber, reason: string): Promise<void> {
    this.remove(subscriber);
    return subscriber.line.close(reason);
  }

  private remove(subscriber: Subscriber): void {
    if (!this.subscribers.delete(subscriber)) return;
    for (const channel of subscriber.topics.keys()) {
      const name = nameOf(subscriber.env, channel);
      const others = this.byChannel.get(name);
      others?.delete(subscriber);
      if (others?.size === 0) this.byChannel.delete(name);
    }
    if (this.subscribers.size === 0) {
      this.pings?.cancel();
      this.pings = null;
    }
  }

  private armPings(): Timer {
    return this.platform.timer(
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

const nameOf = (env: string, channel: string): string => JSON.stringify([env, channel]);
