// Bodies of calls, while nobody knows yet who sent them: each has a bound, all that are held together have one, and none may take its time.
import { errors } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { waitAtMost } from "../platform/wait-at-most.ts";

/** A body as an adapter has it: texts or bytes, as they arrive. */
export type BodyPieces = AsyncIterable<unknown> | Iterable<unknown>;

/** Bytes of all bodies that are held now. */
export class HeldBytes {
  held = 0;
  constructor(readonly max: number) {}
}

export interface BodyBounds {
  readonly bytesMax: number;
  /** As long as the slowest line that is none of an attacker's. */
  readonly ms: number;
  readonly platform: Pick<Platform, "timer">;
}

/** The body of one call, from its first byte until it is answered. */
export class CallBody {
  private pieces: Uint8Array[] = [];
  private count = 0;
  private isLeft = false;

  constructor(
    private readonly all: HeldBytes,
    private readonly bounds: BodyBounds,
  ) {}

  /** A body announced as too large is not even begun. */
  announce(bytes: number): void {
    const { all, bounds } = this;
    if (bytes > bounds.bytesMax) throw errors.BODY_TOO_LARGE({ max: bounds.bytesMax });
    if (all.held + bytes > all.max) throw busy();
  }

  /** Rejects with BODY_TOO_LARGE, SERVER_BUSY or REQUEST_INVALID. `hear` gets each piece. */
  async read(pieces: BodyPieces, hear: (piece: Uint8Array) => void): Promise<Uint8Array> {
    const { platform, ms } = this.bounds;
    const reading = this.collect(pieces, hear);
    if (!(await waitAtMost(platform, ms, reading))) {
      throw errors.REQUEST_INVALID({ why: `its body did not arrive within ${ms / 1_000} s` });
    }
    return reading;
  }

  /** To be called once the call is answered. The rest of a body is thrown away. */
  giveBack(): void {
    this.all.held -= this.count;
    this.count = 0;
    this.pieces = [];
    this.isLeft = true;
  }

  private async collect(pieces: BodyPieces, hear: (piece: Uint8Array) => void): Promise<Uint8Array> {
    for await (const piece of pieces) {
      if (this.isLeft) break;
      const bytes = typeof piece === "string" ? Buffer.from(piece) : (piece as Uint8Array);
      this.take(bytes.byteLength);
      hear(bytes);
      this.pieces.push(bytes);
    }
    return this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
  }

  private take(bytes: number): void {
    const { all, bounds } = this;
    if (this.count + bytes > bounds.bytesMax) throw errors.BODY_TOO_LARGE({ max: bounds.bytesMax });
    if (all.held + bytes > all.max) throw busy();
    this.count += bytes;
    all.held += bytes;
  }
}

const busy = () => errors.SERVER_BUSY({ why: "the bodies of all calls together are too large" });
