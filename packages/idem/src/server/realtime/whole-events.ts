// Bytes of server-sent events arrive cut anywhere; two runs or a ping may share the line they go out on. So only whole events
// are passed on.
import { errors } from "../../model/errors.ts";
import { realtimeLimits } from "./limits.ts";

const boundary = Buffer.from("\n\n");

export class WholeEvents {
  private rest: Buffer = Buffer.alloc(0);

  /** The events that are complete now; null when none is. */
  take(bytes: Uint8Array): Buffer | null {
    const all = this.rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.rest, bytes]);
    const end = all.lastIndexOf(boundary);
    const cut = end === -1 ? 0 : end + boundary.length;
    this.rest = all.subarray(cut);
    if (this.rest.length > realtimeLimits.eventBytesMax) {
      throw errors.REQUEST_INVALID({ why: `an event has more than ${realtimeLimits.eventBytesMax} bytes` });
    }
    return cut === 0 ? null : all.subarray(0, cut);
  }
}
