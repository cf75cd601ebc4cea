// A subscriber that reads server-sent events: what waits for it is a list, taken by the response as fast as the client reads.
import { errors } from "../../model/errors.ts";
import { responseEventName } from "../../protocol/endpoint-output.ts";
import { asServerSentEvent, closingFrame, withEventId } from "../../protocol/realtime-frames.ts";
import type { Line } from "./channels.ts";
import { realtimeLimits } from "./limits.ts";

interface Piece {
  readonly bytes: Uint8Array;
  readonly sent: () => void;
}

// A comment without a word: readers that only know events pass it over, whichever they are.
const emptyComment = Buffer.from(":\n\n");

export class EventLine implements Line, AsyncIterable<Uint8Array> {
  private readonly pieces: Piece[] = [];
  private wake: () => void = () => {};
  private isOver = false;
  private pinged = false;
  /** Whether the event that ends a run's stream went out. */
  saidResponse = false;

  /**
   * `onOver` may be called more than once. `opensBare` leaves the place out of the first bytes: readers of a run's stream take every block that is
   * not a bare comment for an event (the official SDK's, for one).
   */
  constructor(
    private readonly onOver: () => void,
    private readonly opensBare = false,
  ) {}

  /** The first bytes: the client's request is answered as soon as it is subscribed. An id without data is no event, and is kept. */
  began(place: string | null): void {
    this.add(place === null || this.opensBare ? emptyComment : Buffer.from(`:\nid: ${place}\n\n`), () => {});
  }

  frame(bytes: Buffer, place: string, sent: () => void): void {
    this.add(Buffer.from(asServerSentEvent(bytes.toString(), place)), sent);
  }

  events(bytes: Buffer, sent: () => void): void {
    this.add(bytes, sent);
  }

  event(text: string, place: string, sent: () => void): void {
    this.saidResponse ||= text.includes(`event: ${responseEventName}\n`);
    this.add(Buffer.from(withEventId(text, place)), sent);
  }

  /** Nobody answers a comment, but one that is still here by the next ping was not read in all that time. */
  ping(): boolean {
    if (this.pinged) return false;
    this.pinged = true;
    this.add(emptyComment, () => {
      this.pinged = false;
    });
    return true;
  }

  async close(reason: string): Promise<void> {
    this.forget();
    this.end(Buffer.from(asServerSentEvent(closingFrame(reason))));
    this.onOver();
  }

  /** Everything that waits is still delivered, these bytes last. */
  end(last: Uint8Array | null): void {
    if (last !== null) this.add(last, () => {});
    this.isOver = true;
    this.wake();
  }

  private add(bytes: Uint8Array, sent: () => void): void {
    if (this.isOver) {
      sent();
      return;
    }
    this.pieces.push({ bytes, sent });
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.pieces.shift();
        if (piece !== undefined) {
          try {
            yield piece.bytes;
          } finally {
            // Asking for the next piece says that this one was written.
            piece.sent();
          }
          continue;
        }
        if (this.isOver) return;
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    } finally {
      this.isOver = true;
      this.forget();
      this.onOver();
    }
  }

  /** The client has gone. */
  abandon(): void {
    this.forget();
    this.end(null);
    this.onOver();
  }

  private forget(): void {
    for (const { sent } of this.pieces.splice(0)) sent();
  }
}

/**
 * Bytes of server-sent events arrive cut anywhere; two runs or a ping may share the line they go out on. So only whole events are passed on.
 */
const boundary = Buffer.from("\n\n");

export class WholeEvents {
  private rest: Buffer = Buffer.alloc(0);

  /** The events that are complete now, one by one. */
  take(bytes: Uint8Array): readonly string[] {
    const all = this.rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.rest, bytes]);
    const end = all.lastIndexOf(boundary);
    const cut = end === -1 ? 0 : end + boundary.length;
    this.rest = all.subarray(cut);
    if (this.rest.length > realtimeLimits.eventBytesMax) {
      throw errors.REQUEST_INVALID({ why: `an event has more than ${realtimeLimits.eventBytesMax} bytes` });
    }
    // Empty lines between two events are nobody's.
    return all
      .subarray(0, cut)
      .toString()
      .split("\n\n")
      .map((event) => event.replace(/^\n+/, ""))
      .filter((event) => event !== "")
      .map((event) => `${event}\n\n`);
  }
}
