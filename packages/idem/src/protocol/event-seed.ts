// A sender's seed, `<unix ms>,<base64 of 10 bytes>`: the ids of its events follow from it, so a request that is sent again
// brings the same ids and finds its events already there (docs/reference/wire.md#the-seed).
import { makeUlid } from "../model/ulid.ts";

export const seedHeader = "x-inngest-event-id-seed";

// A clock outside these is no clock; ids made of it would sort before or after everything, for ever.
const seedMsMin = Date.UTC(1980, 0, 1);
const seedMsMax = Date.UTC(2100, 0, 1);

/** The ids of a request's events; null without a seed that can be read, and then nothing recognises a second sending. */
export function idsOfSeed(header: string | undefined, count: number): string[] | null {
  const match = /^(\d{1,15}),([A-Za-z0-9+/]{14})==$/.exec(header ?? "");
  if (match === null) return null;
  const ms = Number(match[1]);
  if (ms < seedMsMin || ms > seedMsMax) return null;
  const entropy = Buffer.from(match[2]!, "base64");
  const last = entropy.readUInt32BE(6);
  return Array.from({ length: count }, (_, i) => {
    // Counted from 1; past the end of the four bytes it starts again at 0.
    entropy.writeUInt32BE((last + i + 1) % 2 ** 32, 6);
    return makeUlid(ms, entropy);
  });
}
